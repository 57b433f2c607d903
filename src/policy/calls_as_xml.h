// A policy for old clients: a call is written into the text, once it is finished.
//
//   <use_tool>
//     <name>lookup_user</name>
//     <id>42</id>
//   </use_tool>
//
// Strings stand as they are with `&`, `<` and `>` as entities, other values as JSON. Arguments that are not an object, or
// that are larger than the limit, stand in one element `arguments` as the model wrote them. With `only` the call itself
// is left out and the turn ends as one without calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "callgate/event.h"

namespace callgate::policy {

class CallsAsXml final : public Stage {
 public:
  CallsAsXml(bool only, std::size_t max_held_back) : only_(only), max_held_back_(max_held_back) {}

  void push(const Event& event, EventSink& next) override;

 private:
  enum class State : std::uint8_t { holding_back, too_large };

  void start(const CallStarted& event, EventSink& next);
  void arguments(const ArgumentsDelta& event, EventSink& next);
  void finish(const CallFinished& event, EventSink& next);
  void write_escaped(std::string_view text);
  bool write_members();

  bool only_;
  std::size_t max_held_back_;
  State state_ = State::holding_back;
  std::string arguments_;
  std::string block_;
};

}  // namespace callgate::policy
