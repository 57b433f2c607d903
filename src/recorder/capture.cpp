#include "recorder/capture.h"

#include "base/glob.h"
#include "callgate/version.h"
#include "capture/capture_mask.h"
#include "capture/secret_mask.h"
#include "replay/replay_golden.h"

namespace callgate::server {
namespace {

constexpr std::size_t kLineOverhead = 64;  // of a line in the file, beside its bytes

CapturedPipeline in_words(const PipelineOptions& options) {
  CapturedPipeline words{.wire = options.wire,
                         .protocol = options.protocol,
                         .dialect = "native",
                         .dialect_is_default = options.dialect_is_default,
                         .reasoning_open = options.reasoning_open,
                         .response_id = options.response_id,
                         .created = options.created,
                         .id_seed = options.id_seed,
                         .max_frame = options.max_frame,
                         .max_body = options.max_body,
                         .max_held_back = options.max_held_back,
                         .policy = options.policy};
  if (options.dialect != nullptr) words.dialect = options.dialect->name;
  if (options.commit) words.commit = *options.commit == Commit::eager ? "eager" : "whole_call";
  return words;
}

void copy_headers(CapturedHead& head, const net::Headers& headers) {
  for (const net::Header header : headers) head.headers.emplace_back(header.name, header.value);
}

std::size_t size_of(const CapturedHead& head) {
  std::size_t size = head.path.size();
  for (const auto& [name, value] : head.headers) size += name.size() + value.size() + 8;
  return size;
}

// What the client sent as its credential, without the word before it.
std::string_view credential_of(const net::Headers& headers) {
  std::string_view given = headers.find("x-goog-api-key").value_or("");
  given = headers.find("x-api-key").value_or(given);
  if (const auto authorization = headers.find("authorization")) {
    given = authorization->substr(authorization->rfind(' ') + 1);
  }
  return is_long_enough_for_a_secret(given) ? given : std::string_view();
}

}  // namespace

Result<bool> wants_capture(const Config& config, std::string_view header, const KeyConfig* key,
                           std::string_view model) {
  const CaptureConfig& capture = config.capture;
  if (!header.empty() && header != "0") {
    const std::string where = "header " + std::string(kCaptureHeader) + ": ";
    const bool allowed = key == nullptr ? listens_on_loopback_only(config) : key->admin;
    if (!allowed) return fail(ErrorCode::forbidden, where + "needs a key with admin = true");
    if (header != "1") return fail(ErrorCode::invalid_request, where + "expected 1 or 0");
    if (capture.dir.empty()) {
      return fail(ErrorCode::invalid_request, where + "captures are off, capture.dir is not set");
    }
    return true;
  }
  return !capture.dir.empty() && matches_any(capture.models, model);
}

std::unique_ptr<Capture> Capture::make(CaptureWriter& writer, const CaptureConfig& config,
                                       Start start) {
  if (!writer.reserve(sizeof(Capture), config.max_memory.count)) {
    if (!start.brief) writer.count_dropped();
    return nullptr;
  }
  return std::unique_ptr<Capture>(new Capture(writer, config, std::move(start)));
}

Capture::Capture(CaptureWriter& writer, const CaptureConfig& config, Start start)
    : writer_(writer),
      config_(config),
      brief_(start.brief),
      answer_(!start.brief || start.answer),
      begin_(std::chrono::steady_clock::now()) {
  job_.record.version = kVersion;
  job_.record.request_id = std::move(start.request_id);
  job_.key = std::move(start.key);
  job_.record.time_ms = start.time_ms;
  job_.record.model = std::move(start.model);
  job_.record.protocol = std::move(start.protocol);
  if (brief_) job_.record.request_as = "openai_chat";
  job_.secrets = std::move(start.secrets);
  job_.folder = config.dir;
  job_.max_files = static_cast<std::size_t>(config.max_files);
  job_.reserved = sizeof(Capture);
}

Capture::~Capture() { finish("interrupted"); }

void Capture::client_asked(const net::RequestHead& head, std::string_view body) {
  job_.client_secret = credential_of(head.headers);
  // The query is left out: some clients put their key there.
  CapturedHead asked{.method = std::string(head.method), .path = std::string(head.path)};
  copy_headers(asked, head.headers);
  add_head(Direction::client_in, std::move(asked));
  add_bytes(Direction::client_in, body);
}

void Capture::client_got(int status, const net::Headers& headers, std::string_view body) {
  if (!answer_) return;
  CapturedHead got{.status = status};
  copy_headers(got, headers);
  add_head(Direction::client_out, std::move(got));
  add_bytes(Direction::client_out, body);
}

void Capture::client_got(std::string_view bytes) {
  if (answer_) add_bytes(Direction::client_out, bytes);
}

void Capture::client_got_comment(std::string_view bytes) {
  if (!answer_ || !take(bytes.size())) return;
  add(Direction::client_out, {.kind = CaptureLine::Kind::comment, .bytes = std::string(bytes)});
}

void Capture::made_pipeline(PipelineOptions& options) {
  CapturedPipeline& pipeline = job_.record.pipeline.emplace(in_words(options));
  if (!options.elapsed_ms) return;
  pipeline.elapsed_ms.emplace();
  options.elapsed_ms = [this, asked = std::move(options.elapsed_ms)] {
    const std::int64_t value = asked();
    if (!finished_) job_.record.pipeline->elapsed_ms->push_back(value);
    return value;
  };
}

void Capture::begin_round(const Request& request, const PipelineOptions& options) {
  CapturedRound round{.pipeline = in_words(options), .request = replay::shape_of(request, true)};
  if (!take(sizeof(CapturedRound) + round.request.size())) return;
  job_.record.rounds.push_back(std::move(round));
  add(Direction::upstream_in, {.kind = CaptureLine::Kind::round});
}

void Capture::cut() { add_mark(CaptureLine::Kind::cut); }

void Capture::release_reasoning() { add_mark(CaptureLine::Kind::released); }

void Capture::keep_request(const Request& request) {
  if (!brief_ || finished_) return;
  // Without it nothing can be replayed, so it is there even when the capture is truncated.
  std::string shape = replay::shape_of(request, request.stream);
  const std::uint64_t memory = sizeof(CaptureLine) + shape.size();
  if (!writer_.reserve(memory, config_.max_memory.count)) return;
  job_.reserved += memory;
  add(Direction::client_in, {.kind = CaptureLine::Kind::bytes, .bytes = std::move(shape)});
}

CaptureJob Capture::look(const Request& request) const {
  CaptureJob job = job_;
  if (brief_ && job.record.rounds.empty()) {
    job.record.lines.push_back({.direction = Direction::client_in,
                                .kind = CaptureLine::Kind::bytes,
                                .bytes = replay::shape_of(request, request.stream)});
  }
  return job;
}

void Capture::finish(std::string_view end, RecentCaptures* recent, RecentCaptures::Why why) {
  if (finished_) return;
  finished_ = true;
  job_.record.end = end;
  if (!brief_) {
    if (recent != nullptr) recent->keep(job_, config_, why);
    return writer_.push(std::move(job_));
  }
  writer_.release(job_.reserved);
  if (recent != nullptr) recent->keep(std::move(job_), config_, why);
}

void Capture::add_head(Direction direction, CapturedHead head) {
  if (!take(size_of(head))) return;
  add(direction, {.kind = CaptureLine::Kind::head, .head = std::move(head)});
}

void Capture::add_bytes(Direction direction, std::string_view bytes) {
  if (bytes.empty() || finished_ || job_.record.truncated) return;
  // What still fits is kept: a stream's beginning is worth having.
  const std::uint64_t limit = config_.max_bytes.count;
  const std::uint64_t left = limit > used_ + kLineOverhead ? limit - used_ - kLineOverhead : 0;
  const std::string_view fitting = bytes.substr(0, left);
  if (brief_ && !job_.record.lines.empty() && job_.record.lines.back().direction == direction &&
      job_.record.lines.back().kind == CaptureLine::Kind::bytes) {
    join(fitting);
  } else if (!fitting.empty() && take(fitting.size())) {
    add(direction, {.kind = CaptureLine::Kind::bytes, .bytes = std::string(fitting)});
  }
  if (fitting.size() < bytes.size()) job_.record.truncated = true;
}

void Capture::join(std::string_view bytes) {
  if (!take(bytes.size(), bytes.size() + sizeof(CapturedPiece))) return;
  CaptureLine& line = job_.record.lines.back();
  if (line.pieces.empty()) line.pieces.push_back({line.bytes.size(), line.time_us});
  line.bytes.append(bytes);
  line.pieces.push_back({line.bytes.size(), elapsed_us()});
}

void Capture::add_mark(CaptureLine::Kind kind) {
  if (take(0)) add(Direction::upstream_in, {.kind = kind});
}

void Capture::add_failure(const Error& error) {
  if (!take(error.message.size())) return;
  add(Direction::upstream_in, {.kind = CaptureLine::Kind::failed, .error = error});
}

bool Capture::take(std::size_t size, std::size_t memory) {
  if (finished_ || job_.record.truncated) return false;
  // Those that somebody asked for come first.
  const std::uint64_t max_memory = config_.max_memory.count / (brief_ ? 2 : 1);
  if (used_ + size + kLineOverhead > config_.max_bytes.count ||
      !writer_.reserve(memory, max_memory)) {
    job_.record.truncated = true;
    return false;
  }
  used_ += size + kLineOverhead;
  job_.reserved += memory;
  return true;
}

void Capture::add(Direction direction, CaptureLine line) {
  line.direction = direction;
  line.time_us = elapsed_us();
  job_.record.lines.push_back(std::move(line));
}

std::int64_t Capture::elapsed_us() const {
  const auto elapsed = std::chrono::steady_clock::now() - begin_;
  return std::chrono::duration_cast<std::chrono::microseconds>(elapsed).count();
}

net::Task<Result<void>> CapturedCall::send(const Request& asked, const UpstreamRequest& request) {
  CapturedHead head{.method = "POST", .path = request.path, .upstream = upstream_.name};
  for (const auto& [name, value] : request.headers) head.headers.emplace_back(name, value);
  for (const auto& [name, value] : upstream_.headers) head.headers.emplace_back(name, kMasked);
  capture_.add_head(Direction::upstream_out, std::move(head));
  if (!capture_.brief_) capture_.add_bytes(Direction::upstream_out, request.body);
  auto sent = co_await call_.send(asked, request);
  if (sent) {
    CapturedHead answer{.status = call_.status()};
    copy_headers(answer, call_.headers());
    capture_.add_head(Direction::upstream_in, std::move(answer));
  } else {
    capture_.add_failure(sent.error());
  }
  co_return sent;
}

net::Task<Result<UpstreamCall::Piece>> CapturedCall::read(net::Millis patience) {
  auto piece = co_await call_.read(patience);
  if (!piece) {
    capture_.add_failure(piece.error());
  } else if (!piece->bytes.empty()) {
    capture_.add_bytes(Direction::upstream_in, piece->bytes);
  } else if (!piece->waiting) {
    capture_.add_mark(CaptureLine::Kind::closed);
  }
  co_return piece;
}

}  // namespace callgate::server
