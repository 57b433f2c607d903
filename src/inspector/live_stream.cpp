#include "inspector/live_stream.h"

#include <charconv>

#include "admin/log_json.h"
#include "base/url_query.h"
#include "json/writer.h"
#include "turn/event_stream.h"

namespace callgate::server {
namespace {

constexpr net::Millis kLook{100};  // for news
constexpr std::uint64_t kSilenceMs = 15'000;

std::string wanted_position(const net::RequestHead& head) {
  if (const auto given = head.headers.find("last-event-id")) return std::string(*given);
  for (const UrlParameter& parameter : read_url_query(head.query)) {
    if (parameter.name == "from") return parameter.value;
  }
  return {};
}

void append_progress(json::ObjectWriter& object, const LiveProgress& progress) {
  json::ObjectWriter members(object.key("progress"));
  members.string("phase", progress.phase);
  members.string("upstream", progress.upstream);
  members.integer("attempts", progress.attempts);
  if (progress.first_token_ms) {
    members.integer("first_token_ms", static_cast<std::int64_t>(*progress.first_token_ms));
  } else {
    members.null("first_token_ms");
  }
  members.integer("elapsed_ms", static_cast<std::int64_t>(progress.elapsed_ms));
  members.integer("frames", static_cast<std::int64_t>(progress.frames));
  members.integer("bytes", static_cast<std::int64_t>(progress.bytes));
  members.integer("calls", progress.calls);
  members.close();
}

std::string hello(std::string_view epoch, bool resumed) {
  std::string out = "retry: 1000\nevent: hello\ndata: ";
  json::ObjectWriter object(out);
  object.string("epoch", epoch);
  object.boolean("resumed", resumed);
  object.close();
  return out + "\n\n";
}

}  // namespace

LiveFilter read_live_filter(std::string_view query) {
  LiveFilter filter;
  for (UrlParameter& parameter : read_url_query(query)) {
    if (parameter.name == "model") filter.model = std::move(parameter.value);
    if (parameter.name == "key") filter.key = std::move(parameter.value);
    if (parameter.name == "upstream") filter.upstream = std::move(parameter.value);
  }
  return filter;
}

std::optional<std::uint64_t> read_live_id(std::string_view text, std::string_view epoch) {
  if (!text.starts_with(epoch) || text.size() <= epoch.size() || text[epoch.size()] != '-') {
    return std::nullopt;
  }
  const std::string_view digits = text.substr(epoch.size() + 1);
  std::uint64_t number = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (fault != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

void append_live_row(std::string& out, const LiveRow& row, std::string_view epoch) {
  out.append("id: ").append(epoch).append("-").append(std::to_string(row.number));
  out.append("\nevent: turn\ndata: ");
  store::RequestRow logged{.record = *row.record};
  logged.outcome.state = store::RequestState::running;
  if (row.outcome != nullptr) logged.outcome = *row.outcome;
  json::ObjectWriter object(out);
  add_row(object, logged);
  if (row.outcome == nullptr) append_progress(object, row.progress);
  object.close();
  out += "\n\n";
}

net::Task<> watch_live(Desk& desk, Ask& ask) {
  LiveFeed& feed = desk.world.live;
  LiveFeed::Viewer viewer(feed);
  if (!viewer) {
    const Error busy{.code = ErrorCode::rate_limited,
                     .message = "too many viewers watch already",
                     .retry_after = "5"};
    co_return co_await desk.refuse(ask, busy);
  }
  const LiveFilter filter = read_live_filter(ask.exchange.head().query);
  const auto from = read_live_id(wanted_position(ask.exchange.head()), feed.epoch());
  std::uint64_t seen = from.value_or(feed.last());
  add_event_stream_headers(ask.headers, "text/event-stream");
  ask.exchange.start(200, ask.headers);
  std::string out = hello(feed.epoch(), from.has_value());
  std::uint64_t silent_since = desk.loop.now();
  // A reload may remove the key or the inspector, so each watcher is checked again.
  while (desk.snapshot == ask.snapshot && !desk.world.draining.load(std::memory_order_relaxed)) {
    viewer.stay();
    if (feed.last() != seen) {
      const LiveFeed::News news = feed.read(seen, filter);
      if (news.has_gap) out += "event: gap\ndata: {}\n\n";
      for (const LiveRow& row : news.rows) append_live_row(out, row, feed.epoch());
      seen = news.last;
    }
    if (out.empty() && desk.loop.now() - silent_since >= kSilenceMs) out = ": keep-alive\n\n";
    if (!out.empty()) {
      const auto written = co_await ask.exchange.write(out);
      if (!written) co_return;
      out.clear();
      silent_since = desk.loop.now();
    }
    if (ask.exchange.client_gone()) co_return;
    co_await desk.loop.sleep(kLook);
  }
  (void)co_await ask.exchange.end("event: bye\ndata: {}\n\n");
}

}  // namespace callgate::server
