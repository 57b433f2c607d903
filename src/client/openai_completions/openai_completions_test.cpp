#include "client/openai_completions/openai_completions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chat/content.h"
#include "chat/message_json.h"

namespace callgate::client::openai_completions_test {
namespace {

using testing::HasSubstr;

Result<Request> read_completions(std::string_view body) {
  return decode_openai_completions({.body = body});
}

TEST(CompletionsRequest, is_a_chat_of_one_message) {
  for (const std::string_view prompt : {"\"p\"", "[\"p\"]"}) {
    const auto request = read_completions(
        R"({"model":"m","n":2,"stream":true,"max_tokens":5,"stop":"x","best_of":3,"stream_options":{"include_usage":true},"prompt":)" +
        std::string(prompt) + "}");
    ASSERT_TRUE(request.has_value()) << request.error().message;
    EXPECT_EQ(print_messages(request->messages), R"([{"role":"user","content":"p"}])");
    EXPECT_EQ(request->choices, 2U);
    EXPECT_TRUE(request->stream);
    EXPECT_TRUE(request->include_usage);
    EXPECT_EQ(find_field(request->extra, "max_tokens"), "5");
    EXPECT_EQ(find_field(request->extra, "stop"), "\"x\"");
    EXPECT_EQ(find_field(request->extra, "best_of"), "3");
    EXPECT_EQ(request->origin, "openai_completions");
  }
}

TEST(CompletionsRequest, passes_over_values_that_ask_for_nothing) {
  EXPECT_TRUE(read_completions(
                  R"({"model":"m","prompt":"p","suffix":"","echo":false,"logprobs":null,"n":null})")
                  .has_value());
}

TEST(CompletionsRequest, names_the_field_that_is_wrong) {
  struct Case {
    const char* body;
    const char* param;
  };
  const Case cases[] = {
      {R"({"prompt":"p"})", "model"},
      {R"({"model":7,"prompt":"p"})", "model"},
      {R"({"model":"m"})", "prompt"},
      {R"({"model":"m","prompt":""})", "prompt"},
      {R"({"model":"m","prompt":[]})", "prompt"},
      {R"({"model":"m","prompt":["a","b"]})", "prompt"},
      {R"({"model":"m","prompt":[1,2]})", "prompt[0]"},
      {R"({"model":"m","prompt":{}})", "prompt"},
      {R"({"model":"m","prompt":"p","suffix":"s"})", "suffix"},
      {R"({"model":"m","prompt":"p","echo":true})", "echo"},
      {R"({"model":"m","prompt":"p","logprobs":3})", "logprobs"},
      {R"({"model":"m","prompt":"p","n":0})", "n"},
      {R"({"model":"m","prompt":"p","stop":7})", "stop"},
      {R"({"model":"m","prompt":"p","stop":["a",7]})", "stop[1]"},
      {R"({"model":"m","prompt":"p","n":"2"})", "n"},
      {R"({"model":"m","prompt":"p","stream":1})", "stream"},
      {R"({"model":"m","prompt":"p","stream_options":[]})", "stream_options"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.body);
    const auto request = read_completions(each.body);
    ASSERT_FALSE(request.has_value());
    EXPECT_EQ(request.error().param, each.param);
  }
}

class CompletionsAnswer : public testing::Test {
 protected:
  void begin(bool stream, std::uint32_t choices = 1) {
    request_.stream = stream;
    request_.include_usage = true;
    request_.choices = choices;
    encoder_ = make_completions_encoder(request_, {.id = "cmpl-1", .model = "m", .created = 5});
    out_.clear();
    encoder_->bind(out_);
  }
  void say(const Event& event) { encoder_->choice(0).accept(event); }

  Request request_;
  std::unique_ptr<ResponseEncoder> encoder_;
  std::string out_;
};

const std::string kHead =
    R"({"id":"cmpl-1","object":"text_completion","created":5,"model":"m","choices":[)";

TEST_F(CompletionsAnswer, is_text) {
  begin(true);
  say(ReasoningDelta{"hm"});
  say(TextDelta{"a\"b"});
  say(UsageReported{{.prompt_tokens = 1, .completion_tokens = 2, .total_tokens = 3}});
  say(TurnFinished{FinishReason::length});
  encoder_->finish({});
  EXPECT_EQ(
      out_,
      "data: " + kHead +
          R"({"text":"a\"b","index":0,"logprobs":null,"finish_reason":null}]})"
          "\n\n"
          "data: " +
          kHead +
          R"({"text":"","index":0,"logprobs":null,"finish_reason":"length"}]})"
          "\n\n" +
          R"(data: {"id":"cmpl-1","object":"text_completion","created":5,"model":"m","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}})"
          "\n\ndata: [DONE]\n\n");
}

TEST_F(CompletionsAnswer, may_be_whole) {
  begin(false, 2);
  encoder_->choice(0).accept(TextDelta{"a"});
  encoder_->choice(1).accept(TextDelta{"b"});
  encoder_->choice(0).accept(TurnFinished{FinishReason::stop});
  encoder_->choice(1).accept(TurnFinished{FinishReason::tool_calls});
  encoder_->finish({});
  EXPECT_EQ(out_, kHead + R"({"text":"a","index":0,"logprobs":null,"finish_reason":"stop"},)"
                          R"({"text":"b","index":1,"logprobs":null,"finish_reason":"stop"}]})");
}

TEST_F(CompletionsAnswer, fails_as_chat_does) {
  begin(true);
  encoder_->fail({.code = ErrorCode::timed_out, .message = "late"});
  EXPECT_THAT(out_, HasSubstr(R"(data: {"error":{"message":"late")"));
  EXPECT_TRUE(out_.ends_with("data: [DONE]\n\n"));
}

TEST_F(CompletionsAnswer, has_room_for_news) {
  begin(true);
  encoder_->note("callgate", "{}");
  EXPECT_EQ(out_,
            "data: " + kHead +
                R"({"text":"","index":0,"logprobs":null,"finish_reason":null}],"callgate":{}})"
                "\n\n");
}

}  // namespace
}  // namespace callgate::client::openai_completions_test
