#include "engine/framing.h"

namespace callgate::engine {
namespace {

constexpr std::string_view kSpaceOrMark = " \t\r\n\xEF\xBB\xBF";
// A frame that is shorter counts by what it says, once it is whole.
constexpr std::size_t kLongFrame = 4 * 1024;

using ScanState = json::Scanner::State;

}  // namespace

Error too_large(std::string_view what) {
  return {.code = ErrorCode::upstream_failed,
          .message = "upstream sent " + std::string(what) + " over the limit of bytes"};
}

ArrayDecoder::ArrayDecoder(std::size_t max_element) : max_element_(max_element) {}

void ArrayDecoder::push(std::string_view bytes, FrameFn on_frame) {
  for (std::size_t at = 0; at < bytes.size() && state_ != State::over;) {
    if (state_ == State::element) {
      at += take_element(bytes.substr(at), on_frame);
      continue;
    }
    if (state_ == State::before) {
      state_ = State::between;
      ++at;
    }
    at = bytes.find_first_not_of(" \t\r\n,", at);
    if (at == std::string_view::npos) return;
    state_ = bytes[at] == ']' ? State::over : State::element;
  }
}

std::size_t ArrayDecoder::take_element(std::string_view bytes, FrameFn on_frame) {
  const std::size_t taken = scanner_.push(bytes);
  if (held_.size() + taken > max_element_) {
    overflowed_ = true;
    held_ = {};
    state_ = State::over;
    return taken;
  }
  switch (scanner_.state()) {
    case ScanState::before:
    case ScanState::inside:
      held_.append(bytes.substr(0, taken));
      break;
    case ScanState::closed:
      state_ = State::between;
      deliver(bytes.substr(0, taken), on_frame);
      break;
    case ScanState::failed:
      state_ = State::over;
      deliver(bytes.substr(0, taken), on_frame);
      break;
  }
  return taken;
}

void ArrayDecoder::deliver(std::string_view rest, FrameFn on_frame) {
  scanner_.reset();
  if (held_.empty()) return on_frame({.event = {}, .data = rest, .id = {}});
  held_.append(rest);
  on_frame({.event = {}, .data = held_, .id = {}});
  held_.clear();
}

void ArrayDecoder::finish(FrameFn on_frame) {
  if (state_ == State::element) deliver({}, on_frame);
  state_ = State::over;
}

Framing::Framing(WireFormat::Framing framing, std::size_t max_frame, std::size_t max_body)
    : state_(framing == WireFormat::Framing::lines ? State::lines : State::undecided),
      takes_arrays_(framing == WireFormat::Framing::sse_or_array),
      max_body_(max_body),
      sse_(max_frame),
      lines_(max_frame),
      array_(max_frame) {}

void Framing::push(std::string_view bytes, FrameFn on_frame) {
  take(bytes, on_frame);
  const std::size_t size = unfinished();
  if (size < counted_) counted_ = 0;
  if (size < counted_ + kLongFrame) return;
  counted_ = size;
  ++progress_;
}

std::size_t Framing::unfinished() const {
  switch (state_) {
    case State::undecided:
    case State::body:
      return 0;
    case State::frames:
      return sse_.unfinished();
    case State::lines:
      return lines_.unfinished();
    case State::array:
      return array_.unfinished();
  }
  return 0;
}

void Framing::take(std::string_view bytes, FrameFn on_frame) {
  switch (state_) {
    case State::undecided:
      return decide(bytes, on_frame);
    case State::frames:
      return sse_.push(bytes, on_frame);
    case State::lines:
      return lines_.push(bytes, on_frame);
    case State::array:
      return array_.push(bytes, on_frame);
    case State::body:
      return add_to_body(bytes);
  }
}

void Framing::decide(std::string_view bytes, FrameFn on_frame) {
  const std::size_t first = bytes.find_first_not_of(kSpaceOrMark);
  if (first == std::string_view::npos) return add_to_body(bytes);
  if (bytes[first] == '[' && takes_arrays_) {
    state_ = State::array;
    body_ = {};
    return array_.push(bytes.substr(first), on_frame);
  }
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
  if (bytes.find_first_not_of(kSpaceOrMark) != std::string_view::npos) ++progress_;
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
    case State::array:
      return array_.finish(on_frame);
    case State::body:
      return on_body(body_);
  }
}

std::optional<Error> Framing::overflow() const {
  if (body_overflowed_) return too_large("an answer");
  if (sse_.overflowed() || lines_.overflowed() || array_.overflowed()) return too_large("a frame");
  return std::nullopt;
}

}  // namespace callgate::engine
