// Whole requests against a gateway in this process: what its log says of them, and what the client got.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "net/client.h"
#include "net/net_testing.h"
#include "server/gateway.h"

namespace callgate::server {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kStream =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"}}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
    "data: [DONE]\n\n";

class OneGateway {
 public:
  // `upstream_body`: what the HTTP upstream of the model `http` answers, at once. `script`: what `scripted` plays.
  OneGateway(std::string_view upstream_body, std::string_view script)
      : upstream_{loop_, {}, [upstream_body](net::Exchange& exchange) -> net::Task<> {
                    (void)co_await exchange.body();
                    (void)co_await exchange.respond(200, "text/event-stream", upstream_body);
                  }} {
    const auto upstream = upstream_.listen({.host = "127.0.0.1"});
    EXPECT_TRUE(upstream);
    const std::string file =
        testing::TempDir() + "callgate_turn_answer_test." + std::to_string(::getpid());
    std::ofstream(file) << script;
    Config config;
    UpstreamConfig http;
    http.name = "http";
    http.url = "http://127.0.0.1:" + std::to_string(upstream->port) + "/v1";
    UpstreamConfig scripted;
    scripted.name = "scripted";
    scripted.wire = "script";
    scripted.url = file;
    config.upstreams = {http, scripted};
    for (const UpstreamConfig& each : config.upstreams) {
      ModelConfig model;
      model.name = each.name;
      model.upstream = {each.name};
      model.loop = each.wire == "script";
      config.models.push_back(model);
    }
    EXPECT_TRUE(gateway_.apply(std::make_shared<Snapshot>(config, Access({}, nullptr))));
    std::remove(file.c_str());
    const auto bound = server_.listen({.host = "127.0.0.1"});
    EXPECT_TRUE(bound);
    target_ = {.host = "127.0.0.1", .port = bound->port};
  }

  std::string ask(std::string_view model, bool stream) {
    const std::string body = "{\"model\":\"" + std::string(model) +
                             "\",\"stream\":" + (stream ? "true" : "false") +
                             R"(,"messages":[{"role":"user","content":"hi"}]})";
    std::string answer;
    net::run_to_end(loop_, ask_on_loop(body, answer));
    return answer;
  }

  // Of the last request, once the gateway is done with it.
  std::int64_t bytes_out() {
    for (int tries = 0; tries < 500; ++tries) {
      EXPECT_TRUE(requests_->flush(std::chrono::seconds(10)));
      const auto rows = requests_->recent(1);
      const bool done =
          rows && !rows->empty() && rows->front().outcome.state != store::RequestState::running;
      if (done) return rows->front().outcome.bytes_out;
      net::run_to_end(loop_, pause());
    }
    return -1;
  }

 private:
  net::Task<> pause() { co_await loop_.sleep(net::Millis(10)); }

  net::Task<> ask_on_loop(const std::string& body, std::string& answer) {
    net::ClientExchange exchange(client_, target_);
    net::ClientRequest request{
        .method = "POST", .path = "/v1/chat/completions", .headers = {}, .body = body};
    request.headers.add("content-type", "application/json");
    const auto sent = co_await exchange.send(request);
    if (!sent) co_return;
    auto all = co_await exchange.read_all(std::size_t{1} << 20);
    if (all && exchange.status() == 200) answer = std::move(*all);
  }

  telemetry::Logger log_{{.level = telemetry::LogLevel::error}};
  telemetry::Metrics metrics_;
  std::unique_ptr<store::RequestLog> requests_ = *store::make_request_log("sqlite::memory:");
  World world_{log_, metrics_, *requests_, 100};
  net::Loop loop_;
  net::HttpServer upstream_;
  Gateway gateway_{world_, loop_, 7};
  net::HttpServer server_{loop_, {}, [this](net::Exchange& e) { return gateway_.answer(e); }};
  net::HttpClient client_{loop_, {}};
  net::Target target_;
};

TEST(TurnAnswer, counts_each_byte_of_a_stream_that_comes_in_one_read_once) {
  OneGateway gateway(kStream, "text \"Hi\"\n");
  const std::string streamed = gateway.ask("http", true);
  EXPECT_THAT(streamed, HasSubstr("Hello"));
  EXPECT_EQ(gateway.bytes_out(), static_cast<std::int64_t>(streamed.size()));
  const std::string whole = gateway.ask("http", false);
  EXPECT_THAT(whole, HasSubstr("Hello"));
  EXPECT_EQ(gateway.bytes_out(), static_cast<std::int64_t>(whole.size()));
}

TEST(TurnAnswer, of_a_loop_has_the_usage_that_the_script_states) {
  OneGateway gateway(kStream, "text \"Hi\"\nusage prompt=41 completion=7\n");
  const std::string whole = gateway.ask("scripted", false);
  EXPECT_THAT(whole, HasSubstr(R"("usage":{"prompt_tokens":41,"completion_tokens":7)"));
  EXPECT_THAT(whole, Not(HasSubstr("estimated")));
}

}  // namespace
}  // namespace callgate::server
