#include "tool/mcp_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/member.h"
#include "tool/mcp_headers.h"
#include "tool/mcp_values.h"

namespace callgate::tool::mcp_message_test {
namespace {

using testing::HasSubstr;
using Kind = McpMessage::Kind;

TEST(McpMessage, tells_the_kinds_apart) {
  struct Row {
    const char* text;
    Kind kind;
  };
  const Row rows[] = {
      {R"({"jsonrpc":"2.0","id":1,"method":"ping"})", Kind::request},
      {R"({"jsonrpc":"2.0","id":"a","method":"ping","params":{}})", Kind::request},
      {R"({"jsonrpc":"2.0","method":"notifications/progress","params":{}})", Kind::notification},
      {R"({"jsonrpc":"2.0","id":1,"result":{}})", Kind::result},
      {R"({"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}})", Kind::error},
      {R"({"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}})", Kind::error},
      {R"({"jsonrpc":"2.0","id":null,"method":"ping"})", Kind::invalid},
      {R"({"jsonrpc":"2.0","id":{},"result":{}})", Kind::invalid},
      {R"({"jsonrpc":"2.0","id":1})", Kind::invalid},
      {R"({"id":1,"result":{}} x)", Kind::invalid},
      {R"([])", Kind::invalid},
      {"Server listening on port 3000", Kind::invalid},
      {"", Kind::invalid},
  };
  for (const Row& row : rows) EXPECT_EQ(read_mcp_message(row.text).kind, row.kind) << row.text;
  const auto error = read_mcp_message(rows[4].text);
  EXPECT_EQ(error.error_code, -32601);
  EXPECT_EQ(error.error_message, "no");
  EXPECT_EQ(error.number(), 1);
  EXPECT_FALSE(read_mcp_message(rows[1].text).number().has_value());
}

TEST(McpMessage, reads_what_it_writes) {
  const std::string request = write_mcp_request(7, "tools/call", R"({"name":"a"})");
  const McpMessage read = read_mcp_message(request);
  EXPECT_EQ(read.number(), 7);
  EXPECT_EQ(read.method, "tools/call");
  EXPECT_EQ(json::member_text(read.params, "name"), "a");
  EXPECT_EQ(read_mcp_message(write_mcp_result("\"x\"", "{}")).id, "\"x\"");
  EXPECT_EQ(read_mcp_message(write_mcp_error("3", -1, "a\"b", "[1]")).error_data, "[1]");
  EXPECT_EQ(read_mcp_message(write_mcp_notification("n", "")).kind, Kind::notification);
}

TEST(McpValues, makes_text_of_content) {
  struct Row {
    const char* result;
    const char* text;
    bool is_error;
  };
  const Row rows[] = {
      {R"({"content":[{"type":"text","text":"a"},{"type":"text","text":"b\u00fc"}]})", "a\nbü",
       false},
      {R"({"content":[{"type":"text","text":"bad"}],"isError":true})", "bad", true},
      {R"({"content":[{"type":"text","text":"{}"}],"structuredContent":{"t":21}})", "{}", false},
      {R"({"content":[],"structuredContent":{"t":21}})", R"({"t":21})", false},
      {R"({"structuredContent":[1]})", "[1]", false},
      {R"({"content":[{"type":"image","data":"aGVsbG8=","mimeType":"image/png"}]})",
       "[image image/png, about 6 bytes]", false},
      {R"({"content":[{"type":"audio","data":"","mimeType":"audio/wav"}]})",
       "[audio audio/wav, about 0 bytes]", false},
      {R"({"content":[{"type":"resource","resource":{"uri":"file:///a","text":"inside"}}]})",
       "[resource file:///a]\ninside", false},
      {R"({"content":[{"type":"resource","resource":{"uri":"f:b","blob":"aGk=","mimeType":"x/y"}}]})",
       "[resource f:b x/y, about 3 bytes]", false},
      {R"({"content":[{"type":"resource_link","uri":"f:c","name":"c","description":"see"}]})",
       "[link c: f:c] see", false},
      {R"({"content":[{"type":"hologram"},5]})", "[content of type hologram]\n[content of type ]",
       false},
      {R"({"resultType":"complete","content":[]})", "", false},
      {R"({"resultType":"later"})", "the server answered with a result of unknown type later",
       true},
      {R"({"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"Name?"}}}})",
       "the tool asks for input that callgate cannot give: elicitation/create (Name?)", true},
      {R"([])", "the server answered with no result object", true},
  };
  for (const Row& row : rows) {
    const ToolResult result = read_call_result(row.result, 1000);
    EXPECT_EQ(result.text, row.text) << row.result;
    EXPECT_EQ(result.is_error, row.is_error) << row.result;
  }
  const ToolResult cut = read_call_result(R"({"content":[{"type":"text","text":"abcü"}]})", 4);
  EXPECT_EQ(cut.text, "abc");
  EXPECT_TRUE(cut.truncated);
}

TEST(McpValues, reads_pages_of_tools) {
  const McpToolPage page = read_tool_page(
      R"({"tools":[{"name":"a","title":"A","inputSchema":{"type":"object"}},{"name":""},{},7,
          {"name":"b","description":"B","inputSchema":null},{"name":"c","description":"C"}],"nextCursor":"x"})");
  EXPECT_TRUE(page.is_valid);
  ASSERT_EQ(page.tools.size(), 2U);
  EXPECT_EQ(page.tools[0].description, "A");
  EXPECT_EQ(page.tools[0].schema, R"({"type":"object"})");
  EXPECT_EQ(page.tools[1].name, "c");
  EXPECT_EQ(page.next_cursor, "x");
  EXPECT_FALSE(read_tool_page("{}").is_valid);
}

TEST(McpValues, names_stay_apart_and_short) {
  EXPECT_EQ(qualified_name("files", "read_file"), "files__read_file");
  EXPECT_EQ(qualified_name("", "read_file"), "read_file");
  const std::string dotted = qualified_name("files", "read.file");
  EXPECT_THAT(dotted, testing::MatchesRegex("files__read_file_[0-9a-f]{8}"));
  EXPECT_NE(dotted, qualified_name("files", "read/file"));
  const std::string wide = qualified_name("s", std::string(200, 'x'));
  EXPECT_EQ(wide.size(), 64U);
  EXPECT_NE(wide, qualified_name("s", std::string(201, 'x')));
}

TEST(McpHeaders, wraps_what_a_header_cannot_hold) {
  const std::pair<const char*, const char*> rows[] = {
      {"us-west1", "us-west1"},
      {"Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="},
      {" padded ", "=?base64?IHBhZGRlZCA=?="},
      {"line1\nline2", "=?base64?bGluZTEKbGluZTI=?="},
      {"=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="},
  };
  for (const auto& [plain, written] : rows) {
    EXPECT_EQ(encode_mcp_header(plain), written);
    EXPECT_EQ(decode_mcp_header(written), plain);
  }
  EXPECT_FALSE(decode_mcp_header("=?base64?*?=").has_value());
}

TEST(McpHeaders, reads_annotated_parameters) {
  const auto params = read_header_params(
      R"({"properties":{"region":{"type":"string","x-mcp-header":"Region"},
          "in":{"type":"object","properties":{"n":{"x-mcp-header":"N","type":"integer"}}}}})");
  ASSERT_TRUE(params.has_value());
  const McpHeaderList headers = header_values(*params, R"({"region":"ü","in":{"n":7.0}})");
  const McpHeaderList expected = {{"Mcp-Param-Region", "=?base64?w7w=?="}, {"Mcp-Param-N", "7"}};
  EXPECT_EQ(headers, expected);
  EXPECT_TRUE(header_values(*params, R"({"region":null})").empty());
  for (const char* bad : {R"({"properties":{"a":{"type":"number","x-mcp-header":"A"}}})",
                          R"({"properties":{"a":{"type":"string","x-mcp-header":""}}})",
                          R"({"properties":{"a":{"type":"string","x-mcp-header":"A b"}}})",
                          R"({"items":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}})",
                          R"({"properties":{"a":{"type":"string","x-mcp-header":"A"},
                              "b":{"type":"string","x-mcp-header":"a"}}})"}) {
    EXPECT_FALSE(read_header_params(bad).has_value()) << bad;
  }
}

TEST(McpMessage, replaces_what_is_no_text) {
  std::string seen;
  read_mcp_messages("{\"id\":1,\"result\":\"ok \xFF\"}",
                    [&](const McpMessage& message) { seen = message.result; });
  EXPECT_EQ(seen, "\"ok \uFFFD\"");
}

TEST(McpMessage, reads_an_error_whatever_the_kinds_of_its_members) {
  const McpMessage odd = read_mcp_message(
      R"({"id":1,"error":{"message":["no text"],"code":-7,"other":{},"data":{"a":1}}})");
  EXPECT_EQ(odd.kind, Kind::error);
  EXPECT_EQ(odd.error_code, -7);
  EXPECT_EQ(odd.error_message, "");
  EXPECT_EQ(odd.error_data, R"({"a":1})");
  const McpMessage words =
      read_mcp_message(R"({"id":1,"error":{"code":"-7","message":"why","data":5}})");
  EXPECT_EQ(words.error_code, 0);
  EXPECT_EQ(words.error_message, "why");
  EXPECT_EQ(words.error_data, "5");
  EXPECT_EQ(read_mcp_message(R"({"id":1,"error":"text"})").kind, Kind::error);
  EXPECT_EQ(read_mcp_message(R"({"id":1,"error":null,"result":{}})").kind, Kind::result);
  EXPECT_EQ(read_mcp_message(R"({"method":["x"],"id":1,"result":{}})").kind, Kind::result);
}

TEST(McpMessage, knows_ids_that_are_numbers) {
  const auto number = [](const char* id) {
    return read_mcp_message(R"({"result":{},"id":)" + std::string(id) + "}").number();
  };
  EXPECT_EQ(number("0"), 0);
  EXPECT_EQ(number("9"), 9);
  EXPECT_EQ(number("-3"), -3);
  EXPECT_FALSE(number("\"3\""));
  EXPECT_FALSE(number("true"));
}

TEST(McpMessage, reads_each_of_several) {
  std::string seen;
  read_mcp_messages(R"([{"id":1,"result":{}},{"method":"n"},5])", [&](const McpMessage& message) {
    seen += std::to_string(static_cast<int>(message.kind)) + " ";
  });
  const auto word = [](Kind kind) { return std::to_string(static_cast<int>(kind)) + " "; };
  EXPECT_EQ(seen, word(Kind::result) + word(Kind::notification) + word(Kind::invalid));
}

TEST(McpValues, names_keep_every_byte_that_is_allowed) {
  EXPECT_EQ(qualified_name("s0", "azAZ09_-"), "s0__azAZ09_-");
  EXPECT_EQ(qualified_name("s", "a0"), "s__a0");
  for (const char c : std::string_view("`{@[/:. ")) {
    EXPECT_EQ(qualified_name("s", std::string("a") + c).size(), 5u + 9u) << c;
  }
  EXPECT_EQ(qualified_name("s", std::string(61, 'x')), "s__" + std::string(61, 'x'));
  EXPECT_EQ(qualified_name("s", std::string(62, 'x')).substr(0, 56),
            "s__" + std::string(52, 'x') + "_");
}

TEST(McpValues, reads_what_a_server_says_of_itself) {
  const McpHello hello =
      read_hello(R"({"protocolVersion":"1","supportedVersions":["2",5,"3"],"supported":["4"],)"
                 R"("capabilities":{"tools":{"listChanged":true}}})");
  EXPECT_EQ(hello.versions, (std::vector<std::string>{"1", "2", "3", "4"}));
  EXPECT_TRUE(hello.lists_changes);
  EXPECT_FALSE(read_hello(R"({"capabilities":{"tools":{"listChanged":false}}})").lists_changes);
  EXPECT_TRUE(read_hello("{}").versions.empty());
}

TEST(McpValues, takes_a_result_or_says_why_there_is_none) {
  EXPECT_EQ(result_of(std::string(R"({"id":1,"result":{"a":1}})")), R"({"a":1})");
  const auto refused = result_of(std::string(R"({"id":1,"error":{"code":-5,"message":"no"}})"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "MCP error -5: no");
  EXPECT_EQ(refused.error().upstream_code, "-5");
  EXPECT_EQ(error_code_of(std::string(R"({"id":1,"error":{"code":-5}})")), -5);
  EXPECT_EQ(error_code_of(fail(ErrorCode::internal, "x")), 0);
}
}  // namespace
}  // namespace callgate::tool::mcp_message_test
