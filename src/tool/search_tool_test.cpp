#include "tool/search_tool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tool/tool_testing.h"

namespace callgate::tool::search_tool_test {
namespace {

using testing::HasSubstr;

constexpr std::string_view kReply =
    R"({"web":{"results":[{"title":"Call\ngate","url":"https://a.example/","description":"A gateway."},)"
    R"({"title":"no address"},{"url":"https://b.example/"},{"title":"C","url":"https://c.example/"}]}})";

// What the last request was; the reply of a search API.
struct SearchServer {
  std::string asked;
  std::string reply{
      kReply};  // the server's thread takes a copy: it may still send while a test sets the next one
  std::string key;
  net::ServerThread server{[this](net::Exchange& exchange) { return answer(exchange); }};

  net::Task<> answer(net::Exchange& exchange) {
    const auto body = co_await exchange.body();
    asked = std::string(exchange.head().method) + " " + std::string(exchange.head().target) + " " +
            std::string(body ? *body : "");
    key = exchange.head().headers.find("x-key").value_or("");
    const std::string sent = reply;
    co_await exchange.respond(200, "application/json", sent);
  }
};

ToolConfig search_at(std::uint16_t port, SearchToolConfig own,
                     const std::string& path = "/search") {
  own.http.url = "http://127.0.0.1:" + std::to_string(port) + path;
  own.http.network.addresses = {"127.0.0.0/8"};
  own.http.headers = {{"x-key", "secret"}};
  own.http.pass_context = false;
  own.reply = {.list = "web.results", .snippet = "description"};
  return {.name = "search", .how = own};
}

ToolResult run(const ToolConfig& config, const std::string& arguments) {
  net::Loop loop;
  return run_tool(loop, *make_tool(loop, config), call_with(arguments));
}

TEST(SearchTool, asks_with_a_query_and_gives_titles_addresses_and_snippets) {
  SearchServer server;
  SearchToolConfig own{.count_name = "num", .max_results = 2};
  own.http.method = "GET";
  const ToolResult result =
      run(search_at(server.server.port(), own), R"({"query": "a & b", "count": 9})");
  EXPECT_FALSE(result.is_error) << result.text;
  EXPECT_EQ(server.asked, "GET /search?q=a%20%26%20b&num=2 ");
  EXPECT_EQ(server.key, "secret");
  EXPECT_EQ(result.text,
            "1. Call gate\n   https://a.example/\n   A gateway.\n\n"
            "2. https://b.example/\n   https://b.example/\n");
}

TEST(SearchTool, asks_with_a_body_or_in_the_url) {
  SearchServer server;
  run(search_at(server.server.port(), {.query_name = "text"}), R"({"query": "x"})");
  EXPECT_EQ(server.asked, R"(POST /search {"text":"x"})");
  SearchToolConfig own{.query_name = "words"};
  own.http.method = "GET";
  run(search_at(server.server.port(), own, "/find/{words}?format=json"), R"({"query": "x y"})");
  EXPECT_EQ(server.asked, "GET /find/x%20y?format=json ");
}

TEST(SearchTool, reports_replies_that_make_no_sense) {
  SearchServer server;
  const ToolConfig config = search_at(server.server.port(), {.reply_bytes = 100});
  EXPECT_THAT(run(config, R"({"query": "x"})").text, HasSubstr("longer than 100 bytes"));
  server.reply = "[1";
  EXPECT_EQ(run(config, R"({"query": "x"})").text, "the reply of the search API is not JSON");
  server.reply = R"({"web": 1})";
  const ToolResult nothing = run(config, R"({"query": "x"})");
  EXPECT_TRUE(nothing.is_error);
  EXPECT_EQ(nothing.text, "the reply of the search API has no list at \"web.results\"");
  server.reply = R"({"web": {"results": [1, null, {"url": 7}]}})";
  EXPECT_EQ(run(config, R"({"query": "x"})").text, "1. 7\n   7\n");
  server.reply = R"({"web": {"results": []}})";
  EXPECT_EQ(run(config, R"({"query": "x"})").text, "No results.");
  EXPECT_EQ(run(config, R"({"query": " "})").text, "query: expected words");
  EXPECT_EQ(run(config, R"({})").text, "query: expected words");
}

TEST(SearchTool, keeps_to_the_rules_for_addresses) {
  SearchServer server;
  ToolConfig config = search_at(server.server.port(), {});
  std::get<SearchToolConfig>(config.how).http.network.addresses.clear();
  const ToolResult result = run(config, R"({"query": "x"})");
  EXPECT_TRUE(result.refused);
  EXPECT_EQ(server.asked, "");
}

TEST(SearchTool, reads_a_reply_that_is_the_list_itself_and_cuts_long_texts) {
  const std::string reply = R"([{"url":"u","title":")" + std::string(5000, 't') + R"("}])";
  const auto text = read_search_reply(reply, {.list = ""}, 5);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "1. " + std::string(300, 't') + "...\n   u\n");
}

}  // namespace
}  // namespace callgate::tool::search_tool_test
