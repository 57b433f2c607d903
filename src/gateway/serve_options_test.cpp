#include "gateway/serve_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "net/net_testing.h"

namespace callgate::server::serve_options_test {
namespace {

using testing::HasSubstr;

class ServeOptionsTest : public testing::Test {
 protected:
  std::vector<std::string> lines_;
  telemetry::Logger log_{{.write = [this](std::string_view line) { lines_.emplace_back(line); }}};
  telemetry::Metrics metrics_;
  store::NullRequestLog requests_;
  World world_{log_, metrics_, requests_, 100};
  Config config_;
};

TEST_F(ServeOptionsTest, gives_the_server_its_limits) {
  config_.limits.max_header_bytes = {11};
  config_.limits.max_headers = 12;
  config_.limits.max_body = {13};
  config_.limits.header_timeout = Milliseconds(14);
  config_.limits.body_timeout = Milliseconds(15);
  config_.limits.keep_alive_timeout = Milliseconds(16);
  config_.limits.write_timeout = Milliseconds(17);
  config_.limits.max_connections = 18;
  const net::ServerOptions options = server_options(config_, world_, 1);
  EXPECT_EQ(options.limits.head_bytes, 11u);
  EXPECT_EQ(options.limits.header_count, 12u);
  EXPECT_EQ(options.limits.body_bytes, 13u);
  EXPECT_EQ(options.head_timeout, net::Millis(14));
  EXPECT_EQ(options.body_idle_timeout, net::Millis(15));
  EXPECT_EQ(options.keep_alive_timeout, net::Millis(16));
  EXPECT_EQ(options.write_stall_timeout, net::Millis(17));
  EXPECT_EQ(options.max_connections, 18);
  EXPECT_EQ(options.open_connections, &world_.connections);
}

TEST_F(ServeOptionsTest, errors_of_the_server_are_written_as_those_of_the_gateway) {
  const net::ServerOptions options = server_options(config_, world_, 1);
  const auto body = [&](int status, std::string_view message, std::string_view path) {
    net::Headers headers;
    return options.error_body(status, message, path, headers);
  };
  EXPECT_THAT(body(413, "too large", "/v1/chat/completions"),
              HasSubstr(R"("type":"invalid_request_error")"));
  EXPECT_THAT(body(500, "broken", ""), HasSubstr(R"("message":"broken")"));
  EXPECT_THAT(body(500, "broken", ""), testing::Not(HasSubstr("invalid_request")));
}

TEST_F(ServeOptionsTest, errors_of_the_server_have_an_id) {
  const net::ServerOptions options = server_options(config_, world_, 1);
  net::Headers headers;
  const std::string body = options.error_body(413, "too large", "/v1/messages", headers);
  const std::string id(headers.find("x-request-id").value_or(""));
  EXPECT_THAT(id, testing::StartsWith("req_"));
  EXPECT_EQ(headers.find("request-id").value_or(""), id);
  EXPECT_THAT(body, HasSubstr("\"request_id\":\"" + id + "\""));
  net::Headers next;
  (void)options.error_body(413, "too large", "/v1/messages", next);
  EXPECT_NE(next.find("x-request-id").value_or(""), id);
}

TEST_F(ServeOptionsTest, faults_of_the_server_are_logged_and_counted) {
  server_options(config_, world_, 1).log("it broke");
  EXPECT_EQ(metrics_.exceptions.with().value(), 1u);
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_THAT(lines_[0], HasSubstr("error it broke"));
}

TEST_F(ServeOptionsTest, faults_of_tasks_are_logged_and_counted) {
  net::Loop loop;
  report_faults(loop, world_);
  net::run_to_end(loop, [](net::Loop& on) -> net::Task<> {
    const auto throwing = []() -> net::Task<> {
      throw std::runtime_error("no more memory");
      co_return;
    };
    for (int i = 0; i < 3; ++i) on.spawn(throwing());
    co_return;
  }(loop));
  EXPECT_EQ(metrics_.exceptions.with().value(), 3u);
  ASSERT_EQ(lines_.size(), 1u) << "the log has a limit";
  EXPECT_THAT(lines_[0], HasSubstr("a task broke off: no more memory"));
}

TEST_F(ServeOptionsTest, gives_conversations_their_limits) {
  config_.limits.conversations = 7;
  config_.limits.conversation_ttl = Milliseconds(8);
  const ConversationLimits limits = conversation_limits(config_.limits);
  EXPECT_EQ(limits.answers, 7u);
  EXPECT_EQ(limits.ttl_ms, 8u);
}

TEST_F(ServeOptionsTest, gives_the_request_log_what_the_store_says) {
  StoreConfig store;
  store.queue = 21;
  store.queue_bytes = {22};
  store.journal = "a.journal";
  store.journal_bytes = {24};
  store.keep = Milliseconds(25);
  store.keep_bytes = {26};
  store.connect_timeout = Milliseconds(27);
  store.statement_timeout = Milliseconds(28);
  store.synchronous = "full";
  const store::RequestLogOptions options = store_options(store, log_);
  EXPECT_EQ(options.queue_limit, 21u);
  EXPECT_EQ(options.queue_bytes, 22u);
  EXPECT_EQ(options.journal, "a.journal");
  EXPECT_EQ(options.journal_bytes, 24u);
  EXPECT_EQ(options.keep, Milliseconds(25));
  EXPECT_EQ(options.keep_bytes, 26u);
  EXPECT_EQ(options.connect_timeout, Milliseconds(27));
  EXPECT_EQ(options.statement_timeout, Milliseconds(28));
  EXPECT_EQ(options.synchronous, store::Synchronous::full);
  options.on_problem("disk full");
  EXPECT_THAT(lines_.at(0), HasSubstr("store: disk full"));
}

TEST_F(ServeOptionsTest, the_other_words_of_the_store_mean_the_opposite) {
  StoreConfig store;
  store.synchronous = "normal";
  store.when_down = "closed";
  store.journal = "a.journal";
  const store::RequestLogOptions options = store_options(store, log_);
  EXPECT_EQ(options.synchronous, store::Synchronous::normal);
  EXPECT_EQ(options.journal, "") << "a closed gateway writes nothing beside the store";
}

TEST_F(ServeOptionsTest, gives_sessions_what_the_store_says) {
  config_.store.synchronous = "full";
  config_.store.connect_timeout = Milliseconds(31);
  config_.store.statement_timeout = Milliseconds(32);
  config_.limits.conversation_ttl = Milliseconds(33);
  const store::SessionsOptions options = sessions_options(config_, log_);
  EXPECT_EQ(options.database.synchronous, store::Synchronous::full);
  EXPECT_EQ(options.database.connect_timeout, Milliseconds(31));
  EXPECT_EQ(options.database.statement_timeout, Milliseconds(32));
  EXPECT_EQ(options.keep, Milliseconds(33));
  options.on_problem("gone");
  EXPECT_THAT(lines_.at(0), HasSubstr("store: gone"));
}

TEST_F(ServeOptionsTest, gives_the_exporter_what_otlp_says) {
  OtlpConfig otlp;
  otlp.endpoint = "http://otlp.test";
  otlp.headers = {{"a", "b"}};
  otlp.service_name = "gate";
  otlp.ca_file = "ca.pem";
  otlp.queue = 41;
  otlp.batch = 42;
  otlp.interval = Milliseconds(43);
  otlp.timeout = Milliseconds(44);
  otlp.sample_ratio = 0.25;
  const telemetry::SpanExporterOptions options = span_options(otlp);
  EXPECT_EQ(options.endpoint, "http://otlp.test");
  EXPECT_EQ(options.headers, otlp.headers);
  EXPECT_EQ(options.service, "gate");
  EXPECT_EQ(options.ca_file, "ca.pem");
  EXPECT_EQ(options.queue, 41u);
  EXPECT_EQ(options.batch, 42u);
  EXPECT_EQ(options.interval, net::Millis(43));
  EXPECT_EQ(options.timeout, net::Millis(44));
  EXPECT_EQ(options.sample_ratio, 0.25);
}

}  // namespace
}  // namespace callgate::server::serve_options_test
