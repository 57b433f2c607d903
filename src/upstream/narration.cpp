#include "upstream/narration.h"

#include <algorithm>

namespace callgate::upstream {
namespace {

constexpr std::size_t kMaxAttempt = std::size_t{4} << 20;
constexpr std::string_view kGap = "\n\n";

}  // namespace

void Narration::push(std::string_view piece, Emit emit) {
  if (piece.empty()) return;
  if (state_ == State::live) return say(piece, emit);
  const std::size_t shared = std::min(piece.size(), attempt_.size() - matched_);
  if (attempt_.compare(matched_, shared, piece, 0, shared) != 0) return part_ways(piece, emit);
  matched_ += shared;
  if (matched_ < attempt_.size()) return;
  state_ = State::live;
  if (shared < piece.size()) say(piece.substr(shared), emit);
}

void Narration::say(std::string_view piece, Emit emit) {
  if (gap_) emit(kGap);
  gap_ = false;
  said_ = true;
  emit(piece);
  if (attempt_.size() + piece.size() > kMaxAttempt) {
    forgotten_ = true;
    attempt_.clear();
    message_start_ = 0;
  }
  attempt_.append(piece);
}

void Narration::part_ways(std::string_view piece, Emit emit) {
  attempt_.resize(matched_);
  attempt_.append(piece);
  state_ = State::live;
  gap_ = false;
  emit(kGap);
  emit(attempt_);
}

void Narration::push_whole(std::string_view message, Emit emit) {
  const std::string_view heard =
      std::string_view(attempt_).substr(message_start_, position() - message_start_);
  if (message.starts_with(heard)) push(message.substr(heard.size()), emit);
  end_message();
}

void Narration::end_message() {
  message_start_ = position();
  if (state_ == State::live) gap_ = said_;
}

bool Narration::restart() {
  matched_ = 0;
  message_start_ = 0;
  gap_ = gap_ && attempt_.empty();
  state_ = attempt_.empty() ? State::live : State::replaying;
  return !forgotten_;
}

void Narration::settle() {
  attempt_.clear();
  matched_ = 0;
  message_start_ = 0;
  forgotten_ = false;
  state_ = State::live;
  gap_ = said_;
}

}  // namespace callgate::upstream
