// For tests of policies: pushes events through a stage, checks the grammar of what leaves it, prints what is left.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "chat/event_grammar.h"
#include "chat/event_log.h"

namespace callgate::policy {

class GrammarLog final : public EventSink {
 public:
  void accept(const Event& event) override {
    EXPECT_EQ(grammar_.check(event), "");
    log_.accept(event);
  }
  std::string print() const { return callgate::print(log_.events()); }

 private:
  EventGrammar grammar_;
  EventLog log_;
};

// A call with arguments in two pieces.
inline std::vector<Event> call(CallIndex index, std::string_view name, std::string_view arguments,
                               CallOutcome outcome = CallOutcome::complete) {
  std::vector<Event> events{CallStarted{index, name, ""}};
  const std::size_t half = arguments.size() / 2;
  if (half > 0) events.push_back(ArgumentsDelta{index, arguments.substr(0, half)});
  if (!arguments.empty()) events.push_back(ArgumentsDelta{index, arguments.substr(half)});
  events.push_back(CallFinished{index, outcome});
  return events;
}

// The same, found in the text.
inline std::vector<Event> text_call(CallIndex index, std::string_view name,
                                    std::string_view arguments) {
  std::vector<Event> events = call(index, name, arguments);
  events.front() = CallStarted{index, name, "", true};
  return events;
}

// The same, with a field between its start and its arguments.
inline std::vector<Event> call_with_field(CallIndex index, std::string_view name,
                                          std::string_view arguments, std::string_view json) {
  std::vector<Event> events = call(index, name, arguments);
  const FieldReported field{FieldReported::Scope::call, "extra_content", json, index};
  events.insert(events.begin() + 1, field);
  return events;
}

// Lists of events, one after the other.
inline std::vector<Event> turn(std::initializer_list<std::vector<Event>> parts) {
  std::vector<Event> events;
  for (const std::vector<Event>& part : parts) {
    events.insert(events.end(), part.begin(), part.end());
  }
  return events;
}

inline std::vector<Event> text(std::string_view words) { return {TextDelta{words}}; }
inline std::vector<Event> reasoning(std::string_view words) { return {ReasoningDelta{words}}; }
inline std::vector<Event> finish(FinishReason reason) { return {TurnFinished{reason}}; }
inline std::vector<Event> finish_calls() { return finish(FinishReason::tool_calls); }

inline std::string run(Stage& stage, const std::vector<Event>& events) {
  GrammarLog log;
  for (const Event& event : events) stage.push(event, log);
  return log.print();
}

}  // namespace callgate::policy
