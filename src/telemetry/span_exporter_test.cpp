#include "telemetry/span_exporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "net/net_testing.h"

namespace callgate::telemetry::span_exporter_test {
namespace {

using testing::HasSubstr;

// A receiver that gives the statuses of a list, then 200, and keeps what it was sent.
class Receiver {
 public:
  explicit Receiver(std::vector<int> statuses = {}, std::string body = "{}")
      : statuses_(std::move(statuses)),
        body_(std::move(body)),
        server_([this](net::Exchange& exchange) { return answer(exchange); }) {}

  SpanExporterOptions options() const {
    SpanExporterOptions options;
    options.endpoint = "http://127.0.0.1:" + std::to_string(server_.port()) + "/otel/v1/traces";
    options.headers = {{"authorization", "Basic abc"}};
    options.interval = net::Millis(5);
    options.first_retry = net::Millis(1);
    options.close_timeout = net::Millis(5'000);
    return options;
  }
  // The body of a good answer comes some time after its head.
  void answer_late() { late_ = true; }
  std::vector<std::string> requests() {
    return server_.on_loop([this](net::HttpServer&) { return requests_; });
  }

 private:
  net::Task<> answer(net::Exchange& exchange) {
    const auto body = co_await exchange.body();
    const net::RequestHead& head = exchange.head();
    std::string request = std::string(head.path) + "\n";
    request.append(head.headers.find("authorization").value_or("")).append("\n");
    if (body) request.append(*body);
    requests_.push_back(std::move(request));
    const std::size_t turn = requests_.size() - 1;
    const int status = turn < statuses_.size() ? statuses_[turn] : 200;
    if (status == 0) {
      co_await exchange.loop().sleep(net::Millis(60'000));
      co_return;
    }
    net::Headers headers{{"content-type", "application/json"}};
    if (status == 429) headers.add("retry-after", "1");
    if (status == 200 && late_) {
      exchange.start(status, headers);
      (void)co_await exchange.flush();
      co_await exchange.loop().sleep(net::Millis(20));
      (void)co_await exchange.end(body_);
      co_return;
    }
    co_await exchange.respond(status, headers, body_);
  }

  const std::vector<int> statuses_;
  const std::string body_;
  std::atomic<bool> late_ = false;
  std::vector<std::string> requests_;
  net::ServerThread server_;
};

std::vector<Span> spans(std::size_t count, std::string_view name = "s") {
  std::vector<Span> made(count);
  for (Span& span : made) span = {.trace = {1, 2}, .id = 3, .name = std::string(name)};
  return made;
}

class SpanExporterTest : public testing::Test {
 protected:
  std::unique_ptr<SpanExporter> make(SpanExporterOptions options) {
    auto exporter = SpanExporter::make(std::move(options), log_);
    EXPECT_TRUE(exporter) << exporter.error().message;
    return std::move(*exporter);
  }
  static bool eventually(const std::function<bool()>& condition) {
    for (int i = 0; i < 5000; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return false;
  }

  std::mutex mutex_;
  std::string lines_;
  Logger log_{{.write = [this](std::string_view line) {
    const std::lock_guard lock(mutex_);
    lines_ += line;
  }}};
};

TEST_F(SpanExporterTest, posts_batches_with_its_headers) {
  Receiver receiver;
  SpanExporterOptions options = receiver.options();
  options.batch = 3;
  options.interval = net::Millis(60'000);
  const auto exporter = make(options);
  exporter->push(spans(4, "chat m"));
  ASSERT_TRUE(eventually([&] { return exporter->counts().sent == 3; }));
  EXPECT_EQ(exporter->counts().queued, 1u);  // less than a batch waits for the interval
  const std::vector<std::string> requests = receiver.requests();
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_THAT(requests[0], testing::StartsWith("/otel/v1/traces\nBasic abc\n{\"resourceSpans\":["));
  EXPECT_THAT(requests[0], HasSubstr("\"name\":\"chat m\""));
}

TEST_F(SpanExporterTest, sends_what_is_left_when_it_ends) {
  Receiver receiver;
  SpanExporterOptions options = receiver.options();
  options.batch = 2;
  options.interval = net::Millis(60'000);
  auto exporter = make(options);
  exporter->push(spans(1));
  exporter.reset();
  EXPECT_EQ(receiver.requests().size(), 1u);
}

TEST_F(SpanExporterTest, tries_again_when_the_receiver_is_busy) {
  Receiver receiver({503, 504, 502});
  const auto exporter = make(receiver.options());
  exporter->push(spans(2));
  ASSERT_TRUE(eventually([&] { return exporter->counts().sent == 2; }));
  EXPECT_EQ(exporter->counts().failures, 3u);
  EXPECT_EQ(exporter->counts().dropped, 0u);
}

TEST_F(SpanExporterTest, waits_as_long_as_the_receiver_says) {
  Receiver receiver({429});
  const auto exporter = make(receiver.options());
  const auto start = std::chrono::steady_clock::now();
  exporter->push(spans(1));
  ASSERT_TRUE(eventually([&] { return exporter->counts().sent == 1; }));
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(990));
}

TEST_F(SpanExporterTest, drops_what_the_receiver_refuses) {
  Receiver receiver({400});
  const auto exporter = make(receiver.options());
  exporter->push(spans(2));
  ASSERT_TRUE(eventually([&] { return exporter->counts().dropped == 2; }));
  EXPECT_EQ(receiver.requests().size(), 1u);
  const std::lock_guard lock(mutex_);
  EXPECT_THAT(lines_, HasSubstr("error=\"status 400\""));
}

TEST_F(SpanExporterTest, counts_spans_that_a_good_answer_refuses) {
  Receiver receiver({}, R"({"partialSuccess":{"rejectedSpans":"3"}})");
  const auto exporter = make(receiver.options());
  exporter->push(spans(5));
  ASSERT_TRUE(eventually([&] { return exporter->counts().sent == 2; }));
  EXPECT_EQ(exporter->counts().dropped, 3u);
}

TEST_F(SpanExporterTest, waits_for_an_answer_whose_body_comes_later_than_its_head) {
  Receiver receiver({}, R"({"partialSuccess":{"rejectedSpans":"3"}})");
  receiver.answer_late();
  const auto exporter = make(receiver.options());
  exporter->push(spans(5));
  ASSERT_TRUE(eventually([&] { return exporter->counts().sent > 0; }));
  EXPECT_EQ(exporter->counts().sent, 2u);
  EXPECT_EQ(exporter->counts().dropped, 3u);
}

TEST_F(SpanExporterTest, a_status_says_whether_it_is_worth_another_try) {
  for (const int status : {429, 502, 503, 504}) {
    Receiver receiver({status});
    const auto exporter = make(receiver.options());
    exporter->push(spans(1));
    EXPECT_TRUE(eventually([&] { return exporter->counts().sent == 1; })) << status;
  }
  for (const int status : {199 + 101, 400, 428, 430, 500, 501, 505}) {
    Receiver receiver({status});
    const auto exporter = make(receiver.options());
    exporter->push(spans(1));
    EXPECT_TRUE(eventually([&] { return exporter->counts().dropped == 1; })) << status;
    EXPECT_EQ(exporter->counts().failures, 1u) << status;
  }
  for (const int status : {200, 202, 299}) {
    Receiver receiver({status});
    const auto exporter = make(receiver.options());
    exporter->push(spans(1));
    EXPECT_TRUE(eventually([&] { return exporter->counts().sent == 1; })) << status;
    EXPECT_EQ(exporter->counts().failures, 0u) << status;
  }
}

TEST_F(SpanExporterTest, queues_as_many_spans_as_allowed) {
  SpanExporterOptions options;
  options.endpoint = "http://127.0.0.1:1";
  options.interval = net::Millis(60'000);
  options.close_timeout = net::Millis(1);
  options.queue = 3;
  const auto exporter = make(options);
  exporter->push(spans(3));
  EXPECT_EQ(exporter->counts().queued, 3u);
  EXPECT_EQ(exporter->counts().dropped, 0u);
  exporter->push(spans(1));
  EXPECT_EQ(exporter->counts().dropped, 1u);
}

TEST_F(SpanExporterTest, gives_up_on_a_receiver_that_is_not_there) {
  SpanExporterOptions options;
  options.endpoint = "http://127.0.0.1:1";
  options.interval = options.first_retry = net::Millis(1);
  options.tries = 3;
  const auto exporter = make(options);
  exporter->push(spans(2));
  ASSERT_TRUE(eventually([&] { return exporter->counts().dropped == 2; }));
  EXPECT_EQ(exporter->counts().failures, 3u);
  EXPECT_EQ(exporter->counts().queued, 0u);
}

TEST_F(SpanExporterTest, keeps_its_bounds_while_the_receiver_hangs_and_ends_in_time) {
  Receiver receiver({0});
  SpanExporterOptions options = receiver.options();
  options.queue = 10;
  options.batch = 4;
  options.close_timeout = net::Millis(30);
  auto exporter = make(options);
  exporter->push(spans(4));
  ASSERT_TRUE(eventually([&] { return receiver.requests().size() == 1; }));
  exporter->push(spans(6));
  exporter->push(spans(1));
  EXPECT_EQ(exporter->counts().queued, 10u);
  EXPECT_EQ(exporter->counts().dropped, 1u);
  const auto start = std::chrono::steady_clock::now();
  exporter.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST_F(SpanExporterTest, samples_by_the_random_bits_of_a_trace) {
  SpanExporterOptions options;
  options.endpoint = "http://127.0.0.1:1";
  options.sample_ratio = 0.5;
  const auto half = make(options);
  EXPECT_TRUE(half->samples({0, 0xff7f000000000000}));
  EXPECT_FALSE(half->samples({0, 0x0080000000000000}));
  options.sample_ratio = 0;
  EXPECT_FALSE(make(options)->samples({1, 0}));
  options.sample_ratio = 1;
  EXPECT_TRUE(make(options)->samples({~0ULL, ~0ULL}));
}

TEST_F(SpanExporterTest, refuses_an_endpoint_that_is_no_url) {
  const auto exporter = SpanExporter::make({.endpoint = "collector:4318"}, log_);
  ASSERT_FALSE(exporter);
  EXPECT_THAT(exporter.error().message, testing::StartsWith("otlp.endpoint: "));
}

}  // namespace
}  // namespace callgate::telemetry::span_exporter_test
