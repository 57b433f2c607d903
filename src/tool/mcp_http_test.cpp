// The client against servers over HTTP: our own protocol code, and one that keeps sessions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

#include "json/member.h"
#include "sse/encoder.h"
#include "tool/mcp_client.h"
#include "tool/mcp_server.h"
#include "tool/tool_testing.h"

namespace callgate::tool::mcp_http_test {
namespace {

using testing::HasSubstr;

ToolConfig server_at(std::uint16_t port, McpRevision revision = McpRevision::automatic) {
  McpToolConfig own{.url = "http://127.0.0.1:" + std::to_string(port) + "/mcp"};
  own.network.addresses = {"127.0.0.1"};
  own.revision = revision;
  own.backoff = net::Millis(20);
  own.start_timeout = net::Millis(3'000);
  return {.name = "web", .limits = {.timeout = net::Millis(5'000)}, .how = own};
}

class Served {
 public:
  explicit Served(const ToolConfig& config) : source_(std::move(*make_source(loop_, config))) {}
  Result<void> refresh() {
    Result<void> result;
    const auto task = [](ToolSource& source, Result<void>& out) -> net::Task<> {
      out = co_await source.refresh();
    };
    net::run_to_end(loop_, task(*source_, result));
    return result;
  }
  ToolResult run(const std::string& name, const std::string& arguments = "{}", int timeout = 5'000,
                 int cancel_after_ms = -1) {
    for (const auto& tool : source_->tools()) {
      if (tool->spec().name != "web__" + name) continue;
      return run_tool(loop_, *tool, call_with(arguments), net::Millis(timeout), cancel_after_ms);
    }
    return error_result("no such tool");
  }
  bool eventually(const std::function<bool()>& condition) {
    const auto task = [](net::Loop& on, const std::function<bool()>& wanted) -> net::Task<> {
      for (int i = 0; i < 4000 && !wanted(); ++i) co_await on.sleep(net::Millis(5));
    };
    net::run_to_end(loop_, task(loop_, condition));
    return condition();
  }
  ToolSource& source() { return *source_; }

 private:
  net::Loop loop_;
  std::unique_ptr<ToolSource> source_;
};

net::Task<> send(net::Exchange& exchange, const McpReply& reply) {
  net::Headers headers;
  for (const auto& [name, value] : reply.headers) headers.add(name, value);
  co_await exchange.respond(reply.status, headers, reply.body);
}

// Our server's side: `add` answers at once, `slow` as a stream.
net::Task<> serve(net::Exchange& exchange) {
  static const std::vector<ToolSpec> kTools = {
      {.name = "add",
       .parameters = {R"({"properties":{"to":{"type":"string","x-mcp-header":"To"}}})"}},
      {.name = "slow"}};
  const McpServer server;
  const auto body = co_await exchange.body();
  McpHttpRequest request{.method = exchange.head().method, .body = *body};
  request.header = [&](std::string_view name) { return exchange.head().headers.find(name); };
  const McpAction action = server.accept(request, kTools);
  if (const auto* reply = std::get_if<McpReply>(&action)) co_return co_await send(exchange, *reply);
  const auto* run = std::get_if<McpRun>(&action);
  if (run == nullptr) {
    const McpReply head = server.stream_head();
    net::Headers headers;
    for (const auto& [name, value] : head.headers) headers.add(name, value);
    exchange.start(200, headers);
    const auto& listen = std::get<McpListen>(action);
    co_await exchange.write(listen.first);
    const std::string changed = server.list_changed_frame(listen);
    co_await exchange.write(changed);
    co_await exchange.loop().sleep(net::Millis(60'000));
    co_return;
  }
  ToolResult result;
  result.text = run->arguments + (run->stateless ? " stateless" : " session");
  if (run->tool == "add") {
    const McpReply reply = server.answer(*run, result);
    co_return co_await send(exchange, reply);
  }
  const McpReply head = server.stream_head();
  net::Headers headers;
  for (const auto& [name, value] : head.headers) headers.add(name, value);
  exchange.start(200, headers);
  co_await exchange.flush();
  co_await exchange.loop().sleep(net::Millis(30));
  const std::string last = server.last_frame(*run, result);
  co_await exchange.end(last);
}

TEST(McpHttp, speaks_either_revision_with_our_own_server) {
  net::ServerThread http(serve);
  for (const McpRevision revision : {McpRevision::automatic, McpRevision::session_2025_11_25,
                                     McpRevision::stateless_2026_07_28}) {
    const bool session = revision == McpRevision::session_2025_11_25;
    Served served(server_at(http.port(), revision));
    const auto ready = served.refresh();
    ASSERT_TRUE(ready.has_value()) << ready.error().message;
    EXPECT_EQ(served.run("add", R"({"to":"ü"})").text,
              std::string(R"({"to":"ü"})") + (session ? " session" : " stateless"));
    EXPECT_THAT(served.run("slow").text, HasSubstr(session ? "session" : "stateless"));
    const ToolResult late = served.run("slow", "{}", 10);
    EXPECT_TRUE(late.is_error);
    EXPECT_EQ(late.text, "timed out after 10 ms");
  }
}

// A server that keeps sessions, forgets them when told, and cuts its streams.
class SessionServer {
 public:
  net::Task<> operator()(net::Exchange& exchange) {
    const auto body = co_await exchange.body();
    const std::string method(exchange.head().method);
    const auto& headers = exchange.head().headers;
    const std::string session(headers.find("mcp-session-id").value_or(""));
    const McpMessage message = read_mcp_message(*body);
    note(method + " " + message.method + " " + session);
    if (method == "DELETE") co_return co_await reply(exchange, 200, "");
    if (message.method == "server/discover") co_return co_await reply(exchange, 400, "Bad Request");
    if (message.method == "initialize") {
      session_ = "s" + std::to_string(++sessions_);
      net::Headers out{{"content-type", "application/json"}, {"mcp-session-id", session_}};
      const std::string text = write_mcp_result(
          message.id,
          R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}}})");
      co_await exchange.respond(200, out, text);
      co_return;
    }
    if (session != session_) co_return co_await reply(exchange, 404, "no such session");
    if (method == "GET")
      co_return co_await resume(exchange, headers.find("last-event-id").value_or(""));
    if (message.kind != McpMessage::Kind::request) co_return co_await reply(exchange, 202, "");
    if (message.method == "tools/list") {
      const std::string list =
          R"({"tools":[{"name":"forget"},{"name":"cut"},{"name":"loud"},{"name":"html"},{"name":"never"})" +
          std::string(grown_ ? R"(,{"name":"grown"})" : "") + "]}";
      co_return co_await reply(exchange, 200, write_mcp_result(message.id, list));
    }
    co_await call(exchange, message);
  }

  void note(const std::string& line) {
    const std::lock_guard lock(mutex_);
    log_ += line + "\n";
  }
  std::string log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }

 private:
  static net::Task<> reply(net::Exchange& exchange, int status, std::string text) {
    co_await exchange.respond(status, "application/json", text);
  }
  static std::string answer(std::string_view id, std::string_view text) {
    return write_mcp_result(id,
                            R"({"content":[{"type":"text","text":")" + std::string(text) + "\"}]}");
  }
  net::Task<> call(net::Exchange& exchange, const McpMessage& message) {
    const std::string tool = json::member_text(message.params, "name");
    if (tool == "forget" && !std::exchange(forgot_, true)) {
      session_ = "gone";
      co_return co_await reply(
          exchange, 404,
          R"({"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null})");
    }
    if (tool == "html") co_return co_await reply(exchange, 502, "<html>Bad Gateway</html>");
    if (tool == "never") {
      co_await exchange.loop().sleep(net::Millis(60'000));
      co_return;
    }
    if (tool == "forget") co_return co_await reply(exchange, 200, answer(message.id, "again"));
    net::Headers out{{"content-type", "text/event-stream"}};
    exchange.start(200, out);
    if (tool == "cut") {
      cut_id_ = message.id;
      co_await exchange.end("id: 5\ndata:\n\ndata: {\"half");
      co_return;
    }
    grown_ = true;
    std::string frames;
    append_frame(frames, "message", write_mcp_notification("notifications/tools/list_changed", ""));
    append_frame(frames, "message", answer(message.id, "loud"));
    co_await exchange.end(frames);
  }
  net::Task<> resume(net::Exchange& exchange, std::string_view last_event) {
    const std::string id(last_event);
    net::Headers out{{"content-type", "text/event-stream"}};
    if (id != "5") co_return co_await reply(exchange, 405, "");
    exchange.start(200, out);
    std::string frame;
    append_frame(frame, "message", answer(cut_id_, "resumed"));
    co_await exchange.end(frame);
  }

  std::mutex mutex_;
  std::string log_;
  std::string session_;
  std::string cut_id_;
  int sessions_ = 0;
  bool forgot_ = false;
  bool grown_ = false;
};

TEST(McpHttp, keeps_a_session_and_begins_another_when_it_is_forgotten) {
  SessionServer script;
  net::ServerThread http([&](net::Exchange& exchange) { return script(exchange); });
  {
    Served served(server_at(http.port()));
    const auto ready = served.refresh();
    ASSERT_TRUE(ready.has_value()) << ready.error().message;
    EXPECT_EQ(served.run("forget").text, "again");
    EXPECT_THAT(script.log(), HasSubstr("POST tools/call s1\n"));
    EXPECT_THAT(script.log(), HasSubstr("POST tools/call s2\n"));
    EXPECT_EQ(served.run("cut").text, "resumed");
    EXPECT_EQ(served.run("loud").text, "loud");
    EXPECT_TRUE(served.eventually([&] { return served.source().tools().size() == 6; }));
    const ToolResult html = served.run("html");
    EXPECT_TRUE(html.is_error);
    EXPECT_THAT(html.text, HasSubstr("HTTP 502 Bad Gateway: <html>"));
    const ToolResult cancelled = served.run("never", "{}", 60'000, 30);
    EXPECT_EQ(cancelled.text, kCancelledWords);
    EXPECT_LT(cancelled.duration.count(), 30'000);
    EXPECT_TRUE(served.eventually(
        [&] { return script.log().find("POST notifications/cancelled s2") != std::string::npos; }));
  }
}

TEST(McpHttp, does_not_connect_where_it_may_not) {
  net::ServerThread http(serve);
  ToolConfig config = server_at(http.port());
  std::get<McpToolConfig>(config.how).network.addresses.clear();
  Served served(config);
  EXPECT_THAT(served.refresh().error().message, HasSubstr("may not be connected to"));
}

TEST(McpHttp, says_what_is_wrong_with_its_configuration) {
  net::Loop loop;
  EXPECT_FALSE(make_source(loop, {.name = "a", .how = McpToolConfig{}}).has_value());
  EXPECT_FALSE(
      make_source(loop, {.name = "a", .how = McpToolConfig{.url = "ftp://x"}}).has_value());
  EXPECT_FALSE(
      make_source(loop, {.name = "a", .how = McpToolConfig{.command = {"x"}, .url = "http://x/"}})
          .has_value());
}

// Gives a session and one tool, whose stream always breaks off with a number that invites to go on.
class BreakingServer {
 public:
  net::Task<> operator()(net::Exchange& exchange) {
    const auto body = co_await exchange.body();
    const McpMessage message = read_mcp_message(*body);
    const std::string_view event = exchange.head().headers.find("last-event-id").value_or("");
    for (const net::Header header : exchange.head().headers) {
      if (header.name.starts_with("mcp-param") || header.name.starts_with("Mcp-Param")) ++params_;
    }
    if (message.method == "server/discover") {
      (void)co_await exchange.respond(400, "text/plain", "Bad Request");
    } else if (message.method == "initialize") {
      const std::string text = write_mcp_result(
          message.id, R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}}})");
      (void)co_await exchange.respond(200, "application/json", text);
    } else if (message.method == "tools/list") {
      const std::string text = write_mcp_result(
          message.id, R"({"tools":[{"name":"cut","inputSchema":{"type":"object","properties":)"
                      R"({"to":{"type":"string","x-mcp-header":"To"}}}}]})");
      (void)co_await exchange.respond(200, "application/json", text);
    } else if (message.method == "tools/call" || !event.empty()) {
      if (!event.empty()) ++resumes_;
      (void)co_await exchange.respond(200, "text/event-stream", "id: 5\nretry: 0\ndata: {}\n\n");
    } else {
      (void)co_await exchange.respond(exchange.head().method == "GET" ? 405 : 202, "text/plain",
                                      "");
    }
  }
  int resumes() const { return resumes_; }
  int params() const { return params_; }

 private:
  std::atomic<int> resumes_ = 0;
  std::atomic<int> params_ = 0;
};

TEST(McpHttp, goes_on_with_a_stream_that_breaks_off_only_so_often) {
  BreakingServer script;
  net::ServerThread http([&](net::Exchange& exchange) { return script(exchange); });
  Served served(server_at(http.port()));
  const auto ready = served.refresh();
  ASSERT_TRUE(ready.has_value()) << ready.error().message;
  const ToolResult result = served.run("cut", R"({"to":"x"})", 60'000);
  EXPECT_TRUE(result.is_error);
  EXPECT_THAT(result.text, HasSubstr("ended without a result"));
  EXPECT_EQ(script.resumes(), 100);
  EXPECT_EQ(script.params(), 0) << "an older revision knows no parameters in headers";
}
}  // namespace
}  // namespace callgate::tool::mcp_http_test
