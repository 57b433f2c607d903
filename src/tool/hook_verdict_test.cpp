#include "tool/hook_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callgate::tool::hook_verdict_test {
namespace {

using Action = HookVerdict::Action;
using testing::HasSubstr;

std::string fault_of(std::string_view json, HookMoment moment = HookMoment::before) {
  const Result<HookVerdict> verdict = read_verdict(json, moment);
  return verdict ? "no fault" : verdict.error().message;
}

TEST(HookVerdict, reads_every_action_with_what_belongs_to_it) {
  const auto before = [](std::string_view json) {
    return read_verdict(json, HookMoment::before).value();
  };
  EXPECT_EQ(before(R"({"action":"allow"})").action, Action::allow);
  EXPECT_FALSE(before(R"({"action":"allow"})").arguments);
  EXPECT_EQ(before(R"({"arguments":{"a":1},"action":"allow"})").arguments, R"({"a":1})");
  const HookVerdict denied = before(R"({"action":"deny","reason":"no","other":[1]})");
  EXPECT_EQ(denied.action, Action::deny);
  EXPECT_EQ(denied.reason, "no");
  const HookVerdict replaced = before(R"({"action":"replace","result":"instead","is_error":true})");
  EXPECT_EQ(replaced.action, Action::replace);
  EXPECT_EQ(replaced.result, "instead");
  EXPECT_TRUE(replaced.is_error);
  EXPECT_FALSE(before(R"({"action":"replace","result":""})").is_error);
  EXPECT_EQ(read_verdict(R"({"action":"allow"})", HookMoment::after)->action, Action::allow);
}

TEST(HookVerdict, says_what_is_odd_about_an_answer) {
  EXPECT_EQ(fault_of("[]"), "invalid answer: expected a JSON object");
  EXPECT_THAT(fault_of(R"({"action":"replace"})"), HasSubstr("replace without a result"));
  EXPECT_THAT(fault_of(R"({})"), HasSubstr("allow, deny or replace"));
  EXPECT_THAT(fault_of(R"({"action":"ask"})"), HasSubstr("allow, deny or replace"));
  EXPECT_THAT(fault_of(R"({"action":"allow","arguments":{}})", HookMoment::after),
              HasSubstr("arguments belong to allow"));
  for (const char* action : {R"("deny")", R"("replace","result":"x")"}) {
    EXPECT_THAT(fault_of(R"({"arguments":{},"action":)" + std::string(action) + "}"),
                HasSubstr("arguments belong to allow"));
  }
  EXPECT_THAT(fault_of(R"({"action":"allow","arguments":[]})"),
              HasSubstr("arguments that are an object"));
  for (const char* bad :
       {R"({"action":5})", R"({"action":"deny","reason":5})", R"({"action":"replace","result":{}})",
        R"({"action":"replace","result":"x","is_error":"yes"})", R"({"action":"allow"} x)",
        R"({"action":"allow")"}) {
    EXPECT_THAT(fault_of(bad), HasSubstr("invalid answer: expected ")) << bad;
  }
}

}  // namespace
}  // namespace callgate::tool::hook_verdict_test
