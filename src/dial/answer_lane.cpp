#include "dial/answer_lane.h"

namespace callgate::server {
namespace {

Error gone() { return {.code = ErrorCode::upstream_failed, .message = "the request was given up"}; }

Error silent() {
  return {.code = ErrorCode::timed_out, .message = "the upstream sent nothing in time"};
}

}  // namespace

AnswerLane::AnswerLane(net::Loop& reader, std::size_t limit)
    : reader_(&reader), limit_(limit), news_(reader) {}

void AnswerLane::wake() {
  if (reader_ == nullptr) return;
  reader_->post([self = shared_from_this()] {
    if (!self->left()) self->news_.notify();
  });
}

void AnswerLane::accept(std::string session) {
  const std::lock_guard lock(mutex_);
  if (!accepted_) session_ = std::move(session);
  accepted_ = true;
  wake();
}

bool AnswerLane::push(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  if (reader_ == nullptr || ended_) return false;
  if (waiting_.size() + bytes.size() > limit_) {
    error_ = Error{.code = ErrorCode::upstream_failed,
                   .message = "the client read too slowly for an upstream that cannot wait"};
    ended_ = true;
  } else {
    waiting_.append(bytes);
  }
  wake();
  return !ended_;
}

void AnswerLane::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  wake();
}

void AnswerLane::fail(Error error) {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  error_ = std::move(error);
  ended_ = true;
  wake();
}

bool AnswerLane::left() const {
  const std::lock_guard lock(mutex_);
  return reader_ == nullptr;
}

void AnswerLane::leave() {
  const std::lock_guard lock(mutex_);
  reader_ = nullptr;
  news_.notify();  // a task that still waits sees left()
}

net::Task<Result<void>> AnswerLane::accepted(net::Millis timeout) {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (reader_ == nullptr) co_return tl::unexpected(gone());
      if (accepted_) co_return Result<void>();
      if (error_) co_return tl::unexpected(*error_);
    }
    const bool told = co_await news_.wait(timeout);
    if (!told) co_return tl::unexpected(silent());
  }
}

net::Task<Result<UpstreamCall::Piece>> AnswerLane::read(net::Millis patience, net::Millis timeout) {
  const bool patient = patience == net::kNever || (timeout != net::kNever && timeout < patience);
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (reader_ == nullptr) co_return tl::unexpected(gone());
      if (!waiting_.empty()) {
        given_.clear();
        std::swap(given_, waiting_);
        co_return UpstreamCall::Piece{.bytes = given_};
      }
      if (error_) co_return tl::unexpected(*error_);
      if (ended_) co_return UpstreamCall::Piece{};
    }
    const bool told = co_await news_.wait(patient ? timeout : patience);
    if (told) continue;
    if (patient) co_return tl::unexpected(silent());
    co_return UpstreamCall::Piece{.bytes = {}, .waiting = true};
  }
}

}  // namespace callgate::server
