#include "turn/answer_session.h"

#include <algorithm>
#include <utility>

#include "engine/answer_notes.h"
#include "net/unix_time.h"
#include "tool/host.h"
#include "turn/event_stream.h"
#include "turn/loop_news.h"
#include "turn/observe.h"
#include "turn/refusal.h"

namespace callgate::server {
namespace {

// What an encoder asks of a request.
Request shape_of(const Request& request) {
  Request shape;
  shape.model = request.model;
  shape.stream = request.stream;
  shape.include_usage = request.include_usage;
  shape.legacy_functions = request.legacy_functions;
  shape.origin = request.origin;
  for (const ExtraField& field : request.extra) {
    if (field.name == "stop")
      shape.extra.push_back(field);  // an answer may name the one that matched
  }
  shape.body = request.body;
  shape.client = request.client;
  shape.form = request.form;
  return shape;
}

std::string joined(const std::string& first, const std::string& second) {
  return first.empty() || second.empty() ? first + second : first + ", " + second;
}

// Clients refuse heads of more than 8 to 16 KiB: of many names the first are told, then how many more there are.
constexpr std::size_t kMaxNames = 2048;
std::string within_reason(std::string names) {
  if (names.size() <= kMaxNames) return names;
  const std::size_t end = names.rfind(", ", kMaxNames);
  if (end == std::string::npos) return names.substr(0, kMaxNames) + "...";
  std::size_t more = 0;
  for (std::size_t at = end; at != std::string::npos; at = names.find(", ", at + 2)) ++more;
  return names.substr(0, end) + ", and " + std::to_string(more) + " more";
}

}  // namespace

AnswerSession::AnswerSession(const TurnHost& host, TurnJob& job, TurnLog& log, Audience& audience,
                             Wants wants)
    : host_(host),
      job_(job),
      log_(log),
      audience_(audience),
      wants_(wants),
      stream_(wants == Wants::bytes && job.request.stream),
      coalescing_(job.config().reasoning_coalesce) {
  using tool::HookMoment;
  const tool::ToolHost* const hooks = host.world.tools;
  if (hooks == nullptr ||
      !(hooks->has_hooks(HookMoment::prompt) || hooks->has_hooks(HookMoment::answer)))
    return;
  judge_ = std::make_unique<WordJudge>(hooks, host.loop, host.world.log,
                                       tool::ToolContext{.request_id = job.request_id,
                                                         .key_name = std::string(job.key_name()),
                                                         .model = job.config().name,
                                                         .session = job.session});
}

net::Task<Result<void>> AnswerSession::judge_prompt() {
  if (!judge_) co_return Result<void>();
  std::optional<Error> denied = co_await judge_->judge_prompt(job_.request);
  if (denied) co_return tl::unexpected(std::move(*denied));
  co_return Result<void>();
}

net::Task<> AnswerSession::judge() {
  if (encoded_) encoded_->answer.begin_frame();
  co_await guard_->judge();
  if (encoded_) encoded_->answer.end_frame();
  if (outlet_) outlet_->settle();
  if (stream_ && encoded_ && encoded_->tally.visible) log_.heard_token();
}

net::Task<> AnswerSession::judge_rest() {
  if (guard_ == nullptr) co_return;
  guard_->flush();
  if (guard_->has_question()) co_await judge();
}

void AnswerSession::add_elapsed(PipelineOptions& options) const {
  if (!job_.options.timing) return;
  options.elapsed_ms = [this] { return static_cast<std::int64_t>(log_.elapsed_ms()); };
}

std::shared_ptr<engine::TurnOutlet> AnswerSession::begin_answer(const Request& request,
                                                                PipelineOptions& options) {
  options.keep = log_.record().max_answer();
  if (!job_.answer_id.empty()) options.response_id = job_.answer_id;
  add_elapsed(options);
  if (job_.capture) job_.capture->made_pipeline(options);
  out_.clear();
  encoded_ = std::make_shared<Encoded>(request, *job_.protocol, options, engine::AnswerOf::one_turn,
                                       log_.observer());
  encoded_->answer.bind(out_);
  std::shared_ptr<engine::TurnOutlet> answer(encoded_, &encoded_->answer);
  if (!judge_ || !judge_->judges(tool::HookMoment::answer)) return answer;
  outlet_ = std::make_shared<GuardedOutlet>(*judge_, std::move(answer), request.choices, stream_);
  guard_ = &outlet_->guard();
  return outlet_;
}

Request AnswerSession::begin_loop(std::string loop_id) {
  loop_id_ = std::move(loop_id);
  if (judge_ && judge_->judges(tool::HookMoment::answer)) {
    const bool by_sentence = stream_ || wants_ == Wants::words;
    loop_guard_ = std::make_unique<AnswerGuard>(*judge_, *this, 1, by_sentence);
    guard_ = loop_guard_.get();
  }
  Request whole = std::exchange(job_.request, shape_of(job_.request));
  job_.request.stream = stream_;
  if (wants_ == Wants::words && !log_.record().keeps_content()) return whole;
  PipelineOptions options;
  if (wants_ == Wants::bytes) options.policy = job_.options.policy;
  options.created = net::unix_ms() / 1000;
  options.id_seed = host_.mint.next();
  options.response_id = job_.answer_id;
  options.max_held_back = job_.snapshot->config.limits.max_held_back.count;
  options.keep = log_.record().max_answer();
  add_elapsed(options);
  using engine::AnswerOf;
  encoded_ = std::make_shared<Encoded>(
      job_.request, *job_.protocol, options,
      whole.tools.empty() ? AnswerOf::many_turns : AnswerOf::many_turns_with_calls, nullptr);
  encoded_->answer.bind(out_);
  return whole;
}

// A client that left does not see how the loop is ended for want of it.
void AnswerSession::accept(const Event& event) {
  if (audience_.is_gone()) return;
  if (guard_ != nullptr) return guard_->take(0, event);
  pass(0, event);
}

void AnswerSession::pass(std::uint32_t choice, const Event& event) {
  audience_.hear(event);
  if (encoded_) encoded_->answer.choice(choice).accept(event);
}

void AnswerSession::notice(const loop::Notice& notice) {
  if (audience_.is_gone()) return;
  if (guard_ != nullptr) return guard_->take(notice);
  pass(notice);
}

void AnswerSession::pass(const loop::Notice& notice) {
  audience_.hear(notice);
  if (!encoded_) return;
  std::visit(Overloaded{
                 [&](const loop::ToolCallNotice& call) { note(print_news(call)); },
                 [&](const loop::ToolResultNotice& result) { note(print_news(result)); },
                 [&](const loop::TextPaused&) { encoded_->answer.release_text(); },
                 [&](const loop::LoopEnded& ended) {
                   const std::string json = print_news(ended, loop_id_, notes_);
                   encoded_->answer.choice(0).accept(
                       FieldReported{FieldReported::Scope::turn, "callgate", json});
                 },
             },
             notice);
}

void AnswerSession::note(std::string json) {
  if (stream_) return encoded_->answer.note("callgate", json);
  notes_.append(notes_.empty() ? "" : ",").append(json);
}

void AnswerSession::begin_frame() {
  if (encoded_) encoded_->answer.begin_frame();
}

void AnswerSession::end_frame() {
  if (encoded_) encoded_->answer.end_frame();
}

void AnswerSession::open() { open_ = true; }

// Whoever may decide is told, whether or not calls are shown; a whole answer comes when all is decided.
void AnswerSession::announce(const loop::WaitForApproval& wait) {
  open();
  audience_.wait_for_approval(wait);
  if (encoded_ && stream_) note(print_news(wait, loop_id_));
}

// Frames for the client are about as long as those that they come from.
void AnswerSession::before_read(std::size_t bytes) {
  if (stream_) out_.reserve(out_.size() + bytes);
}

void AnswerSession::after_read() {
  if (stream_ && encoded_ && encoded_->tally.visible) log_.heard_token();
  if (is_committed()) {
    // The request has done its work: an answer that streams for long should not hold it.
    job_.request.messages = {};
    job_.request.extra = {};
    // The log shows what a whole answer would repeat of it.
    if (!log_.record().keeps_content()) job_.request.body = {};
    job_.request.native = {};
  }
  reserve();
}

void AnswerSession::reserve() {
  if (!encoded_) return;
  // The request and its form for the upstream.
  const bool has_request = !loop_id_.empty() || !is_committed();
  std::uint64_t held = has_request ? 2 * job_.received_bytes : 0;
  if (guard_ != nullptr) held += guard_->held();
  held += out_.capacity() + sending_.capacity() + notes_.capacity();
  // What a whole answer is made of, the answer, and its copy for the log.
  if (!stream_) held += 3 * engine::said_bytes(encoded_->tally.summary);
  const bool copied = job_.copies.fit(encoded_->answer.kept_bytes());
  bool fits = job_.memory.fit(held);
  if (!copied || !fits) forget_copy();
  if (!fits) out_of_memory_ = !job_.memory.fit(held);
}

void AnswerSession::forget_copy() {
  encoded_->answer.forget();
  log_.record().forget_content();
  job_.copies.release();
}

std::optional<Error> AnswerSession::objection() const {
  if (out_of_memory_) return out_of_memory();
  if (job_.key.is_stored()) return job_.key->ended(net::unix_ms());
  return std::nullopt;
}

bool AnswerSession::is_committed() const {
  return audience_.has_started() || (stream_ && !out_.empty());
}

bool AnswerSession::waits() const {
  return is_judging() || (stream_ && (!out_.empty() || (open_ && !audience_.has_started())));
}

net::Task<bool> AnswerSession::send() {
  if (is_judging()) co_await judge();
  if (audience_.is_gone()) co_return false;
  if (!stream_ || (out_.empty() && (audience_.has_started() || !open_))) {
    co_return true;
  }
  begin_stream();
  const std::string_view bytes = take_out();
  const auto written = co_await audience_.write(bytes);
  last_write_ = host_.loop.now();
  // One buffer for both: a stream waits most of its time.
  if (out_.capacity() <= sending_.capacity() && out_.empty()) {
    sending_.clear();
    out_ = std::exchange(sending_, {});
  }
  co_return written.has_value();
}

void AnswerSession::begin_stream() {
  if (audience_.has_started()) return;
  const Protocol& protocol = *job_.protocol;
  add_event_stream_headers(audience_.headers(), protocol.type_of == nullptr
                                                    ? protocol.stream_type
                                                    : protocol.type_of(job_.request));
  add_notices();
  status_ = 200;
  if (job_.capture) job_.capture->client_got(200, audience_.headers(), "");
}

void AnswerSession::add_notices() {
  net::Headers& headers = audience_.headers();
  const AttemptFacts& facts = log_.facts();
  headers.add(kAttemptsHeader, std::to_string(facts.tries));
  headers.add("x-callgate-dialect", facts.settled_on.empty() ? facts.read_as : facts.settled_on);
  // Of the answer only what was dropped before its head is sent can be named: for a whole one that is all.
  const std::string dropped = within_reason(joined(facts.dropped, facts.unsaid));
  if (!dropped.empty()) headers.add("x-callgate-dropped", dropped);
  observe_dropped(host_.world, job_.protocol->name, facts.dropped);
  if (!facts.session_state.empty()) headers.add(kSessionStateHeader, facts.session_state);
  if (!facts.session.empty()) headers.add(kSessionHeader, facts.session);
  if (facts.lacks_call) {
    headers.add("x-callgate-warning", "the model made no call although tool_choice asks for one");
  }
  if (engine::has_unchecked_grammar(job_.request)) {
    headers.add("x-callgate-warning", "the grammar of a custom tool is not checked");
  }
}

std::string_view AnswerSession::take_out() {
  sending_.clear();
  std::swap(sending_, out_);
  bytes_out_ += sending_.size();
  if (sending_.empty()) return sending_;
  log_.trace().wrote();
  if (job_.capture) job_.capture->client_got(sending_);
  return sending_;
}

std::optional<net::Millis> AnswerSession::patience(std::uint64_t now) {
  std::optional<net::Millis> least = audience_.patience(now);
  const auto add = [&](net::Millis wait) { least = std::min(least.value_or(wait), wait); };
  if (encoded_ && job_.config().reasoning_coalesce.count() > 0) {
    if (const auto left = coalescing_.left(encoded_->answer.held_reasoning(), now)) add(*left);
  }
  // A key of the store may end while the upstream says nothing.
  if (job_.key.is_stored()) {
    add(net::Millis(next_key_look_ > now ? next_key_look_ - now : 0));
  }
  if (keepalive() > 0 && audience_.has_started()) {
    const std::uint64_t due = last_write_ + keepalive();
    add(net::Millis(due > now ? due - now : 0));
  }
  return least;
}

net::Task<bool> AnswerSession::on_time() {
  const std::uint64_t now = host_.loop.now();
  audience_.on_time(now);
  next_key_look_ = now + kKeyLook;
  if (encoded_ && job_.config().reasoning_coalesce.count() > 0) {
    const auto left = coalescing_.left(encoded_->answer.held_reasoning(), now);
    if (left && left->count() == 0) {
      encoded_->answer.release_reasoning();
      if (job_.capture) job_.capture->release_reasoning();
    }
  }
  const bool silent = keepalive() > 0 && audience_.has_started() &&
                      now >= last_write_ + keepalive() && out_.empty();
  if (!silent) co_return true;
  last_write_ = now;
  if (job_.capture) job_.capture->client_got_comment(job_.protocol->keep_alive);
  const auto written = co_await audience_.write(job_.protocol->keep_alive);
  co_return written.has_value();
}

std::uint64_t AnswerSession::keepalive() const {
  if (!job_.keepalive || !stream_ || job_.protocol->keep_alive.empty()) return 0;
  return static_cast<std::uint64_t>(job_.snapshot->config.limits.keepalive_comment.count());
}

net::Task<> AnswerSession::end(Round::End end, const Error& error) {
  if (end == Round::End::failed) {
    co_await refuse(error);
  } else if (end != Round::End::gone) {
    co_await deliver();
  }
  static const TurnSummary kNothing;
  const TurnSummary& summary = encoded_ ? encoded_->tally.summary : kNothing;
  record(error, summary, summary.cut_by);
}

net::Task<> AnswerSession::end_loop(Round::End end, const Error& error, LoopEnd loop) {
  const bool failed = end == Round::End::failed || end == Round::End::broken;
  // Before anything was seen a failure has a status of its own.
  const bool seen =
      stream_ && (audience_.has_started() || (encoded_ && encoded_->answer.started()));
  if (failed && !seen) {
    co_await refuse(error);
  } else if (end != Round::End::gone) {
    if (encoded_ && failed) encoded_->answer.fail(error);
    if (encoded_ && !failed) encoded_->answer.finish(loop.estimate);
    co_await deliver();
  }
  if (is_denied()) loop.summary.reason = FinishReason::content_filter;
  if (encoded_) {
    loop.summary.reason = encoded_->tally.summary.reason;
    loop.summary.known_reason = encoded_->tally.summary.known_reason;
  }
  record(error, loop.summary, loop.cut);
}

net::Task<> AnswerSession::deliver() {
  Result<void> written;
  if (stream_) {
    begin_stream();
    const std::string_view bytes = take_out();
    written = co_await audience_.end(bytes);
  } else {
    net::Headers& headers = audience_.headers();
    headers.add("content-type", "application/json");
    add_notices();
    if (encoded_) add_counters(headers, encoded_->tally.summary, job_.options.policy);
    status_ = 200;
    bytes_out_ += out_.size();
    if (job_.capture) job_.capture->client_got(200, headers, out_);
    log_.record().responded(out_);
    written = co_await audience_.respond(200, out_);
  }
  if (written) how_ = TurnEnd::How::answered;
}

net::Task<> AnswerSession::refuse(const Error& error) {
  how_ = audience_.has_started() ? TurnEnd::How::answered : TurnEnd::How::failed;
  status_ = job_.protocol->status_of(error);
  net::Headers& headers = audience_.headers();
  add_refusal_headers(headers, error);
  headers.add(kAttemptsHeader, std::to_string(log_.facts().tries));
  headers.add("content-type", "application/json");
  Error named = error;
  named.request_id = job_.request_id;
  const std::string body = job_.protocol->error_body(named);
  if (job_.capture) job_.capture->client_got(status_, headers, body);
  log_.record().responded(body);
  audience_.fail(error);
  (void)co_await audience_.respond(status_, body);
}

void AnswerSession::record(const Error& error, const TurnSummary& summary, std::string_view cut) {
  TurnRecord& row = log_.record();
  if (encoded_ && row.keeps_content() && how_ != TurnEnd::How::failed) {
    row.ended(encoded_->answer.kept());
  }
  TurnLog::End end;
  end.how = how_;
  end.status = status_;
  end.bytes_out = audience_.bytes_out().value_or(bytes_out_);
  end.error = &error;
  const std::string verdicts = judge_ ? judge_->verdicts() : std::string();
  const std::string both = joined(std::string(cut), verdicts);
  end.cut = both;
  if (loop_id_.empty()) end.replayed = &job_.request;
  log_.end(end, summary);
}

net::Task<> run_turn(TurnHost host, std::unique_ptr<LoopWork> work, const net::Headers& asked,
                     Audience& audience) {
  TurnJob& job = work->job;
  TurnLog log(host, job, asked);
  AnswerSession session(host, job, log, audience, AnswerSession::Wants::bytes);
  Round round(host, job, log, job.request, job.options.policy, session);
  log.begin(job.session);
  audience.on_gone([&round, &session] {
    session.leave();
    round.cancel();
  });
  Result<void> allowed;
  if (session.has_judge()) allowed = co_await session.judge_prompt();
  Round::End end = Round::End::failed;
  if (allowed) end = co_await round.run();
  if (!allowed && audience.is_gone()) end = Round::End::gone;
  audience.on_gone({});
  const Error& error = allowed ? round.error() : std::as_const(allowed).error();
  co_await session.end(end, error);
}

}  // namespace callgate::server
