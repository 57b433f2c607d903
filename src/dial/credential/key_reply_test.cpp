#include "dial/credential/key_reply.h"

#include <gtest/gtest.h>

namespace callgate::server::key_reply_test {
namespace {

TEST(KeyReply, reads_plain_text_and_json) {
  EXPECT_EQ(read_key_reply(" sk-1 \n", 0)->key, "sk-1");
  EXPECT_FALSE(read_key_reply("sk-1", 0)->expires_at);
  const auto soon = read_key_reply(R"({"access_token":"a","expires_in":60,"scope":[1]})", 5'000);
  EXPECT_EQ(soon->key, "a");
  EXPECT_EQ(soon->expires_at, 65'000);
  EXPECT_EQ(read_key_reply(R"({"token":"a","expires_at":1795000000})", 0)->expires_at,
            1'795'000'000'000);
}

TEST(KeyReply, reads_headers_that_go_with_a_key_or_stand_for_it) {
  const auto both = read_key_reply(R"({"token":"a","headers":{"cookie":"x=1; y=2","n":1}})", 0);
  ASSERT_TRUE(both);
  ASSERT_EQ(both->headers.size(), 1u);
  EXPECT_EQ(both->headers[0].second, "x=1; y=2");
  const auto guest = read_key_reply(R"({"headers":{"cookie":"x=1"}})", 0);
  ASSERT_TRUE(guest);
  EXPECT_TRUE(guest->key.empty());
  for (const char* text :
       {R"({"headers":{}})", R"({"token":"a","headers":{"cookie":"a\r\nx: y"}})",
        R"({"token":"a","headers":{"co okie":"a"}})", R"({"token":"a","headers":{"":"a"}})"}) {
    EXPECT_FALSE(read_key_reply(text, 0)) << text;
  }
}

TEST(KeyReply, takes_a_time_out_of_range_as_not_given) {
  const auto odd = read_key_reply(R"({"token":"a","expires_in":9223372036854775807})", 1);
  ASSERT_TRUE(odd);
  EXPECT_FALSE(odd->expires_at);
}

TEST(KeyReply, refuses_what_is_not_a_credential_without_repeating_it) {
  for (const char* text :
       {"", " \n", "{}", "{\"token\":\"\"}", "{\"token\":1}", "{\"token\":\"sk", "sk-1\nsk-2",
        "two words", "{\"token\":\"a\\r\\nx: y\"}", "sk-\xc3\xa4"}) {
    const auto reply = read_key_reply(text, 0);
    ASSERT_FALSE(reply) << text;
    EXPECT_EQ(reply.error().message.find("sk"), std::string::npos) << text;
  }
  EXPECT_FALSE(read_key_reply(std::string(17 << 10, 'a'), 0));
}

}  // namespace
}  // namespace callgate::server::key_reply_test
