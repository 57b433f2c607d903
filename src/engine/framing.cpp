#include "engine/framing.h"

namespace callgate::engine {
namespace {

constexpr std::string_view kSpaceOrMark = " \t\r\n\xEF\xBB\xBF";

}  // namespace

Framing::Framing(WireFormat::Framing framing, std::size_t max_frame, std::size_t max_body)
    : state_(framing == WireFormat::Framing::lines ? State::lines : State::undecided),
      max_body_(max_body),
      sse_(max_frame),
      lines_(max_frame) {}

void Framing::push(std::string_view bytes, FrameFn on_frame) {
  switch (state_) {
    case State::undecided:
      return decide(bytes, on_frame);
    case State::frames:
      return sse_.push(bytes, on_frame);
    case State::lines:
      return lines_.push(bytes, on_frame);
    case State::body:
      return add_to_body(bytes);
  }
}

void Framing::decide(std::string_view bytes, FrameFn on_frame) {
  const std::size_t first = bytes.find_first_not_of(kSpaceOrMark);
  if (first == std::string_view::npos) return add_to_body(bytes);
  if (bytes[first] == '{' || bytes[first] == '[' || bytes[first] == '<') {
    state_ = State::body;
    body_.clear();
    return add_to_body(bytes.substr(first));
  }
  state_ = State::frames;
  if (!body_.empty()) sse_.push(body_, on_frame);
  body_ = {};
  sse_.push(bytes, on_frame);
}

void Framing::add_to_body(std::string_view bytes) {
  if (body_overflowed_ || bytes.size() > max_body_ - body_.size()) {
    body_overflowed_ = true;
    body_ = {};
    return;
  }
  body_.append(bytes);
}

void Framing::finish(FrameFn on_frame, FunctionRef<void(std::string_view)> on_body) {
  switch (state_) {
    case State::undecided:
      return;
    case State::frames:
      return sse_.finish(on_frame);
    case State::lines:
      return lines_.finish(on_frame);
    case State::body:
      return on_body(body_);
  }
}

std::optional<Error> Framing::overflow() const {
  const auto too_large = [](std::string_view what) {
    return Error{.code = ErrorCode::upstream_failed,
                 .message = "upstream sent " + std::string(what) + " over the limit of bytes"};
  };
  if (body_overflowed_) return too_large("an answer");
  if (sse_.overflowed() || lines_.overflowed()) return too_large("a frame");
  return std::nullopt;
}

}  // namespace callgate::engine
