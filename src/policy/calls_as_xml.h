// A policy for old clients: a call is written into the text, once it is finished.
//
//   <use_tool>
//     <name>lookup_user</name>
//     <id>42</id>
//   </use_tool>
//
// Strings stand as they are, other values as JSON: the dialect use_tool reads exactly that. A call that would not read back the
// same, since a string has a close tag or white space at its ends or a name is no tag, stands as one JSON object in the block.
// Arguments that are not an object, or that are larger than the limit, stand in one element `arguments` as the model wrote them.
// With `only` the call itself is left out and the turn ends as one without calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "callgate/event.h"

namespace callgate::policy {

class CallsAsXml final : public Stage {
 public:
  // `delimiter`: stands between two blocks that follow each other.
  CallsAsXml(bool only, std::size_t max_held_back, std::string delimiter = {})
      : only_(only), max_held_back_(max_held_back), delimiter_(std::move(delimiter)) {}

  void push(const Event& event, EventSink& next) override;

 private:
  enum class State : std::uint8_t { holding_back, too_large };

  void start(const CallStarted& event, EventSink& next);
  void arguments(const ArgumentsDelta& event, EventSink& next);
  void finish(const CallFinished& event, EventSink& next);
  bool write_members();
  void write_json();

  bool only_;
  std::size_t max_held_back_;
  const std::string delimiter_;
  bool after_block_ = false;  // nothing was said since the last block
  std::string name_;
  State state_ = State::holding_back;
  std::string arguments_;
  std::string block_;
};

}  // namespace callgate::policy
