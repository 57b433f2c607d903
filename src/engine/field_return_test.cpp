// What a client sends back of an answer reaches the upstream as it was.
#include <gtest/gtest.h>

#include "client/protocol.h"
#include "upstream/wire_format.h"

namespace callgate::engine::field_return_test {
namespace {

TEST(FieldReturn, of_a_call_and_a_message_is_unchanged) {
  constexpr std::string_view kSignature =
      R"("extra_content":{"google":{"thought_signature":"c2ln+/=="}})";
  constexpr std::string_view kDetails =
      R"("reasoning_details":[{"type":"reasoning.text","index":0}])";
  const std::string body =
      R"({"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"Let me look. ",)" +
      std::string(kDetails) + R"(,"tool_calls":[{"id":"c1","type":"function",)" +
      std::string(kSignature) +
      R"(,"function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"ok"}]})";
  const Result<Request> request = client::find("openai_chat")->decode({.body = body});
  ASSERT_TRUE(request.has_value());
  const auto sent = upstream::find("openai_chat")->encode(*request, {.model = "m"});
  ASSERT_TRUE(sent.has_value());
  EXPECT_NE(sent->body.find(kSignature), std::string::npos) << sent->body;
  EXPECT_NE(sent->body.find(kDetails), std::string::npos) << sent->body;
  EXPECT_NE(sent->body.find(R"("content":"Let me look. ")"), std::string::npos) << sent->body;
  EXPECT_TRUE(sent->dropped.empty());
}

}  // namespace
}  // namespace callgate::engine::field_return_test
