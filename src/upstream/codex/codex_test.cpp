#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "base/source_path_testing.h"
#include "json/member.h"
#include "upstream/codex/codex_app_server.h"
#include "upstream/codex/codex_error.h"
#include "upstream/codex/codex_line.h"
#include "upstream/codex/codex_proto.h"

namespace callgate::upstream::codex_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Message message(Role role, std::string content) {
  return {.role = role, .content = {std::move(content)}};
}

// A conversation with everything in it: images, calls, results, sealed reasoning of this format and of another.
Request full_request() {
  Request request{.model = "m", .stream = true};
  request.messages.push_back(message(Role::system, R"("Be brief.")"));
  request.messages.push_back(message(Role::developer, R"("In French.")"));
  request.messages.push_back(message(
      Role::user,
      R"([{"type":"text","text":"See"},{"type":"image_url","image_url":{"url":"https://x/a.png"}},{"type":"input_audio"}])"));
  Message said = message(Role::assistant, R"("A dot.")");
  said.calls.push_back({.id = "call_1", .name = "f", .arguments = R"({"a": 1})"});
  said.extra.push_back(
      {"reasoning_details",
       {R"([{"type":"reasoning.encrypted","data":"AA","id":"rs_1","format":"openai-responses-v1"},
            {"type":"reasoning.encrypted","data":"BB","format":"anthropic-claude-v1"}])"}});
  request.messages.push_back(said);
  Message result = message(Role::tool, R"([{"type":"text","text":"5"}])");
  result.tool_call_id = "call_1";
  request.messages.push_back(result);
  return request;
}

std::vector<std::string> names(const std::vector<DroppedField>& dropped) {
  std::vector<std::string> list;
  for (const DroppedField& field : dropped) list.push_back(field.name);
  return list;
}

TEST(CodexAppServer, encodes_the_parts_of_a_conversation) {
  Request request = full_request();
  request.tools.push_back(
      {.name = "f", .description = "F", .parameters = {"{\n\"type\":\"object\"}"}});
  request.extra.push_back({"reasoning_effort", {"\"low\""}});
  request.extra.push_back(
      {"response_format",
       {R"({"type":"json_schema","json_schema":{"name":"x","schema":{"a":1}}})"}});
  const auto encoded = kCodexAppServer.encode(request, {.model = "gpt"});
  EXPECT_EQ(
      encoded->body,
      R"({"thread":{"model":"gpt","baseInstructions":"Be brief.\n\nIn French.",)"
      R"("dynamicTools":[{"type":"function","name":"f","description":"F","inputSchema":{ "type":"object"}}]},)"
      R"("items":[{"type":"message","role":"user","content":[{"type":"input_text","text":"See"},)"
      R"({"type":"input_image","image_url":"https://x/a.png"}]},)"
      R"({"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"AA"},)"
      R"({"type":"message","role":"assistant","content":[{"type":"output_text","text":"A dot."}]},)"
      R"({"type":"function_call","name":"f","arguments":"{\"a\": 1}","call_id":"call_1"},)"
      R"({"type":"function_call_output","call_id":"call_1","output":"5"}],)"
      R"("turn":{"input":[],"effort":"low","outputSchema":{"a":1}},)"
      R"("results":[{"callId":"call_1","result":{"contentItems":[{"type":"inputText","text":"5"}],"success":true}}]})");
  EXPECT_THAT(names(encoded->dropped), ElementsAre("messages[2].content[2]"));
}

TEST(CodexAppServer, asks_the_last_user_messages_and_injects_the_rest) {
  Request request = full_request();
  request.messages.push_back(message(Role::user, R"("And")"));
  request.messages.push_back(message(
      Role::user, R"([{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}])"));
  const std::string body = kCodexAppServer.encode(request, {})->body;
  EXPECT_EQ(
      json::member_json(body, "turn"),
      R"({"input":[{"type":"text","text":"And"},{"type":"image","url":"data:image/png;base64,AA=="}]})");
  EXPECT_EQ(json::member_json(body, "results"), "[]");
  EXPECT_THAT(std::string(json::member_json(body, "items")), HasSubstr(R"("output":"5"})"));
}

TEST(CodexAppServer, reports_what_it_leaves_out) {
  Request request{.model = "m", .choices = 2};
  request.messages.push_back(message(Role::user, R"("hi")"));
  request.tools.push_back({.name = "f", .extra = {{"strict", {"true"}}}});
  request.tool_choice.mode = ToolChoice::Mode::required;
  request.extra.push_back({"temperature", {"0.5"}});
  request.extra.push_back({"response_format", {R"({"type":"json_object"})"}});
  const auto encoded = kCodexAppServer.encode(request, {});
  EXPECT_THAT(names(encoded->dropped), ElementsAre("n", "temperature", "tool_choice",
                                                   "tools[0].function.strict", "response_format"));
  request.tool_choice.mode = ToolChoice::Mode::none;
  EXPECT_EQ(json::member_json(kCodexAppServer.encode(request, {})->body, "thread"),
            R"({"model":"m"})");
}

TEST(CodexProto, writes_a_conversation_as_a_transcript) {
  Request request{.model = "m"};
  request.messages.push_back(message(Role::user, R"("hi")"));
  EXPECT_EQ(
      kCodexProto.encode(request, {.model = "gpt"})->body,
      R"({"first":[{"type":"text","text":"hi"}],"next":[{"type":"text","text":"hi"}],"model":"gpt"})");
  request = full_request();
  request.tools.push_back({.name = "f"});
  request.messages.push_back(message(Role::user, R"("And?")"));
  const auto encoded = kCodexProto.encode(request, {});
  EXPECT_EQ(
      json::member_json(encoded->body, "first"),
      R"([{"type":"text","text":"[system]\nBe brief.\n\n[system]\nIn French.\n\n[user]\nSee\n\n)"
      R"([assistant]\nA dot.\n\n[assistant call call_1]\nf {\"a\": 1}\n\n)"
      R"([tool result call_1]\n5\n\n[user]\nAnd?"}])");
  EXPECT_EQ(json::member_json(encoded->body, "next"), R"([{"type":"text","text":"And?"}])");
  EXPECT_THAT(names(encoded->dropped),
              ElementsAre("tools", "messages[2].content[1]", "messages[2].content[2]"));
}

TEST(CodexError, finds_the_status) {
  struct Row {
    std::string json;
    int status;
    ErrorCode code;
  };
  const Row rows[] = {
      {R"({"message":"x","codexErrorInfo":{"httpConnectionFailed":{"httpStatusCode":503}}})", 503,
       ErrorCode::unavailable},
      {R"({"error":{"message":"x","codexErrorInfo":"usageLimitExceeded"}})", 429,
       ErrorCode::rate_limited},
      {R"({"message":"x","codexErrorInfo":"contextWindowExceeded"})", 400,
       ErrorCode::invalid_request},
      {R"({"message":"exceeded retry limit, last status: 429 Too Many Requests"})", 429,
       ErrorCode::rate_limited},
      {R"({"message":"unexpected status 404 Not Found: no 500"})", 404, ErrorCode::not_found},
      {R"({"message":"x","codexErrorInfo":{"responseStreamDisconnected":{"httpStatusCode":null}}})",
       0, ErrorCode::upstream_failed},
      {R"({"message":"the status of 12345 things"})", 0, ErrorCode::upstream_failed},
      {R"({"message":"the status is unknown"})", 0, ErrorCode::upstream_failed},
      {R"({"message":"status is 503"})", 503, ErrorCode::unavailable},
      {R"({"message":"status was 503"})", 0, ErrorCode::upstream_failed},
      {R"(nonsense)", 0, ErrorCode::upstream_failed},
  };
  for (const Row& row : rows) {
    const Error error = decode_codex_error(row.json);
    EXPECT_EQ(error.status, row.status) << row.json;
    EXPECT_EQ(error.code, row.code) << row.json;
    EXPECT_NE(error.message, "") << row.json;
  }
}

// field -> what happens, from the section of docs/upstreams.md.
std::map<std::string, std::string> documented(std::string_view section) {
  std::map<std::string, std::string> rows;
  std::ifstream file(source_path("docs/upstreams.md"));
  bool here = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) here = line.substr(3) == section;
    if (!here || !line.starts_with("| `")) continue;
    const std::size_t end = line.find("` | ");
    rows[line.substr(3, end - 3)] = line.substr(end + 4, line.size() - end - 6);
  }
  return rows;
}

TEST(CodexDocs, say_what_happens_to_each_field) {
  const auto check = [](std::string_view section, std::span<const std::string_view> carried) {
    const auto rows = documented(section);
    EXPECT_GT(rows.size(), 10u) << section;
    for (const std::string_view field : carried) {
      EXPECT_TRUE(rows.contains(std::string(field))) << section << " " << field;
    }
    for (const auto& [field, what] : rows) {
      const bool is_carried = std::find(carried.begin(), carried.end(), field) != carried.end();
      EXPECT_EQ(what == "left out", !is_carried) << section << " " << field;
    }
  };
  check("codex_app_server", codex_app_server_fields());
  check("codex_proto", codex_proto_fields());
}

}  // namespace
}  // namespace callgate::upstream::codex_test
