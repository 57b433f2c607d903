#include "upstream/qwen_web/qwen_web.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "upstream/fields_testing.h"
#include "upstream/qwen_web/qwen_web_error.h"

namespace callgate::upstream::qwen_web_test {
namespace {

using testing::HasSubstr;

Message say(Role role, std::string_view content) {
  Message message;
  message.role = role;
  message.content.text = content;
  return message;
}

Request hello() {
  Request request;
  request.model = "m";
  request.messages = {say(Role::user, R"("Hello")")};
  return request;
}

TEST(QwenWeb, writes_a_message_as_the_page_does) {
  const UpstreamRequest encoded = encode_qwen_web_post(
      hello(), {.model = "qwen3-max", .key = "tok"},
      {.chat_id = "c/1", .parent_id = "r1", .message_id = "f1", .timestamp = 1762300000}, "Hello");
  EXPECT_EQ(encoded.path, "/chat/completions?chat_id=c%2F1");
  EXPECT_EQ(
      encoded.body,
      R"({"stream":true,"version":"2.1","incremental_output":true,"chat_id":"c/1","chat_mode":"normal",)"
      R"("model":"qwen3-max","parent_id":"r1","messages":[{"fid":"f1","parentId":"r1","parent_id":"r1",)"
      R"("childrenIds":[],"role":"user","content":"Hello","user_action":"chat","files":[],)"
      R"("timestamp":1762300000,"models":["qwen3-max"],"chat_type":"t2t","sub_chat_type":"t2t",)"
      R"("feature_config":{"thinking_enabled":false,"output_schema":"phase","auto_thinking":false,)"
      R"("thinking_format":"summary"},"extra":{"meta":{"subChatType":"t2t"}}}],"timestamp":1762300000})");
  EXPECT_THAT(encoded.headers, testing::Contains(testing::Pair("authorization", "Bearer tok")));
}

TEST(QwenWeb, starts_a_chat_and_reads_its_id) {
  const UpstreamRequest encoded = encode_qwen_web_chat({.model = "qwen3-max"}, 1762300000123);
  EXPECT_EQ(encoded.path, "/chats/new");
  EXPECT_EQ(encoded.body,
            R"({"title":"New Chat","models":["qwen3-max"],"chat_mode":"guest","chat_type":"t2t",)"
            R"("timestamp":1762300000123})");
  EXPECT_EQ(decode_qwen_web_chat(200, R"({"success":true,"request_id":"q","data":{"id":"c1"}})"),
            "c1");
  const auto limited = decode_qwen_web_chat(
      200, R"({"success":false,"data":{"code":"RateLimited","details":"Later.","num":3}})");
  ASSERT_FALSE(limited);
  EXPECT_EQ(limited.error().code, ErrorCode::rate_limited);
  EXPECT_EQ(limited.error().retry_after, "10800");
}

TEST(QwenWeb, tells_the_whole_conversation_to_a_chat_that_does_not_know_it) {
  Request request = hello();
  request.messages.insert(request.messages.begin(), say(Role::system, R"("Be brief.")"));
  const auto encoded = kQwenWeb.encode(request, {.model = "q"});
  ASSERT_TRUE(encoded);
  EXPECT_THAT(encoded->body, HasSubstr(R"("content":"[system]\nBe brief.\n\n[user]\nHello")"));
  EXPECT_THAT(encoded->body, HasSubstr(R"("parent_id":null)"));
}

TEST(QwenWeb, thinks_when_an_effort_is_asked_for) {
  const auto thinks = [](std::string_view effort) {
    Request request = hello();
    request.extra = {{"reasoning_effort", {"\"" + std::string(effort) + "\""}}};
    return kQwenWeb.encode(request, {.model = "q"})->body.find(R"("thinking_enabled":true)") !=
           std::string::npos;
  };
  EXPECT_TRUE(thinks("high"));
  EXPECT_FALSE(thinks("none"));
  EXPECT_FALSE(thinks("minimal"));
}

TEST(QwenWeb, names_every_field_that_it_cannot_carry) {
  Request request = hello();
  request.messages.push_back(say(
      Role::user,
      R"([{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}])"));
  request.tools = {
      {.name = "find", .description = {}, .parameters = {}, .extra = {}, .outer_extra = {}}};
  request.tool_choice.mode = ToolChoice::Mode::required;
  request.parallel_tool_calls = false;
  request.choices = 2;
  for (const std::string_view name :
       {"temperature", "max_tokens", "stop", "response_format", "reasoning_effort", "user"}) {
    request.extra.push_back({std::string(name), {"1"}});
  }
  std::vector<std::string> names;
  const auto encoded = kQwenWeb.encode(request, {.model = "q"});
  ASSERT_TRUE(encoded);
  for (const DroppedField& field : encoded->dropped) {
    names.push_back(field.name);
    EXPECT_EQ(field.changes_meaning, field.name != "user" && field.name != "parallel_tool_calls");
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre(
                         "n", "tool_choice", "parallel_tool_calls", "temperature", "max_tokens",
                         "stop", "response_format", "user", "tools", "messages[1].content[1]"));
}

TEST(QwenWeb, has_the_field_table_of_the_docs) { expect_fields(kQwenWeb, qwen_web_fields()); }

TEST(QwenWeb, reads_the_ids_of_an_answer) {
  const auto created = decode_qwen_web_created(
      R"({"response.created":{"chat_id":"c","parent_id":"q1","response_id":"r1","response_index":0}})");
  ASSERT_TRUE(created);
  EXPECT_EQ(created->parent_id, "q1");
  EXPECT_EQ(created->response_id, "r1");
  EXPECT_FALSE(decode_qwen_web_created(R"({"choices":[]})"));
  EXPECT_FALSE(decode_qwen_web_created(R"({"response.created":{"chat_id":"c"}})"));
  EXPECT_FALSE(decode_qwen_web_created(R"({"response.created":)"));
}

TEST(QwenWebError, knows_the_words_of_the_upstream) {
  const struct {
    int status;
    std::string_view body;
    ErrorCode code;
    int told;
    std::string_view message;
  } cases[] = {
      {0, R"({"error":{"code":"Too_Many_Requests","details":"Slow down."},"response_id":"r"})",
       ErrorCode::rate_limited, 429, "Slow down."},
      {0, R"({"error":{"code":"ContextLengthExceeded","details":"Too long."}})",
       ErrorCode::invalid_request, 400, "Too long."},
      {0, R"({"error":{"code":"unauthorized","details":"token abc is bad"}})",
       ErrorCode::upstream_failed, 401, "the upstream refused callgate's credentials"},
      {0, R"({"success":false,"data":{"code":"Not_Found","details":"No chat."}})",
       ErrorCode::not_found, 404, "No chat."},
      {500, R"({"success":false,"data":{"code":"Internal_Error"}})", ErrorCode::upstream_failed,
       500, "upstream answered with the error Internal_Error"},
      {502, "", ErrorCode::upstream_failed, 502,
       "upstream answered with status 502 and no explanation"},
  };
  for (const auto& row : cases) {
    const Error error = decode_qwen_web_error(row.status, row.body);
    EXPECT_EQ(error.code, row.code) << row.body;
    EXPECT_EQ(error.status, row.told) << row.body;
    EXPECT_EQ(error.message, row.message);
  }
}

TEST(QwenWebError, tells_a_bot_check_from_an_error) {
  for (
      const std::string_view body :
      {R"({"ret":["FAIL_SYS_USER_VALIDATE","RGV587_ERROR::SM"],"data":{"url":"https://x/punish"}})",
       "\n<!doctype html><html><script>/* check */</script></html>"}) {
    const Error error = decode_qwen_web_error(200, body);
    EXPECT_EQ(error.type, "bot_check");
    EXPECT_EQ(error.code, ErrorCode::unavailable);
    EXPECT_EQ(error.status, 403);
    EXPECT_THAT(error.message, HasSubstr("renew the cookie"));
  }
}

}  // namespace
}  // namespace callgate::upstream::qwen_web_test
