#include "script/tape.h"

namespace callgate::script {

using Op = Rendering::Op;

void Tape::end_frame() {
  if (pace_ != 0) {
    // The frame is already in the buffer: what was before it leaves first, then the wait.
    const std::size_t end = rendering_.bytes.size();
    if (last_frame_ > flushed_) {
      rendering_.ops.push_back({Op::Kind::write, flushed_, last_frame_ - flushed_, mode_.size});
      flushed_ = last_frame_;
    }
    rendering_.ops.push_back({.kind = Op::Kind::wait, .amount = pace_});
    last_frame_ = end;
    flush();
    return;
  }
  last_frame_ = rendering_.bytes.size();
  if (mode_.kind == WriteMode::Kind::frame) flush();
}

void Tape::flush() {
  const std::size_t end = rendering_.bytes.size();
  if (end == flushed_) return;
  rendering_.ops.push_back({Op::Kind::write, flushed_, end - flushed_, mode_.size});
  flushed_ = end;
  last_frame_ = end;
}

void Tape::wait(std::uint32_t milliseconds) {
  if (milliseconds == 0) return;
  flush();
  rendering_.ops.push_back({.kind = Op::Kind::wait, .amount = milliseconds});
}

void Tape::set_pace(std::uint32_t milliseconds) { pace_ = milliseconds; }

void Tape::set_write_mode(WriteMode mode) {
  flush();
  mode_ = mode;
}

void Tape::head() {
  flush();
  rendering_.ops.push_back({.kind = Op::Kind::write, .begin = flushed_});
}

void Tape::end(Op::Kind how) {
  flush();
  rendering_.ops.push_back({.kind = how});
}

void Tape::respond(int status, Headers headers, std::string_view body) {
  flush();
  rendering_.status = status;
  rendering_.headers = std::move(headers);
  rendering_.streamed = false;
  const std::size_t begin = rendering_.bytes.size();
  rendering_.bytes.append(body);
  rendering_.ops.push_back({Op::Kind::respond, begin, body.size(), 0});
  flushed_ = last_frame_ = rendering_.bytes.size();
}

void Tape::apply_truncation() {
  std::size_t left = *truncate_at_;
  for (std::size_t i = 0; i < rendering_.ops.size(); ++i) {
    Op& op = rendering_.ops[i];
    if (op.kind != Op::Kind::write) continue;
    if (op.size < left) {
      left -= op.size;
      continue;
    }
    op.size = left;
    rendering_.ops.resize(left == 0 ? i : i + 1);
    rendering_.ops.push_back({.kind = Op::Kind::close});
    return;
  }
}

Rendering Tape::finish(Headers headers, bool streamed) && {
  flush();
  if (!streamed) rendering_.streamed = false;
  if (rendering_.streamed) {
    rendering_.headers = std::move(headers);
    if (truncate_at_) apply_truncation();
  }
  return std::move(rendering_);
}

}  // namespace callgate::script
