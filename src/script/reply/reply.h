// A reply of the scripted model, as actions that somebody with sockets and a clock performs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "script/tape.h"

namespace callgate::script {

// Views in actions are valid as long as the reply lives.
struct Write {
  std::string_view bytes;  // of the body of a streamed answer; empty: send the head now
};
struct Wait {
  std::uint32_t milliseconds = 0;
};
// A whole answer.
struct Respond {
  int status = 200;
  std::span<const std::pair<std::string, std::string>> headers;  // content-type included
  std::string_view body;
};
struct Reset {};  // tear the connection down (RST)
struct Close {};  // close the connection without ending the answer
struct Hang {};   // send nothing more, keep the connection open until the other side leaves

using Action = std::variant<Write, Wait, Respond, Reset, Close, Hang>;

class Reply {
 public:
  explicit Reply(std::shared_ptr<const Rendering> rendering) : rendering_(std::move(rendering)) {}

  // A streamed answer: its head (status() and headers()) leaves with the first Write. Otherwise a Respond comes,
  // or the connection ends before one.
  bool streamed() const { return rendering_->streamed; }
  int status() const { return rendering_->status; }
  std::span<const std::pair<std::string, std::string>> headers() const {
    return rendering_->headers;
  }
  // How the body is to be encoded before it is sent; its headers do not say so.
  std::optional<Fault> coding() const { return rendering_->coding; }

  // The next action. Nothing: the answer is complete, end it in an orderly way.
  std::optional<Action> next();

 private:
  Write next_slice(const Rendering::Op& op);

  std::shared_ptr<const Rendering> rendering_;
  std::size_t op_ = 0;
  std::size_t written_ = 0;  // of the write that is under way
};

}  // namespace callgate::script
