#include "telemetry/span_exporter.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <random>

#include "base/text.h"
#include "telemetry/otlp.h"

namespace callgate::telemetry {
namespace {

constexpr std::size_t kMaxReply = 64 * 1024;
constexpr std::string_view kPath = "/v1/traces";
constexpr net::Millis kLongestRetryAfter{60'000};

bool is_good(int status) { return status >= 200 && status < 300; }

// What OTLP says may be sent again.
bool is_retryable(int status) {
  return status == 0 || status == 429 || status == 502 || status == 503 || status == 504;
}

net::Millis seconds_of(std::string_view text) {
  const std::uint64_t longest = static_cast<std::uint64_t>(kLongestRetryAfter.count());
  return net::Millis(std::min(saturated_number(text).value_or(0), longest / 1000) * 1000);
}

}  // namespace

Result<std::unique_ptr<SpanExporter>> SpanExporter::make(SpanExporterOptions options, Logger& log) {
  auto target = net::parse_url(options.endpoint);
  if (!target) {
    return fail(ErrorCode::invalid_request, "otlp.endpoint: " + target.error().message);
  }
  // People also write the whole address.
  if (target->path_prefix.ends_with(kPath)) {
    target->path_prefix.resize(target->path_prefix.size() - kPath.size());
  }
  std::unique_ptr<SpanExporter> exporter(
      new SpanExporter(std::move(options), std::move(*target), log));
  exporter->thread_ = std::thread([self = exporter.get()] {
    self->loop_.spawn(self->run());
    self->loop_.run();
  });
  return exporter;
}

SpanExporter::SpanExporter(SpanExporterOptions options, net::Target target, Logger& log)
    : options_(std::move(options)),
      target_(std::move(target)),
      log_(log),
      client_(loop_, {.idle_per_target = 1, .ca_file = options_.ca_file}),
      work_(loop_),
      stopped_(loop_),
      jitter_(std::random_device()()) {}

SpanExporter::~SpanExporter() {
  if (!thread_.joinable()) return;
  loop_.post([this] {
    stopping_ = true;
    work_.notify();
    stopped_.notify();
    loop_.spawn(stop_later());
  });
  thread_.join();
}

bool SpanExporter::samples(const TraceId& trace) const {
  if (options_.sample_ratio >= 1) return true;
  // The last 56 bits are the random ones.
  constexpr std::uint64_t kRange = std::uint64_t{1} << 56;
  return static_cast<double>(trace.low & (kRange - 1)) <
         options_.sample_ratio * static_cast<double>(kRange);
}

void SpanExporter::push(std::vector<Span> spans) {
  const std::size_t count = spans.size();
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() + on_the_way_ + count > options_.queue) {
      dropped_.fetch_add(count, std::memory_order_relaxed);
      return;
    }
    const bool was_full = waiting_.size() >= options_.batch;
    std::move(spans.begin(), spans.end(), std::back_inserter(waiting_));
    wake = !was_full && waiting_.size() >= options_.batch;
  }
  if (wake) loop_.post([this] { work_.notify(); });
}

SpanExporter::Counts SpanExporter::counts() const {
  Counts counts{.sent = sent_.load(std::memory_order_relaxed),
                .dropped = dropped_.load(std::memory_order_relaxed),
                .failures = failures_.load(std::memory_order_relaxed)};
  const std::lock_guard lock(mutex_);
  counts.queued = waiting_.size() + on_the_way_;
  return counts;
}

std::vector<Span> SpanExporter::take() {
  const std::lock_guard lock(mutex_);
  const auto end =
      waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(waiting_.size(), options_.batch));
  std::vector<Span> taken(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
  waiting_.erase(waiting_.begin(), end);
  on_the_way_ = taken.size();
  return taken;
}

bool SpanExporter::batch_is_full() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size() >= options_.batch;
}

net::Task<> SpanExporter::run() {
  try {
    co_await send_until_stopped();
  } catch (const std::exception& fault) {
    log_.error("spans are no longer exported", {{"error", fault.what()}});
  }
  // Spans that are pushed from now on fill the queue; the thread stays until the end.
  while (!stopping_) co_await stopped_.wait();
  loop_.stop();
}

net::Task<> SpanExporter::send_until_stopped() {
  while (!stopping_) {
    co_await work_.wait(options_.interval);
    do {
      std::vector<Span> spans = take();
      if (spans.empty()) break;
      co_await deliver(std::move(spans));
    } while (stopping_ || batch_is_full());
  }
}

net::Task<> SpanExporter::deliver(std::vector<Span> spans) {
  std::string body;
  append_traces(body, options_.service, spans);
  const std::uint64_t count = spans.size();
  spans = {};
  std::uint64_t sent = 0;
  for (int tried = 1; !out_of_time_; ++tried) {
    const bool last = stopping_ || tried >= options_.tries;
    const Reply reply = co_await post(body);
    if (is_good(reply.status)) {
      sent = count - std::min(count, reply.rejected);
      break;
    }
    failures_.fetch_add(1, std::memory_order_relaxed);
    log_.repeated(LogLevel::warning, "otlp", "spans were not taken",
                  {{"receiver", net::to_text(target_)}, {"error", reply.problem}});
    if (last || !is_retryable(reply.status)) break;
    if (!stopping_) {
      const net::Millis pause = pause_before(tried, reply);
      co_await stopped_.wait(pause);
    }
  }
  sent_.fetch_add(sent, std::memory_order_relaxed);
  dropped_.fetch_add(count - sent, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  on_the_way_ = 0;
}

net::Millis SpanExporter::pause_before(int tried, const Reply& reply) {
  const net::Millis base =
      std::min(options_.first_retry * (1 << std::min(tried - 1, 10)), options_.last_retry);
  const auto spread = static_cast<std::uint64_t>(base.count() / 2 + 1);
  const net::Millis pause =
      base / 2 + net::Millis(static_cast<std::int64_t>(jitter_.next() % spread));
  return std::max({pause, seconds_of(reply.retry_after), net::Millis(1)});
}

net::Task<SpanExporter::Reply> SpanExporter::post(const std::string& body) {
  const net::Timeouts timeouts{.connect = options_.timeout,
                               .tls = options_.timeout,
                               .first_byte = options_.timeout,
                               .idle = options_.timeout,
                               .total = options_.timeout};
  Reply reply;
  net::ClientExchange exchange(client_, target_, timeouts);
  net::ClientRequest request{.method = "POST", .path = kPath, .headers = {}, .body = body};
  request.headers.add("content-type", "application/json");
  for (const auto& [name, value] : options_.headers) request.headers.add(name, value);
  exchange_ = &exchange;
  const Result<void> sent = co_await exchange.send(request);
  if (sent) {
    reply.status = exchange.status();
    reply.retry_after = exchange.headers().find("retry-after").value_or("");
    const Result<std::string> answer = co_await exchange.read_all(kMaxReply);
    if (answer && is_good(reply.status)) reply.rejected = rejected_spans(*answer);
    reply.problem = "status " + std::to_string(reply.status);
  } else {
    reply.problem = sent.error().message;
  }
  exchange_ = nullptr;
  co_return reply;
}

net::Task<> SpanExporter::stop_later() {
  co_await loop_.sleep(std::min(options_.close_timeout, options_.timeout));
  out_of_time_ = true;
  if (exchange_ != nullptr) exchange_->cancel();
}

}  // namespace callgate::telemetry
