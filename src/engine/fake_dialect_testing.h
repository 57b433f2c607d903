// A dialect for tests: `[name:arguments]` is a call, `(text)` is reasoning, everything else is text. Whole in one push.
#pragma once

#include <string>

#include "callgate/dialect.h"

namespace callgate::engine {

class FakeParser final : public DialectParser {
 public:
  explicit FakeParser(const DialectOptions& options)
      : state_(options.start == Channel::reasoning ? State::reasoning : State::text) {}

  void push(std::string_view text, Channel channel, EventSink& sink) override {
    for (const char c : text) step(c, channel, sink);
  }
  void finish(EventSink& sink) override {
    if (state_ == State::arguments) sink.accept(CallFinished{call_, CallOutcome::truncated});
    if (state_ == State::name) sink.accept(TextDelta{name_});
    state_ = State::text;
  }

 private:
  enum class State : std::uint8_t { text, reasoning, name, arguments };

  void step(char c, Channel channel, EventSink& sink) {
    const std::string_view one(&c, 1);
    switch (state_) {
      case State::text:
        if (c == '[') {
          state_ = State::name;
          name_ = "[";
        } else if (c == '(') {
          state_ = State::reasoning;
        } else if (channel == Channel::text) {
          sink.accept(TextDelta{one});
        } else {
          sink.accept(ReasoningDelta{one});
        }
        return;
      case State::reasoning:
        if (c == ')') {
          state_ = State::text;
        } else {
          sink.accept(ReasoningDelta{one});
        }
        return;
      case State::name:
        if (c == ':') {
          state_ = State::arguments;
          sink.accept(CallStarted{call_, std::string_view(name_).substr(1), ""});
        } else {
          name_.push_back(c);
        }
        return;
      case State::arguments:
        if (c == ']') {
          state_ = State::text;
          sink.accept(CallFinished{call_++, CallOutcome::complete});
        } else {
          sink.accept(ArgumentsDelta{call_, one});
        }
        return;
    }
  }

  State state_;
  std::string name_;
  CallIndex call_ = 0;
};

inline constexpr Dialect kFakeDialect = {
    .name = "fake",
    .spec = "[name:arguments]",
    .make = [](const DialectOptions& options) -> std::unique_ptr<DialectParser> {
      return std::make_unique<FakeParser>(options);
    }};

}  // namespace callgate::engine
