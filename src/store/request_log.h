// The request log: one row per request, written by a thread of its own.
//
// Event loops call begin() and complete(); both only move strings into a bounded queue. One writer
// thread takes what is queued and commits it in batches. A request that begins and completes within
// one batch costs one INSERT.
//
// What a failing store does: nothing to requests. Entries go to a journal, a local file, and are
// replayed when the store is back, each exactly once. Without a journal, or when it is full, they
// wait in the queue up to its limit, then they are dropped and counted. health() tells what is
// wrong; the writer tries again with growing pauses.
//
// What a crash loses: entries that were not acknowledged. An entry is acknowledged when its
// transaction is committed. With Synchronous::normal a commit survives the death of the process
// (kill -9), with Synchronous::full also the death of the machine, at the price of one fsync per
// batch.
//
// A file that is not callgate's own database is never touched. One that is, but is damaged, is
// renamed to `PATH.corrupt-TIME` when no other process uses it, and a new one is begun;
// health().notice says so.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/event.h"
#include "callgate/result.h"
#include "store/database_options.h"

namespace callgate::store {

// `running` only ever comes from begin(), `interrupted` mostly from the next start after a crash.
enum class RequestState : std::uint8_t { running, completed, failed, disconnected, interrupted };

std::string_view to_string(RequestState state);

// Texts longer than this are cut before they are queued.
inline constexpr std::size_t kLongestText = 2048;

// What is known when a request arrives. An empty text means not known.
struct RequestRecord {
  std::string id;  // best from IdMint::mint_timed(): random ids make a row four times as dear
  std::int64_t received_at = 0;  // Unix milliseconds
  std::string key_name;
  std::string protocol;
  std::string model;
  std::string upstream;
  std::string dialect;
  std::string client_address;
  std::string
      session;  // as the client names it, or the one that the request was found to belong to
  std::string trace_id;  // in hex
  bool stream = false;
  std::string received;  // the body as received; empty: content is not kept

  bool operator==(const RequestRecord&) const = default;
};

// What a tool that callgate ran gave back.
struct CallResult {
  std::int64_t round = 0;
  bool is_error = false;
  std::int64_t duration_ms = 0;
  std::int64_t bytes = 0;  // of the whole result
  std::string text;        // its beginning; empty: content is not kept

  bool operator==(const CallResult&) const = default;
};

// A call as the client got it, or as callgate ran it.
struct CallRow {
  std::string id;
  std::string name;
  CallOutcome outcome = CallOutcome::complete;
  std::optional<CallResult> result;  // of a tool that callgate ran

  bool operator==(const CallRow&) const = default;
};

// Which request is meant. Clients may choose ids, so requests of two keys may share one: they are told apart by the key.
struct RequestName {
  template <class Text>
  requires std::convertible_to<const Text&, std::string_view> RequestName(const Text& text)
      : id(text) {}  // NOLINT(google-explicit-constructor): an id is a name
  RequestName(std::string_view text, std::optional<std::string_view> whose)
      : id(text), key(whose) {}

  std::string_view id;
  std::optional<std::string_view>
      key;  // its own come first, then others'; nothing: the latest of all
};

// What is known when its answer has ended.
struct RequestOutcome {
  std::string id;
  std::string key_name;  // as in the record
  RequestState state = RequestState::completed;
  int http_status = 0;
  std::optional<FinishReason> finish_reason;
  std::string error_code;
  std::string error_message;
  std::string upstream;  // replaces the record's when not empty: another upstream answered
  std::string dialect;   // likewise: it was found out from the answer
  std::int64_t calls = 0;
  std::optional<Usage> usage;
  std::int64_t bytes_in = 0;
  std::int64_t bytes_out = 0;
  std::int64_t frames = 0;
  std::int64_t repairs = 0;
  std::int64_t attempts = 0;
  std::optional<std::int64_t> first_byte_ms;
  std::optional<std::int64_t> first_token_ms;
  std::int64_t total_ms = 0;
  std::string session;       // replaces the record's when not empty
  std::string cut;           // the policy that ended or thinned the turn; empty: none
  std::string repair_names;  // as `finish_reason_missing, id_missing x2`
  std::string missed_call;   // the dialect whose call the text looks like; empty: none
  // Billionths of the currency that prices are in; nothing: not all that it used has a price.
  std::optional<std::int64_t> cost;
  std::vector<CallRow> call_rows;
  // Content. Empty: not kept, or not known.
  std::string sent;      // the body of the last request to an upstream
  std::string response;  // what a client that does not stream gets, also when this one streamed
  std::string events;    // the turn as a JSON array of events, see docs/log.md
  std::string search;    // what a text search looks into

  bool operator==(const RequestOutcome&) const = default;
};

struct RequestRow {
  RequestRecord record;
  RequestOutcome outcome;  // only `id` and `state` mean something while the state is running
  std::int64_t run = 0;    // which start of which process wrote it
  std::optional<std::int64_t> resolved_at = {};  // Unix milliseconds: somebody has dealt with it
  std::string resolution = {};                   // what they wrote about it
};

// Content of one request; what was not kept is empty.
struct RequestContent {
  std::string received;
  std::string sent;
  std::string response;
  std::string events;

  bool operator==(const RequestContent&) const = default;
};

// Which requests are asked for. What is not set does not count.
struct RequestFilter {
  std::optional<std::int64_t> since;  // received at or after, Unix milliseconds
  std::optional<std::int64_t> until;  // received before
  std::string model;
  std::string key_name;
  std::string session;
  std::string upstream;
  std::string tool;  // a call of that name was made
  std::optional<RequestState> state;
  std::optional<FinishReason> finish_reason;
  std::optional<bool> has_calls;
  std::optional<bool> is_resolved;
  std::optional<bool> has_error;
  std::optional<bool> has_missed_call;
  std::string missed_call;  // in that dialect
  std::string error_code;
  std::string text;    // all of its words
  std::string cursor;  // what the page before gave
  std::size_t limit = 50;
};

// The latest first.
struct RequestPage {
  std::vector<RequestRow> rows;
  std::string cursor;  // empty: there are no more
};

enum class UsageGroup : std::uint8_t { hour, day, model, key, upstream, tool };

// Sums by one or two of these. By tool: of the requests that called it, so one that called two counts for both.
struct UsageQuestion {
  std::vector<UsageGroup> groups{UsageGroup::day};
  std::int64_t since = 0;
  std::int64_t until = 0;
  std::optional<std::string> key_name = {};  // of this key alone
};

struct UsageRow {
  std::string group;        // the name, or the time when it begins as 2026-11-16T03:00:00Z
  std::string second = {};  // likewise, where there are two
  std::int64_t requests = 0;
  std::int64_t failed = 0;
  std::int64_t calls = 0;
  std::int64_t prompt_tokens = 0;
  std::int64_t completion_tokens = 0;
  std::int64_t cached_tokens = 0;
  std::int64_t reasoning_tokens = 0;
  std::int64_t cost = 0;      // billionths of the currency, of what has a price
  std::int64_t unpriced = 0;  // requests that used tokens without a price
};

struct StoreStats {
  std::string engine;
  int schema = 0;
  std::int64_t requests = 0;  // an estimate where counting is dear
  std::int64_t sessions = 0;
  std::int64_t bytes = 0;  // on disk
  std::optional<std::int64_t> oldest_at;
};

struct Health {
  bool healthy = true;
  std::string problem;               // why not, as directions; empty when healthy
  std::string notice;                // something an operator should know although all is well
  std::uint64_t recorded = 0;        // entries (begins and completes) acknowledged
  std::uint64_t dropped = 0;         // entries lost: the queue was full, or the row was refused
  std::uint64_t errors = 0;          // failed attempts to open or write
  std::size_t queued = 0;            // entries that wait
  std::chrono::milliseconds lag{0};  // how long the oldest of them has waited
  std::uint64_t shed = 0;            // entries that were kept without their bodies
  std::uint64_t spooled = 0;         // entries that went to the journal
  std::uint64_t journal_bytes = 0;   // that wait there to be replayed
};

class RequestLog {
 public:
  virtual ~RequestLog() = default;

  // From any thread, event loops included: neither the disk nor a full queue makes them wait. Each begin() is followed by one complete() with the
  // same id and key. Ids should be unique for a key; requests that share one are kept as rows of their own.
  virtual void begin(RequestRecord record) = 0;
  virtual void complete(RequestOutcome outcome) = 0;

  // False: nothing is kept, so a caller that needs a row only for the log need not make one.
  virtual bool keeps_rows() const { return true; }

  // From any thread; cheap enough for every scrape.
  virtual Health health() const = 0;
  virtual std::uint64_t recorded() const = 0;
  // Whether the store could not be written the last time.
  virtual bool is_down() const { return false; }

  // Waits until all that was queued before the call is recorded, in the journal, or lost; false when `timeout` comes
  // first. Not for event loops, nor are the queries.
  virtual bool flush(std::chrono::milliseconds timeout) = 0;
  virtual Result<std::vector<RequestRow>> recent(std::size_t limit) = 0;
  // The latest one with this name.
  virtual Result<std::optional<RequestRow>> get(RequestName name) = 0;
  virtual Result<RequestPage> search(const RequestFilter& filter) = 0;
  // Marks the latest one with this name as resolved at that time, or, without a time, as no longer resolved. False if there
  // is none.
  virtual Result<bool> resolve(RequestName, std::optional<std::int64_t> /*at*/,
                               std::string_view /*note*/) {
    return false;
  }
  virtual Result<std::vector<CallRow>> calls(RequestName name) = 0;
  virtual Result<RequestContent> content(RequestName name) = 0;
  virtual Result<std::vector<UsageRow>> usage(const UsageQuestion& question) = 0;
  Result<std::vector<UsageRow>> usage(UsageGroup group, std::int64_t since, std::int64_t until) {
    return usage(UsageQuestion{.groups = {group}, .since = since, .until = until});
  }
  virtual Result<StoreStats> stats() = 0;
};

// The store is off: everything is forgotten, nothing is wrong.
class NullRequestLog final : public RequestLog {
 public:
  void begin(RequestRecord) override {}
  void complete(RequestOutcome) override {}
  bool keeps_rows() const override { return false; }
  Health health() const override { return {}; }
  std::uint64_t recorded() const override { return 0; }
  bool flush(std::chrono::milliseconds) override { return true; }
  Result<std::vector<RequestRow>> recent(std::size_t) override { return std::vector<RequestRow>{}; }
  Result<std::optional<RequestRow>> get(RequestName) override { return std::nullopt; }
  Result<RequestPage> search(const RequestFilter&) override { return RequestPage{}; }
  Result<std::vector<CallRow>> calls(RequestName) override { return std::vector<CallRow>{}; }
  Result<RequestContent> content(RequestName) override { return RequestContent{}; }
  using RequestLog::usage;
  Result<std::vector<UsageRow>> usage(const UsageQuestion&) override {
    return std::vector<UsageRow>{};
  }
  Result<StoreStats> stats() override { return StoreStats{.engine = "none"}; }
};

struct RequestLogOptions : DatabaseOptions {
  std::size_t queue_limit = 10'000;          // begins are refused here, completes at twice this
  std::size_t queue_bytes = 64u << 20;       // of bodies; more are shed
  std::string journal;                       // the file for what cannot be written now; empty: none
  std::uint64_t journal_bytes = 256u << 20;  // the largest journal
  std::chrono::milliseconds keep{0};         // older requests are deleted; 0: none is
  std::uint64_t keep_bytes = 0;  // the largest store, the oldest are deleted; 0: no limit
  std::chrono::milliseconds sweep_every{60'000};
  std::size_t batch_rows = 512;  // the most rows of one transaction
  std::chrono::milliseconds linger{
      50};  // how long a batch waits for more; a commit costs as much as 25 rows
  std::chrono::milliseconds first_retry{100};
  std::chrono::milliseconds last_retry{5'000};
  std::chrono::milliseconds close_timeout{2'000};  // how long the destructor writes on
  std::chrono::milliseconds tend_every{10'000};    // a sign of life for other processes
  // PostgreSQL: others that give none for this long are dead.
  std::chrono::milliseconds stale_after{60'000};
  std::chrono::milliseconds report_every{60'000};  // the least time between two reports of losses

  // Called on the writer thread, on_problem also within make_request_log(). Must not call the log.
  // What the queue shed or dropped is a problem.
  std::function<void(std::string_view id, RequestState state)> on_recorded;
  std::function<void(std::string_view problem)> on_problem;
};

// A URL to show: without its password, and without what may hold one.
std::string masked_url(std::string_view url);
// Whether it names a kind of store that there is.
Result<void> check_url(std::string_view url);

// `sqlite:PATH`, `sqlite::memory:`, `postgresql://HOST/DATABASE` or `none`. Fails when the URL is wrong, the file cannot be
// opened at all, is not callgate's, or was written by a newer callgate. Any other trouble (full,
// locked, read-only) gives a log that is not healthy yet.
Result<std::unique_ptr<RequestLog>> make_request_log(std::string_view url,
                                                     RequestLogOptions options = {});

}  // namespace callgate::store
