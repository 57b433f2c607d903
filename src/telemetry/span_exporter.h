// Sends spans to an OTLP receiver, behind the requests' backs.
//
// Event loops call push(), which moves spans into a bounded queue and never waits. A thread with a loop of its own takes
// them in batches and posts them to `{endpoint}/v1/traces`. A receiver that is busy or down is asked again, with growing
// pauses; meanwhile the queue fills, and what does not fit is dropped and counted.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "callgate/result.h"
#include "net/client.h"
#include "net/loop.h"
#include "telemetry/log.h"
#include "telemetry/span.h"

namespace callgate::telemetry {

struct SpanExporterOptions {
  std::string endpoint;  // http://host:4318
  std::vector<std::pair<std::string, std::string>> headers;
  std::string service = "callgate";
  std::string ca_file;
  std::size_t queue = 2048;
  std::size_t batch = 512;
  net::Millis interval{5'000};
  net::Millis timeout{10'000};  // of one request
  double sample_ratio = 1.0;    // of traces that begin here
  int tries = 6;                // of one batch
  net::Millis first_retry{1'000};
  net::Millis last_retry{30'000};
  net::Millis close_timeout{
      3'000};  // how long the destructor sends on, or `timeout` when that is shorter
};

class SpanExporter {
 public:
  struct Counts {
    std::uint64_t queued = 0;  // wait, or are on their way
    std::uint64_t sent = 0;
    std::uint64_t dropped = 0;   // the queue was full, or the receiver did not take them
    std::uint64_t failures = 0;  // requests that failed
  };

  // Fails when the endpoint is not a URL. REQUIRES: the logger outlives the exporter.
  static Result<std::unique_ptr<SpanExporter>> make(SpanExporterOptions options, Logger& log);
  // Sends what is left, for `close_timeout` at most.
  ~SpanExporter();

  // Whether a trace that begins here is recorded: the same answer for the same trace everywhere.
  bool samples(const TraceId& trace) const;

  // From any thread. All of the spans or none.
  void push(std::vector<Span> spans);
  Counts counts() const;

 private:
  struct Reply {
    int status = 0;  // 0: none came
    std::uint64_t rejected = 0;
    std::string retry_after;
    std::string problem;
  };

  SpanExporter(SpanExporterOptions options, net::Target target, Logger& log);

  // On the exporter's own thread.
  net::Task<> run();
  net::Task<> send_until_stopped();
  net::Task<> deliver(std::vector<Span> spans);
  net::Task<Reply> post(const std::string& body);
  net::Task<> stop_later();
  net::Millis pause_before(int tried, const Reply& reply);
  std::vector<Span> take();
  bool batch_is_full() const;

  const SpanExporterOptions options_;
  const net::Target target_;
  Logger& log_;

  mutable std::mutex mutex_;
  std::vector<Span> waiting_;
  std::size_t on_the_way_ = 0;

  std::atomic<std::uint64_t> sent_ = 0;
  std::atomic<std::uint64_t> dropped_ = 0;
  std::atomic<std::uint64_t> failures_ = 0;

  // Of the thread, like all below.
  net::Loop loop_;
  net::HttpClient client_;
  net::Signal work_;     // a batch is full, or it is time to stop
  net::Signal stopped_;  // it is time to stop
  net::ClientExchange* exchange_ = nullptr;
  IdMint jitter_;
  bool stopping_ = false;
  bool out_of_time_ = false;
  std::thread thread_;
};

}  // namespace callgate::telemetry
