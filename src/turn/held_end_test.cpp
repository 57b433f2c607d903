#include "turn/held_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chat/event_log.h"

namespace callgate::server::held_end_test {
namespace {

using testing::ElementsAre;

// What reached the client, in words.
class Heard final : public loop::ClientSink {
 public:
  void accept(const Event& event) override {
    if (const auto* text = std::get_if<TextDelta>(&event)) words.push_back(std::string(text->text));
    if (const auto* usage = std::get_if<UsageReported>(&event)) {
      words.push_back("usage " + std::to_string(usage->usage.total_tokens) + " " +
                      std::string(usage->json));
    }
    if (const auto* end = std::get_if<TurnFinished>(&event)) {
      words.push_back("finish " + std::string(to_string(end->reason)));
    }
  }
  void notice(const loop::Notice& notice) override {
    if (const auto* call = std::get_if<loop::ToolCallNotice>(&notice)) {
      words.push_back("call " + std::string(call->name));
    }
    if (const auto* ended = std::get_if<loop::LoopEnded>(&notice)) {
      words.push_back(std::string("loop ") +
                      (ended->end ? std::string(loop::to_string(*ended->end)) : "goes on") + " " +
                      std::to_string(ended->rounds) + " " + std::to_string(ended->calls_made));
    }
  }

  std::vector<std::string> words;
};

class HeldEndTest : public testing::Test {
 protected:
  // A turn that ends: a word and a call go by, the rest is held.
  void play(std::optional<loop::End> end) {
    held_.accept(TextDelta{"Hi"});
    held_.notice(loop::ToolCallNotice{.round = 1, .call_id = "c", .name = "f", .arguments = ""});
    held_.notice(loop::LoopEnded{.end = end, .rounds = 2, .calls_made = 3});
    held_.accept(UsageReported{Usage{.total_tokens = 7}, "{\"n\":7}"});
    held_.accept(TurnFinished{FinishReason::stop});
    EXPECT_THAT(heard_.words, ElementsAre("Hi", "call f"));
    heard_.words.clear();
  }

  Heard heard_;
  HeldEnd held_{heard_};
};

TEST_F(HeldEndTest, lets_the_end_go_as_it_was_once) {
  play(loop::End::completed);
  held_.release();
  EXPECT_THAT(heard_.words, ElementsAre("loop completed 2 3", "usage 7 {\"n\":7}", "finish stop"));
  held_.release();
  held_.fail();
  EXPECT_EQ(heard_.words.size(), 3u);
}

TEST_F(HeldEndTest, turns_the_end_into_a_failure) {
  play(loop::End::completed);
  held_.fail();
  EXPECT_THAT(heard_.words,
              ElementsAre("loop error 2 3", "usage 7 {\"n\":7}", "finish upstream_error"));
}

TEST_F(HeldEndTest, fails_a_turn_that_nothing_was_said_of) {
  held_.accept(TurnFinished{FinishReason::stop});
  held_.fail();
  EXPECT_THAT(heard_.words, ElementsAre("finish upstream_error"));
}

TEST_F(HeldEndTest, says_nothing_where_there_was_no_end) {
  held_.notice(loop::LoopEnded{.end = loop::End::completed});
  held_.accept(UsageReported{Usage{.total_tokens = 7}, ""});
  held_.release();
  held_.fail();
  EXPECT_THAT(heard_.words, ElementsAre());
}

}  // namespace
}  // namespace callgate::server::held_end_test
