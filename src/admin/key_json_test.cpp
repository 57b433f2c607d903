#include "admin/key_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callgate::server::key_json_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kNow = 1'800'000'000'000;  // 2027-01-15T08:00Z
constexpr std::int64_t kDay = 86'400'000;

std::string fault_of(std::string_view body) {
  const auto key = read_new_key(body, kNow);
  return key ? "no error" : key.error().message;
}

TEST(KeyJson, reads_what_a_new_key_may_do) {
  const auto key = read_new_key(R"({"name":"dev","owner":"Ann","expires_at":"90d","admin":true,
      "models":["small-*"],"deny_tools":["shell"],"requests_per_minute":60,"max_streams":2,
      "tokens_per_day":10000,"cost_per_month":12.5})",
                                kNow);
  ASSERT_TRUE(key) << key.error().message;
  EXPECT_EQ(key->name, "dev");
  EXPECT_EQ(key->owner, "Ann");
  EXPECT_EQ(key->expires_at, kNow + 90 * kDay);
  EXPECT_TRUE(key->admin);
  EXPECT_TRUE(key->log_content);
  EXPECT_EQ(key->models, std::vector<std::string>{"small-*"});
  EXPECT_EQ(key->tools, std::vector<std::string>{"*"});
  EXPECT_EQ(key->requests_per_minute, 60);
  EXPECT_EQ(key->tokens_per_day, 10'000);
  EXPECT_EQ(key->cost_per_month, 12'500'000'000);
  EXPECT_THAT(print_key(*key, kNow), HasSubstr(R"("cost_per_day":0,"cost_per_month":12.5)"));
}

TEST(KeyJson, names_the_member_at_fault) {
  struct Case {
    std::string_view body;
    std::string_view fault;
  };
  constexpr Case kCases[] = {
      {"", "not a JSON object"},
      {"[]", "not a JSON object"},
      {R"({"name":"a"} x)", "not a JSON object"},
      {R"({})", "name: "},
      {R"({"name":""})", "name: "},
      {R"({"name":"a b"})", "name: "},
      {R"({"name":"a/b"})", "name: "},
      {R"({"name":7})", "name: "},
      {R"({"name":"a","admin":1})", "admin: "},
      {R"({"name":"a","models":"*"})", "models: "},
      {R"({"name":"a","tools":[1]})", "tools: "},
      {R"({"name":"a","max_streams":-1})", "max_streams: "},
      {R"({"name":"a","max_streams":1.5})", "max_streams: "},
      {R"({"name":"a","expires_at":"2020-01-01"})", "expires_at: "},
      {R"({"name":"a","expires_at":"soon"})", "expires_at: "},
      {R"({"name":"a","secret":"mine"})", "secret: "},
      {R"({"name":"a","cost_per_day":-1})", "cost_per_day: "},
      {R"({"name":"a","cost_per_day":"1"})", "cost_per_day: "},
  };
  for (const Case& each : kCases) {
    EXPECT_THAT(fault_of(each.body), HasSubstr(std::string(each.fault))) << each.body;
  }
  EXPECT_EQ(fault_of(R"({"name":"a","expires_at":null})"), "no error");
}

TEST(KeyJson, reads_an_expiry_as_a_date_or_from_now) {
  EXPECT_EQ(read_expiry("12h", kNow).value(), kNow + kDay / 2);
  EXPECT_EQ(read_expiry("2027-01-16", kNow).value(), kNow + kDay * 2 / 3);
  EXPECT_FALSE(read_expiry("2027-01-15", kNow));
  EXPECT_FALSE(read_expiry("0s", kNow));
}

TEST(KeyJson, reads_how_long_a_former_secret_stays_valid) {
  EXPECT_EQ(read_grace("").value(), 0);
  EXPECT_EQ(read_grace(R"({"grace_seconds":90})").value(), 90'000);
  EXPECT_FALSE(read_grace(R"({"grace_seconds":-1})"));
  EXPECT_FALSE(read_grace(R"({"grace":1})"));
  EXPECT_FALSE(read_grace("90"));
}

TEST(KeyJson, shows_states_and_never_a_hash) {
  store::StoredKey key;
  key.name = "dev";
  key.secret_hash = "abc123";
  key.former_hash = "def456";
  key.expires_at = kNow;
  EXPECT_THAT(print_key(key, kNow - 1), HasSubstr(R"("state":"active")"));
  EXPECT_THAT(print_key(key, kNow), HasSubstr(R"("state":"expired")"));
  EXPECT_THAT(print_key(key, kNow), Not(HasSubstr("secret")));
  EXPECT_THAT(print_key(key, kNow), Not(HasSubstr("abc123")));
  EXPECT_THAT(print_key(key, kNow), Not(HasSubstr("def456")));
  EXPECT_THAT(print_key(key, kNow, Secret("cg-1")), HasSubstr(R"("secret":"cg-1")"));
  key.revoked_at = kNow;
  EXPECT_THAT(print_key(key, kNow - 1), HasSubstr(R"("state":"revoked")"));
}

}  // namespace
}  // namespace callgate::server::key_json_test
