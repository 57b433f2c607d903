#include "engine/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callgate::engine::answer_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

// The client's half alone, fed by hand, as a tool loop does.
class AnswerTest : public testing::Test {
 protected:
  AnswerTest() {
    request_.model = "m";
    request_.stream = true;
  }

  Answer& make(PipelineOptions options = {}, AnswerOf of = AnswerOf::many_turns) {
    answer_.emplace(request_, *client::find("openai_chat"), options, of, tally_);
    answer_->bind(out_);
    return *answer_;
  }
  void say(const Event& event) { answer_->choice(0).accept(event); }

  Request request_;
  TurnTally tally_{7};
  std::string out_;
  std::optional<Answer> answer_;
};

TEST_F(AnswerTest, starts_with_the_first_event_that_a_client_sees) {
  Answer& answer = make();
  EXPECT_FALSE(answer.started());
  say(UsageReported{{.prompt_tokens = 1}, ""});
  EXPECT_FALSE(answer.started());
  say(TextDelta{"Hi"});
  EXPECT_TRUE(answer.started());
  EXPECT_THAT(out_, HasSubstr("Hi"));
}

TEST_F(AnswerTest, starts_with_a_note_as_well) {
  Answer& answer = make();
  answer.note("callgate", "{\"a\":1}");
  EXPECT_TRUE(answer.started());
  EXPECT_THAT(out_, HasSubstr("\"callgate\":{\"a\":1}"));
}

TEST_F(AnswerTest, is_whole_at_its_end_where_nobody_streams) {
  request_.stream = false;
  Answer& answer = make();
  say(TextDelta{"Hi"});
  say(TurnFinished{FinishReason::stop});
  EXPECT_FALSE(answer.started());
  EXPECT_EQ(out_, "");
  answer.finish(std::nullopt);
  EXPECT_TRUE(answer.started());
  EXPECT_THAT(out_, HasSubstr("\"content\":\"Hi\""));
}

TEST_F(AnswerTest, gives_an_estimate_to_those_who_asked_for_usage) {
  for (const bool asked : {true, false}) {
    out_.clear();
    TurnTally tally(7);
    request_.include_usage = asked;
    Answer answer(request_, *client::find("openai_chat"), {.keep = 1000}, AnswerOf::many_turns,
                  tally);
    answer.bind(out_);
    answer.choice(0).accept(TextDelta{"Hi"});
    answer.choice(0).accept(TurnFinished{FinishReason::stop});
    answer.finish(Usage{.prompt_tokens = 41, .completion_tokens = 1, .total_tokens = 42});
    EXPECT_EQ(out_.find("\"prompt_tokens\":41") != std::string::npos, asked);
    EXPECT_EQ(tally.summary.usage_estimated, asked);
    EXPECT_THAT(answer.kept().response, HasSubstr("\"prompt_tokens\":41")) << "the log has it";
  }
}

TEST_F(AnswerTest, keeps_what_was_said_of_an_answer_that_broke_off) {
  Answer& answer = make({.keep = 1000});
  say(TextDelta{"Half"});
  answer.fail({.code = ErrorCode::upstream_failed, .message = "it broke"});
  EXPECT_THAT(out_, HasSubstr("it broke"));
  EXPECT_THAT(out_, EndsWith("data: [DONE]\n\n"));
  const KeptTurn kept = answer.kept();
  EXPECT_THAT(kept.response, HasSubstr("\"content\":\"Half\""));
  EXPECT_THAT(kept.response, HasSubstr("\"finish_reason\":null"));
  EXPECT_EQ(kept.reason, std::nullopt);
}

TEST_F(AnswerTest, tells_the_times_of_its_first_event_and_of_its_end) {
  std::int64_t now = 10;
  PipelineOptions options;
  options.elapsed_ms = [&] { return now; };
  request_.include_usage = true;
  Answer& answer = make(options);
  answer.begin_frame();
  say(TextDelta{"Hi"});
  answer.end_frame();
  now = 35;
  answer.begin_frame();
  say(UsageReported{{.prompt_tokens = 1, .completion_tokens = 1}, ""});
  say(TurnFinished{FinishReason::stop});
  answer.end_frame();
  answer.finish(std::nullopt);
  EXPECT_THAT(out_, HasSubstr("10"));
  EXPECT_THAT(out_, HasSubstr("35"));
}

TEST_F(AnswerTest, lets_go_of_text_that_waits_for_its_sentence) {
  PipelineOptions options;
  options.policy.split = TextSplit::sentences;
  Answer& answer = make(options);
  say(TextDelta{"Let me look"});
  EXPECT_THAT(out_, Not(HasSubstr("look")));
  answer.release_text();
  EXPECT_THAT(out_, HasSubstr("Let me look"));
}

TEST_F(AnswerTest, drops_white_space_before_a_call_only_where_the_client_has_calls) {
  for (const AnswerOf of : {AnswerOf::many_turns, AnswerOf::many_turns_with_calls}) {
    out_.clear();
    TurnTally tally(7);
    Answer answer(request_, *client::find("openai_chat"), {}, of, tally);
    answer.bind(out_);
    answer.choice(0).accept(TextDelta{"\n\n"});
    EXPECT_EQ(out_.empty(), of == AnswerOf::many_turns_with_calls);
  }
}

}  // namespace
}  // namespace callgate::engine::answer_test
