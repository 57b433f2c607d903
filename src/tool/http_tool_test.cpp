#include "tool/http_tool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/utf8.h"
#include "tool/tool_testing.h"
#include "tool/url_template.h"

namespace callgate::tool::http_tool_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// Answers with what it was asked.
net::Task<> echo(net::Exchange& exchange) {
  const auto body = co_await exchange.body();
  std::string text(exchange.head().method);
  text.append(" ").append(exchange.head().target).append("\n");
  for (const net::Header header : exchange.head().headers) {
    text.append(header.name).append(": ").append(header.value).append("\n");
  }
  text.append("\n").append(body ? *body : "");
  co_await exchange.respond(200, "text/plain", text);
}

ToolConfig tool_at(std::uint16_t port, const std::string& path, HttpToolConfig own = {}) {
  own.url = "http://127.0.0.1:" + std::to_string(port) + path;
  own.network.addresses = {"127.0.0.0/8"};
  return {.name = "it", .how = own};
}

ToolResult run(const ToolConfig& config, const std::string& arguments,
               net::Millis timeout = net::Millis(5'000), int cancel_after_ms = -1) {
  net::Loop loop;
  return run_tool(loop, *make_tool(loop, config), call_with(arguments), timeout, cancel_after_ms);
}

TEST(HttpTool, sends_arguments_as_a_body_with_context_and_headers) {
  net::ServerThread server(echo);
  HttpToolConfig own;
  own.headers = {{"authorization", "Bearer k"}, {"x-callgate-key", "mine"}};
  const ToolResult result = run(tool_at(server.port(), "/orders", own), R"({"id": "7"})");
  EXPECT_FALSE(result.is_error);
  EXPECT_THAT(result.text, testing::StartsWith("POST /orders\n"));
  for (const char* line :
       {"authorization: Bearer k\n", "content-type: application/json\n",
        "x-callgate-request-id: req_7\n", "x-callgate-key: mine\n", "x-callgate-model: m1\n",
        "x-callgate-session: s9\n", "x-callgate-call-id: call_1\n", "\n\n{\"id\": \"7\"}"}) {
    EXPECT_THAT(result.text, HasSubstr(line));
  }
  EXPECT_THAT(result.text, Not(HasSubstr("alice")));
}

TEST(HttpTool, fills_url_and_query_with_percent_encoded_arguments) {
  net::ServerThread server(echo);
  HttpToolConfig own;
  own.method = "GET";
  own.pass_context = false;
  const std::string arguments =
      R"({"id":"a/b?c ü","q":["x","y z"],"n":12345678901234567890,"on":true,"no":null,"o":{"a":1}})";
  const std::string text = run(tool_at(server.port(), "/orders/{id}?v=1", own), arguments).text;
  EXPECT_THAT(text, testing::StartsWith("GET /orders/a%2Fb%3Fc%20%C3%BC?v=1&q=x&q=y%20z"
                                        "&n=12345678901234567890&on=true&o=%7B%22a%22%3A1%7D\n"));
  EXPECT_THAT(text, Not(HasSubstr("callgate-")));
}

TEST(HttpTool, sends_only_the_chosen_arguments) {
  net::ServerThread server(echo);
  HttpToolConfig own;
  own.query = {"q"};
  own.body = {"b", "missing"};
  const std::string text = run(tool_at(server.port(), "/", own), R"({"a":1,"b":[2],"q":"x"})").text;
  EXPECT_THAT(text, testing::StartsWith("POST /?q=x\n"));
  EXPECT_THAT(text, testing::EndsWith("\n\n{\"b\":[2]}"));
}

TEST(HttpTool, says_which_argument_the_url_needs) {
  const ToolConfig config = tool_at(1, "/orders/{id}");
  EXPECT_THAT(run(config, "{}").text, HasSubstr("id: missing"));
  EXPECT_THAT(run(config, R"({"id":""})").text, HasSubstr("id: missing"));
  EXPECT_THAT(run(config, R"({"id":".."})").text, HasSubstr("\"..\""));
  EXPECT_THAT(run(config, "[1]").text, HasSubstr("expected a JSON object"));
  EXPECT_THAT(run(config, R"({"id":)").text, HasSubstr("not JSON"));
}

TEST(HttpTool, makes_an_error_result_of_a_status_with_a_preview) {
  net::ServerThread server([](net::Exchange& exchange) -> net::Task<> {
    const std::string body = "no such order" + std::string(100'000, '.');
    co_await exchange.respond(404, "text/plain", body);
  });
  HttpToolConfig own;
  own.preview_bytes = 20;
  const ToolResult result = run(tool_at(server.port(), "/", own), "{}");
  EXPECT_TRUE(result.is_error);
  EXPECT_TRUE(result.truncated);
  EXPECT_EQ(result.text, "HTTP 404 Not Found\nno such order.......");
}

TEST(HttpTool, follows_no_redirect) {
  net::ServerThread server([](net::Exchange& exchange) -> net::Task<> {
    net::Headers headers{{"location", "http://169.254.169.254/latest"}};
    co_await exchange.respond(302, headers, "");
  });
  const ToolResult result = run(tool_at(server.port(), "/"), "{}");
  EXPECT_TRUE(result.is_error);
  EXPECT_THAT(result.text, HasSubstr("redirects are not followed"));
}

TEST(HttpTool, refuses_what_is_no_text) {
  net::ServerThread server([](net::Exchange& exchange) -> net::Task<> {
    co_await exchange.respond(200, "image/png", "\x89PNG");
  });
  EXPECT_THAT(run(tool_at(server.port(), "/"), "{}").text, HasSubstr("image/png"));
  HttpToolConfig own;
  own.content_types = {"image/*"};
  const ToolResult result = run(tool_at(server.port(), "/", own), "{}");
  EXPECT_FALSE(result.is_error);
  EXPECT_EQ(result.text, "\xEF\xBF\xBDPNG");
}

TEST(HttpTool, cuts_a_large_answer_and_leaves) {
  net::ServerThread server([](net::Exchange& exchange) -> net::Task<> {
    net::Headers headers{{"content-type", "text/plain"}};
    exchange.start(200, headers);
    const std::string block(64 * 1024, 'x');
    // As long as anybody reads.
    while (true) {
      const auto written = co_await exchange.write(block);
      if (!written) co_return;
    }
  });
  ToolConfig config = tool_at(server.port(), "/");
  config.limits.result_bytes = 1000;
  const ToolResult result = run(config, "{}");
  EXPECT_FALSE(result.is_error);
  EXPECT_TRUE(result.truncated);
  EXPECT_EQ(result.text, std::string(1000, 'x'));
  EXPECT_TRUE(server.eventually([](net::HttpServer& it) { return it.active() == 0; }));
}

TEST(HttpTool, gives_up_on_a_server_that_never_answers_or_never_ends) {
  std::vector<net::RawUpstream::Script> scripts = {
      [](net::RawSocket& socket) {
        socket.receive_until("\r\n\r\n{}");
        socket.closed_within(5'000);
      },
      [](net::RawSocket& socket) {
        socket.receive_until("\r\n\r\n{}");
        socket.send("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\nbegun");
        while (!socket.closed_within(20)) socket.send(".");
      }};
  net::RawUpstream upstream(scripts);
  for (int i = 0; i < 2; ++i) {
    const ToolResult result = run(tool_at(upstream.target().port, "/"), "{}", net::Millis(120));
    EXPECT_TRUE(result.is_error);
    EXPECT_THAT(result.text, HasSubstr("120 ms"));
    EXPECT_LT(result.duration.count(), 4500);
  }
}

TEST(HttpTool, stops_at_once_when_cancelled) {
  net::ServerThread server([](net::Exchange& exchange) -> net::Task<> {
    co_await exchange.loop().sleep(net::Millis(60'000));
  });
  const ToolResult result = run(tool_at(server.port(), "/"), "{}", net::Millis(60'000), 30);
  EXPECT_EQ(result.text, kCancelledWords);
  EXPECT_LT(result.duration.count(), 30'000);
}

TEST(HttpTool, connects_to_nothing_that_is_not_the_internet_unless_listed) {
  net::ServerThread server(echo);
  const std::string port = std::to_string(server.port());
  // Names are judged by the address that they stand for.
  for (const char* host : {"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "10.255.255.1",
                           "169.254.169.254", "0.0.0.0"}) {
    const HttpToolConfig own{.url = "http://" + std::string(host) + ":" + port + "/"};
    const ToolResult result = run({.name = "it", .how = own}, "{}", net::Millis(2'000));
    EXPECT_TRUE(result.is_error) << host;
    EXPECT_THAT(result.text, HasSubstr("may not be connected to")) << host;
  }
  HttpToolConfig listed{.url = "http://localhost:" + port + "/"};
  listed.network.addresses = {"127.0.0.1"};
  EXPECT_FALSE(run({.name = "it", .how = listed}, "{}").is_error);
}

TEST(HttpTool, calls_only_listed_hosts) {
  net::ServerThread server(echo);
  HttpToolConfig own{.url = "http://{host}:" + std::to_string(server.port()) + "/"};
  own.network = {.hosts = {"127.0.*", "*.example.com"}, .addresses = {"127.0.0.1"}};
  const ToolConfig config{.name = "it", .how = own};
  EXPECT_FALSE(run(config, R"({"host":"127.0.0.1"})").is_error);
  EXPECT_THAT(run(config, R"({"host":"localhost"})").text, HasSubstr("not allowed"));
  EXPECT_TRUE(run(config, R"({"host":"127.0.0.1/@evil"})").is_error);
}

TEST(HttpTool, says_what_is_wrong_with_its_configuration) {
  net::Loop loop;
  const auto fault = [&loop](HttpToolConfig own) {
    const auto source = make_source(loop, {.name = "it", .how = std::move(own)});
    return source ? "" : source.error().message;
  };
  EXPECT_THAT(fault({.url = "ftp://x/"}), HasSubstr("tool it: "));
  EXPECT_THAT(fault({.url = "http://x/{id"}), HasSubstr("{argument}"));
  EXPECT_THAT(fault({.url = "http://{host}/"}), HasSubstr("must be listed"));
  EXPECT_THAT(fault({.url = "http://x/a b"}), HasSubstr("no space"));
  EXPECT_THAT(fault({.url = "http://x/", .headers = {{"a", "b\r\nc: d"}}}), HasSubstr("forbids"));
  EXPECT_THAT(fault({.url = "http://x/", .network = {.addresses = {"home"}}}),
              HasSubstr("a range"));
  EXPECT_EQ(fault({.url = "https://x/{a}?b={c}"}), "");
}

TEST(UrlTemplate, splits_a_url_where_its_path_begins) {
  const auto path_of = [](std::string_view text) {
    const auto parsed = UrlTemplate::parse(text);
    if (!parsed) return parsed.error().message;
    const auto place = parsed->expand({{"a", "\"x y\""}, {"b", "7"}});
    return place ? net::to_text(place->target) + " " + place->path : place.error().message;
  };
  EXPECT_EQ(path_of("http://host"), "host:80 /");
  EXPECT_EQ(path_of("http://host:81/"), "host:81 /");
  EXPECT_EQ(path_of("http://host?q={b}"), "host:80 /?q=7");
  EXPECT_EQ(path_of("http://host/{a}/{b}?q={a}&r"), "host:80 /x%20y/7?q=x%20y&r");
  EXPECT_EQ(path_of("http://host/?q=/../"), "host:80 /?q=/../");
  EXPECT_EQ(path_of("https://h{b}/x"), "h7:443 /x");
  EXPECT_THAT(path_of("http://host/{c}"), HasSubstr("c: missing or empty"));
  for (const char* bad :
       {"host/x", "{a}://host", "http://host/{}", "http://host/{a", "http://host/#f",
        "http://host/a b", "http://host/./x", "http://host/x/.."}) {
    EXPECT_FALSE(UrlTemplate::parse(bad)) << bad;
  }
}

TEST(UrlTemplate, knows_what_its_arguments_are_for) {
  const UrlTemplate open = UrlTemplate::parse("http://{a}/x").value();
  EXPECT_TRUE(open.has_open_host());
  EXPECT_TRUE(open.uses("a"));
  EXPECT_FALSE(open.uses("x"));
  EXPECT_FALSE(UrlTemplate::parse("http://host/{a}")->has_open_host());
  EXPECT_FALSE(UrlTemplate::parse("http://host?{a}")->has_open_host());
  std::string text;
  append_percent_encoded(text, "azAZ09-._~ /{|}\x7f\xff");
  EXPECT_EQ(text, "azAZ09-._~%20%2F%7B%7C%7D%7F%FF");
}

TEST(UrlTemplate, an_argument_cannot_climb_out_of_its_place) {
  const UrlTemplate url = UrlTemplate::parse("http://host/a/{x}/b").value();
  EXPECT_FALSE(url.expand({{"x", "\"..\""}}));
  EXPECT_FALSE(url.expand({{"x", "\".\""}}));
  EXPECT_FALSE(url.expand({{"x", "\"\""}}));
  EXPECT_FALSE(url.expand({{"x", "null"}}));
  EXPECT_FALSE(url.expand({{"x", "\"../c\""}}));
  EXPECT_EQ(url.expand({{"x", "\"..c/d\""}})->path, "/a/..c%2Fd/b");
  EXPECT_EQ(url.expand({{"x", "\"...\""}})->path, "/a/.../b");
}
// Answers with the status and the type that its query names.
net::Task<> as_asked(net::Exchange& exchange) {
  const std::string query(exchange.head().query);
  const int status = std::stoi(query);
  net::Headers headers;
  if (const std::size_t at = query.find('='); at != std::string::npos) {
    headers.add("content-type", query.substr(at + 1));
  }
  headers.add("location", "http://elsewhere/");
  co_await exchange.respond(status, headers, "body");
}

TEST(HttpTool, a_status_of_300_or_more_is_an_error) {
  net::ServerThread server(as_asked);
  const auto result = [&](const std::string& query) {
    return run(tool_at(server.port(), "/?" + query), "{}");
  };
  EXPECT_EQ(result("200").text, "body");
  EXPECT_FALSE(result("299").is_error);
  EXPECT_TRUE(result("300").is_error);
  EXPECT_THAT(result("399").text, HasSubstr("it names http://elsewhere/\nbody"));
  EXPECT_EQ(result("400").text, "HTTP 400 Bad Request\nbody");
  EXPECT_EQ(result("500=image/png").text, "HTTP 500 Internal Server Error");
}

TEST(HttpTool, knows_what_is_text) {
  net::ServerThread server(as_asked);
  const auto is_text = [&](const std::string& type) {
    return !run(tool_at(server.port(), "/?200=" + type), "{}").is_error;
  };
  for (const char* type :
       {"", "text/html;charset=utf-8", "TEXT/plain", "application/json", "application/vnd.x+json",
        "application/x-ndjson", "application/xml", "application/atom+xml", "application/javascript",
        "application/yaml", "application/x-yaml", "application/toml",
        "application/x-www-form-urlencoded"}) {
    EXPECT_TRUE(is_text(type)) << type;
  }
  for (const char* type :
       {"application/octet-stream", "image/svg", "application/jsonx", "texts/x"}) {
    EXPECT_FALSE(is_text(type)) << type;
  }
}

TEST(HttpTool, methods_without_a_body_have_their_arguments_in_the_query) {
  net::ServerThread server(echo);
  for (const char* method : {"GET", "DELETE", "POST", "PUT"}) {
    HttpToolConfig own;
    own.method = method;
    const std::string text = run(tool_at(server.port(), "/", own), R"({"a":1})").text;
    const bool in_query = method == std::string_view("GET") || method == std::string_view("DELETE");
    EXPECT_THAT(text, HasSubstr(in_query ? "/?a=1\n" : " /\n")) << method;
    EXPECT_THAT(text, testing::EndsWith(in_query ? "\n\n" : "\n\n{\"a\":1}")) << method;
  }
}
}  // namespace
}  // namespace callgate::tool::http_tool_test
