// For tests: a whole gateway on one event loop, with a request log that keeps its rows, model servers that say what a test
// tells them, and a client. A turn takes milliseconds and no second thread, unless tools are configured.
//
//   net::Loop loop;
//   FakeServer model(loop);
//   TestGateway gateway(loop, "[[upstream]]\nname = \"a\"\nurl = \"" + model.url() + "\"\n...");
//   model.then({.pieces = {"data: {...}\n\n", "data: [DONE]\n\n"}});
//   const TestAnswer answer = gateway.ask(R"({"model": "m", ...})", {{"x-callgate-timing", "1"}});
//   EXPECT_EQ(gateway.log().rows().back().outcome.bytes_out, answer.body.size());
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/tool_config.h"
#include "gateway/gateway.h"
#include "net/client.h"
#include "net/net_testing.h"
#include "store/request_log.h"
#include "tool/host.h"

namespace callgate::server {

// Keeps what it is told, in order. On the event loop's thread only.
class RecordingRequestLog final : public store::RequestLog {
 public:
  void begin(store::RequestRecord record) override {
    rows_.push_back({.record = std::move(record), .outcome = {}});
  }
  void complete(store::RequestOutcome outcome) override {
    ++completed_;
    if (std::exchange(throws_, false)) throw std::runtime_error("the log throws");
    for (store::RequestRow& row : rows_) {
      if (row.record.id == outcome.id && row.record.key_name == outcome.key_name) {
        row.outcome = std::move(outcome);
        return;
      }
    }
    ADD_FAILURE() << "completed without a beginning: " << outcome.id;
  }

  // The next turn ends in an exception.
  void throw_once() { throws_ = true; }
  // One per request that became a turn.
  const std::vector<store::RequestRow>& rows() const { return rows_; }
  // Every turn that began has ended.
  bool settled() const { return completed_ == rows_.size(); }

  store::Health health() const override { return {}; }
  std::uint64_t recorded() const override { return completed_; }
  bool flush(std::chrono::milliseconds) override { return true; }
  Result<std::vector<store::RequestRow>> recent(std::size_t) override { return rows_; }
  Result<std::optional<store::RequestRow>> get(store::RequestName) override { return std::nullopt; }
  Result<store::RequestPage> search(const store::RequestFilter&) override {
    return store::RequestPage{.rows = rows_, .cursor = {}};
  }
  Result<std::vector<store::CallRow>> calls(store::RequestName) override {
    return std::vector<store::CallRow>{};
  }
  Result<store::RequestContent> content(store::RequestName) override {
    return store::RequestContent{};
  }
  Result<std::vector<store::UsageRow>> usage(const store::UsageQuestion&) override {
    return std::vector<store::UsageRow>{};
  }
  Result<store::StoreStats> stats() override { return store::StoreStats{.engine = "none"}; }

 private:
  std::vector<store::RequestRow> rows_;
  std::size_t completed_ = 0;
  bool throws_ = false;
};

using HeaderPairs = std::vector<std::pair<std::string, std::string>>;

// A server on the test's event loop: a model, or an HTTP tool. Answers requests with the replies that it was given, in
// order; with 500 when none is left.
class FakeServer {
 public:
  struct Reply {
    int status = 200;
    HeaderPairs headers = {{"content-type", "text/event-stream"}};
    std::vector<std::string> pieces;     // of the body, each in a write of its own
    bool breaks_off = false;             // the connection breaks after the last piece
    net::Signal* before = nullptr;       // notified: the answer begins
    net::Signal* after_first = nullptr;  // notified: the answer goes on after its first piece
  };
  struct Asked {
    std::string path;
    std::string body;
    std::uint64_t at = 0;  // of the event loop's clock
    std::string method;
    std::string query;
  };

  explicit FakeServer(net::Loop& loop)
      : loop_(loop), server_(loop, {}, [this](net::Exchange& e) { return answer(e); }) {
    const auto bound = server_.listen({.host = "127.0.0.1"});
    if (!bound) throw std::runtime_error(bound.error().message);
    url_ = "http://127.0.0.1:" + std::to_string(bound->port);
  }

  const std::string& url() const { return url_; }
  void then(Reply reply) { replies_.push_back(std::move(reply)); }
  const std::vector<Asked>& asked() const { return asked_; }

 private:
  net::Task<> answer(net::Exchange& exchange) {
    const auto body = co_await exchange.body();
    if (!body) co_return;
    const net::RequestHead& head = exchange.head();
    asked_.push_back({std::string(head.path), std::string(*body), exchange.loop().now(),
                      std::string(head.method), std::string(head.query)});
    Reply reply{.status = 500, .headers = {}, .pieces = {"{}"}};
    if (!replies_.empty()) {
      reply = std::move(replies_.front());
      replies_.pop_front();
    }
    if (reply.before != nullptr) (void)co_await reply.before->wait(net::Millis(10'000));
    net::Headers headers;
    for (const auto& [name, value] : reply.headers) headers.add(name, value);
    exchange.start(reply.status, headers);
    for (std::size_t i = 0; i < reply.pieces.size(); ++i) {
      if (i == 1 && reply.after_first != nullptr) {
        (void)co_await reply.after_first->wait(net::Millis(10'000));
      }
      const auto written = co_await exchange.write(reply.pieces[i]);
      if (!written) co_return;
      co_await loop_.sleep(net::Millis(0));  // the other side gets it in a read of its own
    }
    if (reply.breaks_off) co_return exchange.abort();
    (void)co_await exchange.end();
  }

  net::Loop& loop_;
  net::HttpServer server_;
  std::string url_;
  std::deque<Reply> replies_;
  std::vector<Asked> asked_;
};

struct TestAnswer {
  int status = 0;
  HeaderPairs headers;
  std::string body;

  // Empty if it is missing.
  std::string header(std::string_view name) const {
    for (const auto& [known, value] : headers) {
      if (known == name) return value;
    }
    return {};
  }
};

class TestGateway {
 public:
  // REQUIRES: the loop outlives the gateway. Throws when the configuration is wrong.
  TestGateway(net::Loop& loop, const std::string& toml) : TestGateway(loop, parse(toml)) {}
  TestGateway(net::Loop& loop, const Config& config)
      : loop_(loop),
        gateway_(world_, rooms_, loop, 7),
        server_(loop, server_options(world_),
                [this](net::Exchange& e) { return gateway_.answer(e); }),
        client_(loop, {}) {
    rooms_.set_memory(world_.memory);
    if (!config.tools.empty() || !config.hooks.empty()) {
      auto set = to_tool_set(config);
      if (!set) throw std::runtime_error(set.error().message);
      auto host = tool::ToolHost::start(*set, [](std::string_view) {});
      if (!host) throw std::runtime_error(host.error().message);
      tools_ = std::move(*host);
      if (!tools_->wait_until_listed(net::Millis(10'000))) throw std::runtime_error("tools");
      world_.tools = tools_.get();
    }
    apply(config);
    const auto bound = server_.listen({.host = "127.0.0.1"});
    if (!bound) throw std::runtime_error(bound.error().message);
    target_ = {.host = "127.0.0.1", .port = bound->port};
  }

  static Config parse(const std::string& toml) {
    auto config = parse_config(toml, "test.toml");
    if (!config) throw std::runtime_error(config.error().message);
    return std::move(*config);
  }
  // As a reload does.
  void apply(const Config& config) {
    const auto applied = gateway_.apply(
        std::make_shared<Snapshot>(config, Access(config.keys, nullptr), world_.catalogue));
    if (!applied) throw std::runtime_error(applied.error().message);
  }

  // A whole exchange. Comes back when the turn, if it became one, is in the log.
  TestAnswer ask(std::string_view body, const HeaderPairs& headers = {},
                 std::string_view path = "/v1/chat/completions") {
    TestAnswer answer;
    run(ask_on_loop(body, headers, path, answer));
    return answer;
  }
  // For tests that do something while the answer is under way: runs the loop until `task` ends and the log is settled.
  void run(net::Task<> task) { net::run_to_end(loop_, settle(std::move(task))); }

  net::Loop& loop() { return loop_; }
  Gateway& gateway() { return gateway_; }
  World& world() { return world_; }
  RecordingRequestLog& log() { return log_; }
  net::HttpClient& client() { return client_; }
  const net::Target& target() const { return target_; }
  // Stays valid until the next wait.
  static net::ClientRequest request(std::string_view body, const HeaderPairs& headers = {},
                                    std::string_view path = "/v1/chat/completions") {
    net::ClientRequest made{.method = "POST", .path = path, .headers = {}, .body = body};
    made.headers.add("content-type", "application/json");
    for (const auto& [name, value] : headers) made.headers.add(name, value);
    return made;
  }

 private:
  static net::ServerOptions server_options(World& world) {
    net::ServerOptions options;
    options.memory = &world.memory;
    return options;
  }
  net::Task<> ask_on_loop(std::string_view body, const HeaderPairs& headers, std::string_view path,
                          TestAnswer& answer) {
    net::ClientExchange exchange(client_, target_);
    const net::ClientRequest asked = request(body, headers, path);
    const auto sent = co_await exchange.send(asked);
    if (!sent) co_return;
    answer.status = exchange.status();
    for (const net::Header header : exchange.headers()) {
      answer.headers.emplace_back(header.name, header.value);
    }
    auto all = co_await exchange.read_all(std::size_t{16} << 20);
    if (all) answer.body = std::move(*all);
  }

  net::Task<> settle(net::Task<> task) {
    co_await std::move(task);
    for (int i = 0; i < 10'000 && !log_.settled(); ++i) co_await loop_.sleep(net::Millis(1));
    EXPECT_TRUE(log_.settled()) << "a turn has not ended";
  }

  net::Loop& loop_;
  telemetry::Logger logger_{{.level = telemetry::LogLevel::error}};
  telemetry::Metrics metrics_;
  RecordingRequestLog log_;
  World world_{logger_, metrics_, log_, 100};
  Rooms rooms_;
  std::unique_ptr<tool::ToolHost> tools_;
  Gateway gateway_;
  net::HttpServer server_;
  net::HttpClient client_;
  net::Target target_;
};

}  // namespace callgate::server
