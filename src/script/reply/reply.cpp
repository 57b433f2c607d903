#include "script/reply/reply.h"

#include <algorithm>

namespace callgate::script {

Write Reply::next_slice(const Rendering::Op& op) {
  const std::size_t left = op.size - written_;
  const std::size_t size = op.amount == 0 ? left : std::min<std::size_t>(op.amount, left);
  const std::string_view bytes =
      std::string_view(rendering_->bytes).substr(op.begin + written_, size);
  written_ += size;
  if (written_ == op.size) {
    written_ = 0;
    ++op_;
  }
  return Write{bytes};
}

std::optional<Action> Reply::next() {
  if (op_ == rendering_->ops.size()) return std::nullopt;
  const Rendering::Op& op = rendering_->ops[op_];
  if (op.kind != Rendering::Op::Kind::write) ++op_;
  switch (op.kind) {
    case Rendering::Op::Kind::write:
      return next_slice(op);
    case Rendering::Op::Kind::wait:
      return Wait{op.amount};
    case Rendering::Op::Kind::respond:
      return Respond{rendering_->status, rendering_->headers,
                     std::string_view(rendering_->bytes).substr(op.begin, op.size)};
    case Rendering::Op::Kind::reset:
      return Reset{};
    case Rendering::Op::Kind::close:
      return Close{};
    case Rendering::Op::Kind::hang:
      return Hang{};
  }
  return std::nullopt;
}

}  // namespace callgate::script
