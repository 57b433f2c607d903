#include "inspector/turn_view.h"

#include "base/base64.h"
#include "capture/capture_words.h"
#include "chat/error_word.h"
#include "chat/message_json.h"
#include "json/writer.h"
#include "replay/anatomy.h"

namespace callgate::server {
namespace {

using LineKind = CaptureLine::Kind;

constexpr net::Millis kLookPatience{2'000};

void append_pipeline(std::string& out, const CapturedPipeline& pipeline) {
  json::ObjectWriter object(out);
  object.string("wire", pipeline.wire);
  object.string("protocol", pipeline.protocol);
  object.string("dialect", pipeline.dialect);
  object.boolean("dialect_is_default", pipeline.dialect_is_default);
  json::ObjectWriter policy(object.key("policy"));
  for_each_policy(pipeline.policy, [&](std::string_view name, std::string_view value) {
    policy.string(name, value);
  });
  policy.close();
  object.close();
}

void append_head(std::string& out, const CaptureLine& line) {
  json::ObjectWriter object(out);
  object.integer("t", line.time_us);
  object.string("dir", to_string(line.direction));
  if (!line.head.method.empty()) object.string("method", line.head.method);
  if (!line.head.path.empty()) object.string("path", line.head.path);
  if (!line.head.upstream.empty()) object.string("upstream", line.head.upstream);
  if (line.head.status != 0) object.integer("status", line.head.status);
  append_headers(object.key("headers"), line.head);
  object.close();
}

// One try at an upstream, for the time line. -1: it has not happened.
struct Attempt {
  std::string upstream;
  std::int64_t asked = 0;
  std::int64_t head = -1;
  std::int64_t first = -1;
  std::int64_t last = -1;
  int status = 0;
  std::string error;
};

void add_to_attempt(Attempt& attempt, const CaptureLine& line) {
  attempt.last = line.time_us;
  if (line.kind == LineKind::head) {
    attempt.head = line.time_us;
    attempt.status = line.head.status;
  } else if (line.kind == LineKind::bytes && attempt.first < 0) {
    attempt.first = line.time_us;
  } else if (line.kind == LineKind::failed) {
    attempt.error = line.error.message;
  }
}

std::vector<Attempt> attempts_of(const CaptureRecord& record) {
  std::vector<Attempt> attempts;
  for (const CaptureLine& line : record.lines) {
    if (line.direction == Direction::upstream_out && line.kind == LineKind::head) {
      attempts.push_back({.upstream = line.head.upstream, .asked = line.time_us});
    } else if (line.direction == Direction::upstream_in && !attempts.empty()) {
      add_to_attempt(attempts.back(), line);
    }
  }
  return attempts;
}

void append_attempt(std::string& out, const Attempt& attempt) {
  json::ObjectWriter object(out);
  object.string("upstream", attempt.upstream);
  object.integer("asked", attempt.asked);
  object.integer("head", attempt.head);
  object.integer("first", attempt.first);
  object.integer("last", attempt.last);
  object.integer("status", attempt.status);
  if (!attempt.error.empty()) object.string("error", attempt.error);
  object.close();
}

// What the client got, as it was written, where that was recorded.
void append_written(std::string& out, const CaptureRecord& record) {
  out += '[';
  for (const CaptureLine& line : record.lines) {
    const bool bytes = line.kind == LineKind::bytes || line.kind == LineKind::comment;
    if (line.direction != Direction::client_out || !bytes) continue;
    if (out.back() != '[') out += ',';
    json::ObjectWriter object(out);
    object.integer("t", line.time_us);
    std::string& text = object.key("bytes");
    text += '"';
    base64::append_encoded(text, line.bytes);
    text += '"';
    object.close();
  }
  out += ']';
}

// `pipeline`: what the round was made with; nullptr: it did not get that far.
void append_round(std::string& out, const CaptureRecord& record, std::size_t round,
                  const CapturedPipeline* pipeline, const dialect::Catalog* dialects) {
  json::ObjectWriter object(out);
  if (pipeline != nullptr) append_pipeline(object.key("pipeline"), *pipeline);
  const auto turn = replay::to_replay_case(record, round, dialects);
  if (turn) {
    replay::append_json(object.key("anatomy"), replay::dissect(*turn));
  } else {
    object.string("missing", turn.error().message);
  }
  object.close();
}

void append_rounds(std::string& out, const CaptureRecord& record,
                   const dialect::Catalog* dialects) {
  out += '[';
  if (record.rounds.empty()) {
    append_round(out, record, 0, record.pipeline ? &*record.pipeline : nullptr, dialects);
  }
  for (std::size_t i = 0; i < record.rounds.size(); ++i) {
    if (i > 0) out += ',';
    append_round(out, record, i + 1, &record.rounds[i].pipeline, dialects);
  }
  out += ']';
}

}  // namespace

net::Task<std::optional<CaptureJob>> find_recording(Desk& desk, std::string request,
                                                    std::string key) {
  struct Seen {
    explicit Seen(net::Loop& loop) : signal(loop) {}
    net::Signal signal;
    std::optional<CaptureJob> job;
  };
  const auto seen = std::make_shared<Seen>(desk.loop);
  // The caller may be gone when the answer comes.
  desk.world.live.look(request, desk.loop,
                       [weak = std::weak_ptr<Seen>(seen)](std::optional<CaptureJob> job) {
                         const auto alive = weak.lock();
                         if (!alive) return;
                         alive->job = std::move(job);
                         alive->signal.notify();
                       });
  const bool answered = co_await seen->signal.wait(kLookPatience);
  if (answered && seen->job) co_return std::move(seen->job);
  co_return desk.world.recent_captures.find_job(request, key);
}

std::string print_turn(CaptureJob job, const dialect::Catalog* dialects) {
  const std::string key = job.key;
  const CaptureRecord record = masked_record(std::move(job));
  std::string out;
  json::ObjectWriter object(out);
  object.string("object", "turn");
  object.string("id", record.request_id);
  object.string("key", key);
  object.string("model", record.model);
  object.string("protocol", record.protocol);
  object.integer("time", record.time_ms);
  object.string("state", record.end.empty() ? "running" : record.end);
  object.boolean("truncated", record.truncated);
  std::string& attempts = object.key("attempts");
  append_list(attempts, attempts_of(record),
              [&](const Attempt& attempt) { append_attempt(attempts, attempt); });
  std::string& heads = object.key("heads");
  heads += '[';
  for (const CaptureLine& line : record.lines) {
    if (line.kind != LineKind::head) continue;
    if (heads.back() != '[') heads += ',';
    append_head(heads, line);
  }
  heads += ']';
  append_written(object.key("written"), record);
  append_rounds(object.key("rounds"), record, dialects);
  object.close();
  return out;
}

Error no_recording(std::string_view request) {
  return {.code = ErrorCode::not_found,
          .message = "nothing is recorded of \"" + std::string(request) +
                     "\": only turns that ran while somebody watched, failed, lost data or look "
                     "like a missed call stay in memory"};
}

}  // namespace callgate::server
