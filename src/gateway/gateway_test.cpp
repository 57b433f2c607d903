#include "gateway/gateway.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gateway/gateway_testing.h"

namespace callgate::server::gateway_test {
namespace {

using testing::HasSubstr;

std::string_view name_of(const Result<DialectChoice>& choice) {
  return choice->dialect == nullptr ? "native" : choice->dialect->name;
}

TEST(ChooseDialect, prefers_header_then_configuration_then_model_name) {
  ModelConfig model;
  model.name = "my-kimi";
  model.id = "moonshotai/Kimi-K2-Thinking";
  EXPECT_EQ(name_of(choose_dialect(dialect::Catalog(), model, "")), "kimi_k2");
  EXPECT_TRUE(choose_dialect(dialect::Catalog(), model, "")->is_default);
  model.dialect = "hermes";
  EXPECT_EQ(name_of(choose_dialect(dialect::Catalog(), model, "")), "hermes");
  EXPECT_FALSE(choose_dialect(dialect::Catalog(), model, "")->is_default);
  EXPECT_EQ(name_of(choose_dialect(dialect::Catalog(), model, "native")), "native");
  EXPECT_FALSE(choose_dialect(dialect::Catalog(), model, "klingon"));
}

TEST(ChooseDialect, reads_an_unknown_model_as_auto) {
  ModelConfig model;
  model.name = "nobody-knows";
  EXPECT_EQ(name_of(choose_dialect(dialect::Catalog(), model, "")), "auto");
}

TEST(ChooseDialect, takes_the_longest_pattern_of_a_model_name) {
  ModelConfig model;
  model.name = "Qwen3-Coder-30B";
  EXPECT_EQ(name_of(choose_dialect(dialect::Catalog(), model, "")), "qwen3_coder");
  model.name = "Qwen3-32B";
  EXPECT_EQ(name_of(choose_dialect(dialect::Catalog(), model, "")), "hermes");
}

constexpr std::string_view kQuestion =
    R"({"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]})";

// The same without a stream.
std::string whole(std::string_view question) {
  std::string text(question);
  return text.replace(text.find("true"), 4, "false");
}

std::string chunk(std::string_view delta, std::string_view reason = "null") {
  return R"(data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":)" +
         std::string(delta) + R"(,"finish_reason":)" + std::string(reason) + "}]}\n\n";
}

class GatewayTest : public testing::Test {
 protected:
  // One model, `m`, at the fake server.
  std::string config(std::string_view model_keys = {}, std::string_view more = {}) const {
    return "store.url = \"sqlite::memory:\"\n" + std::string(more) +
           "[[upstream]]\nname = \"a\"\nurl = \"" + model_.url() +
           "\"\n[[model]]\nname = \"m\"\nupstream = [\"a\"]\nretry_backoff = \"1ms\"\n" +
           std::string(model_keys);
  }

  net::Loop loop_;
  FakeServer model_{loop_};
};

TEST_F(GatewayTest, counts_the_bytes_of_an_answer_once_however_it_arrives) {
  TestGateway gateway(loop_, config());
  const std::string text = chunk(R"({"role":"assistant","content":"Hello"})");
  const std::string end = chunk("{}", "\"stop\"") + "data: [DONE]\n\n";
  const std::vector<std::vector<std::string>> arrivals{{text + end}, {text, end}};
  for (const std::string& question : {std::string(kQuestion), whole(kQuestion)}) {
    for (const auto& pieces : arrivals) {
      model_.then({.pieces = pieces});
      const TestAnswer answer = gateway.ask(question);
      EXPECT_EQ(answer.status, 200);
      EXPECT_THAT(answer.body, HasSubstr("Hello"));
      const store::RequestOutcome& outcome = gateway.log().rows().back().outcome;
      EXPECT_EQ(outcome.bytes_out, static_cast<std::int64_t>(answer.body.size()));
      EXPECT_EQ(outcome.bytes_in, static_cast<std::int64_t>(question.size()));
      EXPECT_EQ(outcome.state, store::RequestState::completed);
      EXPECT_EQ(outcome.finish_reason, FinishReason::stop);
      EXPECT_EQ(outcome.http_status, 200);
      EXPECT_EQ(outcome.attempts, 1);
    }
  }
  EXPECT_EQ(model_.asked().size(), 4u);
}

TEST_F(GatewayTest, answers_with_the_error_of_its_only_upstream) {
  TestGateway gateway(loop_, config("retries = 1\n"));
  model_.then({.status = 503, .headers = {}, .pieces = {R"({"error":{"message":"busy"}})"}});
  model_.then({.status = 503, .headers = {}, .pieces = {R"({"error":{"message":"still busy"}})"}});
  const TestAnswer answer = gateway.ask(kQuestion);
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.body, HasSubstr("still busy"));
  const store::RequestRow& row = gateway.log().rows().back();
  EXPECT_EQ(row.outcome.state, store::RequestState::failed);
  EXPECT_EQ(row.outcome.attempts, 2);
  EXPECT_THAT(row.outcome.error_message,
              testing::StartsWith("still busy (upstream \"a\", POST http://127.0.0.1:"));
  EXPECT_EQ(answer.header("x-callgate-attempts"), "2");
}

}  // namespace
}  // namespace callgate::server::gateway_test
