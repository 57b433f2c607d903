#include "server/turn.h"

#include <gtest/gtest.h>

#include "server/attempt.h"

namespace callgate::server {
namespace {

std::string_view name_of(const Result<DialectChoice>& choice) {
  return choice->dialect == nullptr ? "native" : choice->dialect->name;
}

TEST(ChooseDialect, prefers_header_then_configuration_then_model_name) {
  ModelConfig model;
  model.name = "my-kimi";
  model.id = "moonshotai/Kimi-K2-Thinking";
  EXPECT_EQ(name_of(choose_dialect(model, "")), "kimi_k2");
  EXPECT_TRUE(choose_dialect(model, "")->is_default);
  model.dialect = "hermes";
  EXPECT_EQ(name_of(choose_dialect(model, "")), "hermes");
  EXPECT_FALSE(choose_dialect(model, "")->is_default);
  EXPECT_EQ(name_of(choose_dialect(model, "native")), "native");
  EXPECT_FALSE(choose_dialect(model, "klingon"));
}

TEST(ChooseDialect, reads_an_unknown_model_as_auto) {
  ModelConfig model;
  model.name = "nobody-knows";
  EXPECT_EQ(name_of(choose_dialect(model, "")), "auto");
}

TEST(ChooseDialect, takes_the_longest_pattern_of_a_model_name) {
  ModelConfig model;
  model.name = "Qwen3-Coder-30B";
  EXPECT_EQ(name_of(choose_dialect(model, "")), "qwen3_coder");
  model.name = "Qwen3-32B";
  EXPECT_EQ(name_of(choose_dialect(model, "")), "hermes");
}

TEST(Retry, helps_against_the_world_but_not_against_a_refused_key) {
  EXPECT_TRUE(is_retryable({.code = ErrorCode::upstream_failed}));
  EXPECT_TRUE(is_retryable({.code = ErrorCode::timed_out}));
  EXPECT_TRUE(is_retryable({.code = ErrorCode::rate_limited, .status = 429}));
  EXPECT_FALSE(is_retryable(
      {.code = ErrorCode::rate_limited, .upstream_code = "insufficient_quota", .status = 429}));
  EXPECT_FALSE(is_retryable({.code = ErrorCode::upstream_failed, .status = 401}));
  for (const char* lasting :
       {"unsupported_content_encoding", "content_encoding_ratio", "certificate_refused"}) {
    EXPECT_FALSE(is_retryable({.code = ErrorCode::upstream_failed, .upstream_code = lasting}));
  }
  EXPECT_FALSE(is_retryable({.code = ErrorCode::invalid_request, .status = 400}));
}

}  // namespace
}  // namespace callgate::server
