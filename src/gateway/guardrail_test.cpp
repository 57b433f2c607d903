// Hooks that judge prompts and answers, in plain requests and tool loops, in every protocol.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gateway/gateway_testing.h"
#include "json/member.h"

namespace callgate::server::guardrail_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const HeaderPairs kJson{{"content-type", "application/json"}};
const HeaderPairs kLoop{{"x-callgate-loop", "1"}};

std::string chunk(std::string_view delta, std::string_view reason = "null") {
  return R"(data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":)" +
         std::string(delta) + R"(,"finish_reason":)" + std::string(reason) + "}]}\n\n";
}
std::string text(std::string_view words) {
  return chunk(R"({"role":"assistant","content":")" + std::string(words) + "\"}");
}
const std::string kStop = chunk("{}", "\"stop\"") + "data: [DONE]\n\n";

const FakeServer::Reply kAllow{.status = 204, .headers = {}, .pieces = {}};
FakeServer::Reply verdict(std::string json) {
  return {.headers = kJson, .pieces = {std::move(json)}};
}
FakeServer::Reply deny() { return verdict(R"({"action":"deny","reason":"no secrets"})"); }
FakeServer::Reply rewrite(std::string_view words) {
  return verdict(R"({"action":"rewrite","text":")" + std::string(words) + "\"}");
}

std::string question(bool stream) {
  return std::string(R"({"model":"m","stream":)") + (stream ? "true" : "false") +
         R"(,"messages":[{"role":"user","content":"hi"}]})";
}

// The texts that a hook was asked about.
std::vector<std::string> texts_of(const FakeServer& hook) {
  std::vector<std::string> texts;
  for (const FakeServer::Asked& asked : hook.asked()) {
    texts.push_back(json::member_text(asked.body, "text"));
  }
  return texts;
}

class GuardrailTest : public testing::Test {
 protected:
  std::string config(std::string_view when, std::string_view more = {}) const {
    return "[[upstream]]\nname = \"a\"\nurl = \"" + server_.url() +
           "\"\n[[model]]\nname = \"m\"\nupstream = [\"a\"]\n[[hook]]\nname = \"guard\"\nurl = \"" +
           hook_.url() + "/\"\nwhen = [\"" + std::string(when) +
           "\"]\naddresses = [\"127.0.0.0/8\"]\n" + std::string(more);
  }
  void says(std::vector<std::string> pieces) {
    pieces.push_back(kStop);
    server_.then({.pieces = std::move(pieces)});
  }

  net::Loop loop_;
  net::Signal never_{loop_};  // outlives the servers, which may wait for it
  FakeServer server_{loop_};
  FakeServer hook_{loop_};
};

TEST_F(GuardrailTest, asks_about_a_prompt_before_any_upstream_is) {
  TestGateway gateway(loop_, config("prompt"));
  hook_.then(kAllow);
  says({text("Hello.")});
  EXPECT_THAT(gateway.ask(question(false)).body, HasSubstr("Hello."));
  ASSERT_EQ(hook_.asked().size(), 1u);
  EXPECT_THAT(hook_.asked()[0].body,
              AllOf(HasSubstr(R"("type":"prompt","messages":[{"role":"user","content":"hi"}])"),
                    HasSubstr(R"("model":"m")")));
  EXPECT_EQ(server_.asked().size(), 1u);
}

TEST_F(GuardrailTest, refuses_a_denied_prompt_in_the_words_of_each_protocol) {
  struct Case {
    const char* path;
    const char* body;
    const char* error;
  };
  const Case cases[] = {
      {"/v1/chat/completions",
       R"({"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]})",
       R"("code":"content_filter")"},
      {"/v1/messages",
       R"({"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]})",
       R"("type":"invalid_request_error")"},
      {"/v1/responses", R"({"model":"m","input":"hi"})", R"("code":"content_filter")"},
  };
  for (const Case& c : cases) {
    for (const bool in_loop : {false, true}) {
      TestGateway gateway(loop_, config("prompt"));
      hook_.then(deny());
      const TestAnswer answer = gateway.ask(c.body, in_loop ? kLoop : HeaderPairs{}, c.path);
      EXPECT_EQ(answer.status, 400) << c.path;
      EXPECT_THAT(answer.body, AllOf(HasSubstr(c.error), HasSubstr("no secrets"))) << c.path;
      EXPECT_THAT(gateway.log().rows().back().outcome.cut,
                  HasSubstr("hook guard: deny (no secrets)"));
    }
  }
  EXPECT_TRUE(server_.asked().empty());
}

TEST_F(GuardrailTest, sends_the_prompt_that_a_hook_wrote) {
  TestGateway gateway(loop_, config("prompt"));
  for (const bool in_loop : {false, true}) {
    hook_.then(verdict(R"({"action":"rewrite","messages":[{"role":"user","content":"HI"}]})"));
    says({text("Hello.")});
    (void)gateway.ask(question(true), in_loop ? kLoop : HeaderPairs{});
    EXPECT_THAT(server_.asked().back().body,
                AllOf(HasSubstr(R"("content":"HI")"), Not(HasSubstr(R"("content":"hi")"))));
    EXPECT_THAT(gateway.log().rows().back().outcome.cut, HasSubstr("hook guard: rewrite"));
  }
  // Also to an upstream that would get the client's body as it came.
  hook_.then(verdict(R"({"action":"rewrite","messages":[{"role":"robot"}]})"));
  EXPECT_EQ(gateway.ask(question(true)).status, 503);
}

TEST_F(GuardrailTest, holds_a_sentence_until_it_is_judged) {
  TestGateway gateway(loop_, config("answer"));
  for (const bool in_loop : {false, true}) {
    const std::size_t before = hook_.asked().size();
    hook_.then(kAllow);
    hook_.then(rewrite("My number is removed. "));
    hook_.then(kAllow);
    says({text("Hello there, fri"), text("end. My number is 12345. Go"), text("od bye to you.")});
    const TestAnswer answer = gateway.ask(question(true), in_loop ? kLoop : HeaderPairs{});
    EXPECT_EQ(answer.status, 200);
    EXPECT_THAT(answer.body, AllOf(HasSubstr("Hello there, friend. "), HasSubstr("is removed. "),
                                   HasSubstr("Good bye to you."), HasSubstr("\"stop\""),
                                   Not(HasSubstr("12345")), HasSubstr("[DONE]")));
    std::vector<std::string> texts = texts_of(hook_);
    texts.erase(texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(before));
    EXPECT_THAT(texts,
                ElementsAre("Hello there, friend. ", "My number is 12345. ", "Good bye to you."));
    EXPECT_THAT(gateway.log().rows().back().outcome.cut, HasSubstr("hook guard: rewrite"));
  }
}

TEST_F(GuardrailTest, ends_a_denied_answer_as_filtered_and_stops_the_model) {
  TestGateway gateway(loop_, config("answer"));
  for (const bool in_loop : {false, true}) {
    hook_.then(kAllow);
    hook_.then(deny());
    server_.then({.pieces = {text("Hello there, friend. "), text("The secret is 12345. "),
                             text("More of it."), kStop}});
    const TestAnswer answer = gateway.ask(question(true), in_loop ? kLoop : HeaderPairs{});
    EXPECT_THAT(answer.body,
                AllOf(HasSubstr("Hello there, friend. "), HasSubstr("\"content_filter\""),
                      Not(HasSubstr("12345")), Not(HasSubstr("More")), HasSubstr("[DONE]")))
        << in_loop;
    const auto& outcome = gateway.log().rows().back().outcome;
    EXPECT_EQ(outcome.finish_reason, FinishReason::content_filter) << in_loop;
    EXPECT_EQ(outcome.state, store::RequestState::completed) << in_loop;
    EXPECT_THAT(outcome.cut, HasSubstr("hook guard: deny (no secrets)"));
  }
}

TEST_F(GuardrailTest, says_that_an_answer_was_filtered_in_each_protocol) {
  struct Case {
    const char* path;
    const char* body;
    const char* end;
  };
  const Case cases[] = {
      {"/v1/chat/completions", R"({"model":"m","messages":[{"role":"user","content":"hi"}]})",
       R"("finish_reason":"content_filter")"},
      {"/v1/chat/completions",
       R"({"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]})",
       R"("finish_reason":"content_filter")"},
      {"/v1/messages",
       R"({"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]})",
       R"("stop_reason":"refusal")"},
      {"/v1/messages",
       R"({"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]})",
       R"("stop_reason":"refusal")"},
      {"/v1/responses", R"({"model":"m","input":"hi"})", R"("reason":"content_filter")"},
      {"/v1/responses", R"({"model":"m","stream":true,"input":"hi"})",
       R"("reason":"content_filter")"},
      {"/api/chat", R"({"model":"m","messages":[{"role":"user","content":"hi"}]})",
       "content_filter"},
      {"/v1beta/models/m:generateContent",
       R"({"contents":[{"role":"user","parts":[{"text":"hi"}]}]})", "SAFETY"},
      {"/v1beta/models/m:streamGenerateContent?alt=sse",
       R"({"contents":[{"role":"user","parts":[{"text":"hi"}]}]})", "SAFETY"},
  };
  TestGateway gateway(loop_, config("answer"));
  for (const Case& c : cases) {
    hook_.then(deny());
    says({text("The secret is 12345.")});
    const TestAnswer answer = gateway.ask(c.body, {}, c.path);
    EXPECT_EQ(answer.status, 200) << c.path;
    EXPECT_THAT(answer.body, AllOf(HasSubstr(c.end), Not(HasSubstr("12345")))) << c.path << c.body;
  }
}

TEST_F(GuardrailTest, judges_streams_sentence_by_sentence_in_every_protocol) {
  const std::pair<const char*, const char*> streams[] = {
      {"/v1/chat/completions",
       R"({"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]})"},
      {"/v1/messages",
       R"({"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]})"},
      {"/v1/responses", R"({"model":"m","stream":true,"input":"hi"})"},
      {"/api/chat", R"({"model":"m","messages":[{"role":"user","content":"hi"}]})"},
      {"/v1beta/models/m:streamGenerateContent?alt=sse",
       R"({"contents":[{"role":"user","parts":[{"text":"hi"}]}]})"},
  };
  TestGateway gateway(loop_, config("answer"));
  for (const auto& [path, body] : streams) {
    for (const bool in_loop : {false, true}) {
      const std::size_t before = hook_.asked().size();
      hook_.then(kAllow);
      hook_.then(rewrite("My number is removed. "));
      hook_.then(kAllow);
      says({text("Hello there, fri"), text("end. My number is 12345. Go"), text("od bye to you.")});
      const TestAnswer answer = gateway.ask(body, in_loop ? kLoop : HeaderPairs{}, path);
      EXPECT_EQ(answer.status, 200) << path;
      EXPECT_THAT(answer.body, AllOf(HasSubstr("Hello there, friend. "), HasSubstr("is removed. "),
                                     HasSubstr("Good bye to you."), Not(HasSubstr("12345"))))
          << path << in_loop;
      EXPECT_EQ(hook_.asked().size() - before, 3u) << path << in_loop;
    }
  }
}

TEST_F(GuardrailTest, judges_a_whole_answer_in_one_piece) {
  TestGateway gateway(loop_, config("answer"));
  hook_.then(rewrite("Nothing."));
  says({text("Hello there, friend. "), text("My number is 12345. ")});
  EXPECT_THAT(gateway.ask(question(false), kLoop).body,
              AllOf(HasSubstr("Nothing."), Not(HasSubstr("12345"))));
  EXPECT_THAT(texts_of(hook_), ElementsAre("Hello there, friend. My number is 12345. "));
}

TEST_F(GuardrailTest, judges_reasoning_as_well) {
  TestGateway gateway(loop_, config("answer"));
  hook_.then(rewrite("Hm."));
  hook_.then(kAllow);
  says({chunk(R"({"role":"assistant","reasoning_content":"The secret is 12345."})"),
        text("Hello.")});
  EXPECT_THAT(gateway.ask(question(true)).body,
              AllOf(HasSubstr(R"("reasoning_content":"Hm.")"), HasSubstr("Hello."),
                    Not(HasSubstr("12345"))));
  EXPECT_THAT(hook_.asked().at(0).body, HasSubstr(R"("channel":"reasoning")"));
}

TEST_F(GuardrailTest, passes_nothing_when_a_check_cannot_be_made) {
  TestGateway gateway(loop_, config("answer"));
  says({text("The secret is 12345.")});  // the hook answers with 500
  EXPECT_THAT(gateway.ask(question(true)).body,
              AllOf(HasSubstr("content_filter"), Not(HasSubstr("12345"))));
  EXPECT_THAT(gateway.log().rows().back().outcome.cut,
              HasSubstr("hook guard: deny (the check could not be made)"));
  TestGateway prompts(loop_, config("prompt"));
  EXPECT_EQ(prompts.ask(question(true)).status, 503);
}

TEST_F(GuardrailTest, passes_what_could_not_be_checked_where_the_owner_says_so) {
  TestGateway gateway(loop_, config("answer", "on_failure = \"allow\"\ntimeout = \"50ms\"\n"));
  hook_.then({.pieces = {"x"}, .before = &never_});
  says({text("All is well here.")});
  EXPECT_THAT(gateway.ask(question(true)).body,
              AllOf(HasSubstr("All is well here."), HasSubstr("\"stop\"")));
}

TEST_F(GuardrailTest, leaves_keys_and_models_alone_that_it_does_not_name) {
  TestGateway gateway(loop_, config("answer", "models = [\"other*\"]\n"));
  says({text("The secret is 12345.")});
  EXPECT_THAT(gateway.ask(question(true)).body, HasSubstr("12345"));
  EXPECT_TRUE(hook_.asked().empty());
}

TEST_F(GuardrailTest, fails_as_ever_when_the_upstream_breaks_off) {
  TestGateway gateway(loop_, config("answer"));
  hook_.then(kAllow);
  server_.then(
      {.pieces = {text("Hello there, friend. "), text("The rest is not")}, .breaks_off = true});
  const TestAnswer answer = gateway.ask(question(true));
  EXPECT_THAT(answer.body, AllOf(HasSubstr("Hello there, friend. "), HasSubstr("\"error\""),
                                 Not(HasSubstr("The rest"))));
}

}  // namespace
}  // namespace callgate::server::guardrail_test
