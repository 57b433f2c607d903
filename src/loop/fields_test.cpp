// What an upstream says beside text and calls, through the rounds of a loop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "callgate/run_to_end.h"
#include "chat/event_log.h"
#include "loop/transcript_testing.h"

namespace callgate::loop::fields_test {
namespace {

constexpr std::string_view kSignature = R"({"google":{"thought_signature":"c2ln"}})";

class Reader final : public ClientSink {
 public:
  void accept(const Event& event) override {
    EXPECT_EQ(grammar.check(event), "");
    log.accept(event);
  }
  void notice(const Notice&) override {}

  EventGrammar grammar;
  EventLog log;
};

void say_call(CallIndex index, std::string_view name, EventSink& events) {
  events.accept(CallStarted{index, name, "c" + std::to_string(index), true});
  events.accept(FieldReported{FieldReported::Scope::call, "extra_content", kSignature, index});
  events.accept(ArgumentsDelta{index, "{}"});
  events.accept(CallFinished{index, CallOutcome::complete});
}

void say_usage(int prompt, int completion, std::string_view json, EventSink& events) {
  Usage usage;
  usage.prompt_tokens = prompt;
  usage.completion_tokens = completion;
  usage.total_tokens = prompt + completion;
  events.accept(UsageReported{usage, json});
}

class LoopFields : public testing::Test {
 protected:
  LoopFields() {
    request_.messages.push_back(message_of(Role::user, "Where is ORD-42?"));
    lookup_.spec.name = "lookup";
    owner_.model = [this](const CallModel& call, EventSink& events) -> Result<void> {
      asked_ = call.request.messages;
      if (call.turn == 1) {
        events.accept(TextDelta{"Let me look. "});
        say_call(0, "lookup", events);
        say_usage(3, 4, R"({"cost":0.25,"prompt_tokens_details":{"audio_tokens":1}})", events);
        events.accept(TurnFinished{FinishReason::tool_calls});
        return {};
      }
      events.accept(TextDelta{"It is here."});
      if (!request_.tools.empty()) say_call(0, "own", events);
      say_usage(5, 6, R"({"cost":0.5,"prompt_tokens_details":{"audio_tokens":2}})", events);
      events.accept(
          TurnFinished{request_.tools.empty() ? FinishReason::stop : FinishReason::tool_calls});
      return {};
    };
    owner_.tool = [](const RunTool&) { return ToolResult{.text = "here"}; };
    owner_.clock = [] { return Millis{0}; };
  }

  Outcome run() {
    auto loop = ToolLoop::make(request_, {}, {lookup_}, reader_);
    return run_to_end(*loop, owner_);
  }

  Request request_{.model = "demo"};
  Tool lookup_;
  Owner owner_;
  std::vector<Message> asked_;
  Reader reader_;
};

TEST_F(LoopFields, of_a_call_go_back_to_the_model_with_it) {
  run();
  ASSERT_EQ(asked_.size(), 3u);
  ASSERT_EQ(asked_[1].calls.size(), 1u);
  const std::vector<ExtraField> expected{{"extra_content", {std::string(kSignature)}}};
  EXPECT_EQ(asked_[1].calls[0].extra, expected);
  EXPECT_EQ(asked_[1].content.text, "\"Let me look. \"");
}

TEST_F(LoopFields, of_a_call_for_the_client_reach_it_under_its_number) {
  request_.tools.push_back({.name = "own"});
  run();
  const std::string events = print(reader_.log.events());
  EXPECT_NE(events.find("call 0 own id="), std::string::npos) << events;
  EXPECT_NE(events.find("field 0 extra_content " + std::string(kSignature)), std::string::npos)
      << events;
}

TEST_F(LoopFields, of_usage_are_added_up) {
  run();
  std::string json;
  for (const LoggedEvent& event : reader_.log.events()) {
    if (event.kind == LoggedEvent::Kind::usage) json = event.text;
  }
  EXPECT_EQ(json, R"({"cost":0.75,"prompt_tokens_details":{"audio_tokens":3}})");
}

TEST_F(LoopFields, leave_the_texts_of_rounds_as_the_model_wrote_them) {
  run();
  EXPECT_EQ(reader_.log.text(), "Let me look. It is here.");
}

}  // namespace
}  // namespace callgate::loop::fields_test
