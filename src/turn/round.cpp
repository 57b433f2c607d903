#include "turn/round.h"

#include <algorithm>
#include <utility>

#include "access/token_meter.h"
#include "chat/token_estimate.h"
#include "dial/call_habits.h"
#include "dial/text_tools.h"
#include "turn/attempt.h"
#include "turn/observe.h"
#include "turn/pool_copy.h"
#include "turn/pool_route.h"

// After every wait the round may have been dropped: then neither job, log nor listener is touched.
namespace callgate::server {
namespace {

// So much of an upstream's bytes is read before it is counted: what streams say beyond a budget is less.
constexpr std::size_t kMeteredBytes = 256;
// What is left of a budget may be with other gateways for a moment.
constexpr std::uint64_t kBudgetPatience = 2'000;  // ms
constexpr net::Millis kBudgetPoll{10};

bool is_due(const std::optional<net::Millis>& wait) { return wait && wait->count() == 0; }

// The shortest of them; kNever when there is none.
net::Millis least(std::initializer_list<std::optional<net::Millis>> waits) {
  std::optional<net::Millis> found;
  for (const auto& wait : waits) {
    if (wait) found = std::min(found.value_or(*wait), *wait);
  }
  return found.value_or(net::kNever);
}

Error deadline_error(const ModelConfig& model) {
  return {.code = ErrorCode::timed_out,
          .message = "no upstream answered within the deadline of model \"" + model.name + "\", " +
                     std::to_string(model.deadline.count()) + " ms",
          .upstream_code = "deadline"};
}

Error queue_error(const UpstreamConfig& upstream) {
  return {.code = ErrorCode::rate_limited,
          .message = "upstream \"" + upstream.name +
                     "\" has as many requests as it may have, and " + "no room came within " +
                     std::to_string(upstream.queue_timeout.count()) + " ms",
          .upstream_code = "upstream_limit",
          .retry_after = "1"};
}

}  // namespace

Round::Round(const TurnHost& host, const TurnJob& job, TurnLog& log, const Request& request,
             const PolicyOptions& policy, RoundListener& listener, bool skip_first)
    : host_(host),
      job_(job),
      log_(log),
      request_(request),
      policy_(policy),
      listener_(&listener),
      snapshot_(job.snapshot),
      capture_(job.capture),
      meter_(job.meter),
      streams_(request.stream),
      own_model_(job.model.own),
      model_(job.config()),
      walk_(make_walk(job, request, host.loop.now(), skip_first)),
      question_(make_question(job, request)),
      insist_(request.tool_choice),
      memory_(&host.world.memory, MemoryUse::need) {
  deadline_.on_expiry(
      [](void* self) {
        auto& round = *static_cast<Round*>(self);
        round.expired_ = true;
        round.cancel();
      },
      this);
}

net::Task<Round::End> Round::run() {
  if (model_.deadline.count() > 0) {
    host_.loop.arm(deadline_, net::Millis(model_.deadline.count()));
  }
  for (;;) {
    const UpstreamConfig* upstream = co_await next_upstream();
    if (is_gone()) co_return End::gone;
    if (upstream == nullptr) co_return End::failed;
    Step step = Step::failed;
    if (begin_attempt(*upstream)) step = end_attempt(co_await ask(*upstream));
    settle_ticket(step);
    if (key_stops_ && step == Step::failed) co_return End::failed;
    switch (step) {
      case Step::ended:
        co_return End::ended;
      case Step::broken:
        co_return End::broken;
      case Step::gone:
        co_return End::gone;
      case Step::no_call:
        insist_.insist();
        walk_.again();
        break;
      case Step::failed:
        note_failure(*upstream);
        break;
    }
  }
}

void Round::cancel() {
  if (call_ != nullptr) call_->cancel();
  if (line_ != nullptr) line_->notify();
}

void Round::drop() {
  listener_ = nullptr;
  deadline_.disarm();
  cancel();
}

const UpstreamConfig& Round::upstream_at(std::size_t place) const {
  return *snapshot_->config.find_upstream(walk_.places()[place].upstream);
}

net::Task<const UpstreamConfig*> Round::next_upstream() {
  for (;;) {
    Board::Answer answer = host_.world.pools.next(walk_, question_, host_.loop.now());
    if (std::holds_alternative<PoolWalk::Stop>(answer.step)) {
      if (walk_.budget_was_empty()) host_.world.metrics.retries_refused.with(model_.name).add();
      error_ = expired_ ? deadline_error(model_) : walk_.error(host_.loop.now());
      co_return nullptr;
    }
    if (!failed_at_.empty()) log_.will_retry(std::exchange(failed_at_, {}), error_);
    if (const auto* ask = std::get_if<PoolWalk::Ask>(&answer.step)) {
      ticket_ = std::move(answer.ticket);
      if (answer.copy) start_copy(std::move(*answer.copy));
      co_return &upstream_at(ask->place);
    }
    if (const auto* line = std::get_if<PoolWalk::Queue>(&answer.step)) {
      const UpstreamConfig& upstream = upstream_at(line->place);
      co_await wait_in_line(upstream.name);
      if (listener_ == nullptr) co_return nullptr;
      if (ticket_) co_return &upstream;
      error_ = queue_error(upstream);
      walk_.failed({.error = error_}, host_.loop.now());
    }
    if (const auto* pause = std::get_if<PoolWalk::Pause>(&answer.step)) {
      co_await host_.loop.sleep(net::Millis(pause->time.count()));
    }
    if (is_gone()) co_return nullptr;
  }
}

net::Task<> Round::wait_in_line(const std::string& upstream) {
  net::Loop& loop = host_.loop;
  const auto signal = std::make_shared<net::Signal>(loop);
  const auto wake = [signal, &loop] { loop.post([signal] { signal->notify(); }); };
  const Milliseconds patience = snapshot_->config.find_upstream(upstream)->queue_timeout;
  const auto wait = host_.world.pools.join_line(upstream, question_, wake, loop.now());
  line_ = signal;
  ticket_ = wait->take();
  if (!ticket_ && patience.count() > 0) {
    (void)co_await signal->wait(net::Millis(patience.count()));
    ticket_ = wait->take();
  }
  line_.reset();
  if (listener_ == nullptr || expired_) ticket_.abandon();
}

// What the copy needs is copied here, where everything is still alive.
void Round::start_copy(Board::Copy trial) {
  const UpstreamConfig& upstream = *snapshot_->config.find_upstream(trial.upstream);
  auto copy = std::make_unique<PoolCopy>();
  copy->target = host_.targets.find(upstream.name);
  std::optional<engine::TextTools> text;
  if (!request_.tools.empty()) {
    text = text_tools_for(upstream, model_, job_.dialect_name(), snapshot_->text_only);
  }
  auto encoded = encode_for(upstream, model_, job_.model.rules, text, request_);
  copy->memory = Reservation(&host_.world.memory, MemoryUse::copy);
  const bool fits = encoded && copy->memory.grow_to(2 * encoded->request.body.size());
  if (copy->target == nullptr || !fits) return;
  copy->trial = std::move(trial);
  copy->snapshot = snapshot_;
  copy->own_model = own_model_;
  copy->model = &model_;
  copy->upstream = &upstream;
  copy->request = encoded->prepared ? std::move(*encoded->prepared) : request_;
  copy->encoded = std::move(encoded->request);
  host_.loop.spawn(send_copy(host_.world, host_.loop, std::move(copy)));
}

void Round::note_failure(const UpstreamConfig& upstream) {
  failed_at_ = upstream.name;
  const Asked asked{upstream, model_, job_.dialect_name(), text_.has_value()};
  if (learn_text_only(host_.world, *snapshot_, asked, error_)) return walk_.again();
  walk_.failed({.error = error_, .asked = asked_}, host_.loop.now());
}

void Round::settle_ticket(Step step) {
  const std::uint64_t now = host_.loop.now();
  const bool answered = step == Step::ended || step == Step::no_call;
  const bool refused = step == Step::failed || step == Step::broken;
  if (answered) {
    std::optional<std::int64_t> tokens;
    if (const auto& usage = summary().usage) {
      tokens = usage->prompt_tokens + usage->completion_tokens;
    }
    return ticket_.succeeded(tokens, now);
  }
  // What the gateway itself could not do says nothing of the upstream.
  if (!refused || !asked_ || target_ == nullptr || key_stops_) return ticket_.abandon();
  ticket_.failed(error_, now);
}

bool Round::begin_attempt(const UpstreamConfig& upstream) {
  log_.begin_attempt(upstream);
  log_.facts().tries = walk_.tries();
  close_call();
  asked_ = prepare(upstream);
  return asked_ && open_call(upstream);
}

Round::Step Round::end_attempt(Step step) {
  if (listener_ == nullptr) return Step::gone;
  if (expired_ && step == Step::failed) error_ = deadline_error(model_);
  forget_encoded();
  if (std::string own = call_->take_sent(); !own.empty()) log_.record().sent(std::move(own));
  const bool failed = !key_stops_ && (step == Step::failed || step == Step::broken);
  log_.end_attempt(status_, failed ? &error_ : nullptr);
  if (step == Step::ended) {
    captured_.reset();
    if (!drained_) host_.loop.spawn(read_away(std::move(target_), std::move(call_)));
    close_call();
  }
  return step;
}

bool Round::prepare(const UpstreamConfig& upstream) {
  text_.reset();
  if (!request_.tools.empty()) {
    text_ = text_tools_for(upstream, model_, job_.dialect_name(), snapshot_->text_only);
  }
  auto encoded = encode_for(upstream, model_, job_.model.rules, text_, request_);
  if (!encoded) {
    error_ = encoded.error();
    return false;
  }
  prepared_.reset();
  if (encoded->prepared) prepared_ = std::make_unique<Request>(std::move(*encoded->prepared));
  encoded_ = std::make_unique<UpstreamRequest>(std::move(encoded->request));
  log_.facts().dropped = std::move(encoded->dropped);
  return true;
}

// A reload may have left the last try the only user of its target.
void Round::close_call() {
  captured_.reset();
  call_.reset();
  target_.reset();
}

bool Round::open_call(const UpstreamConfig& upstream) {
  status_ = 0;
  drained_ = false;
  target_ = host_.targets.find(upstream.name);
  if (target_ == nullptr) {
    error_ = {.code = ErrorCode::unavailable,
              .message = "upstream \"" + upstream.name + "\" is not configured any more"};
    return false;
  }
  log_.will_send(upstream, *encoded_);
  call_ = target_->call(model_);
  const Origin origin{.prompt = prepared_ ? *prepared_ : request_,
                      .key_name = job_.key_name(),
                      .session = job_.session,
                      .request = job_.request_id};
  call_->set_origin(origin);
  if (capture_ != nullptr) captured_.emplace(*call_, *capture_, upstream);
  return true;
}

net::Task<Round::Step> Round::ask(const UpstreamConfig& upstream) {
  const auto sent = co_await wire().send(request_, *encoded_);
  prepared_.reset();
  if (listener_ == nullptr) co_return Step::gone;
  if (sent) status_ = call_->status();
  if (!sent) {
    error_ = sent.error();
    add_login_hint(error_, upstream);
  } else if (status_ >= 300 || status_ < 200) {
    error_ = co_await read_refusal(wire(), upstream, encoded_->path);
  } else {
    co_return co_await read(upstream);
  }
  co_return is_gone() ? Step::gone : Step::failed;
}

PipelineOptions Round::reading_options(const UpstreamConfig& upstream) {
  PipelineOptions options =
      server::reading_options(model_, snapshot_->config.limits, *call_, host_.mint);
  options.dialect = job_.dialect.dialect;
  options.dialect_is_default = job_.dialect.is_default;
  options.text_calls = may_write_calls(options.dialect, snapshot_->habits, upstream.name,
                                       model_.name, text_.has_value());
  options.policy = policy_;
  if (ExplainLog::is_wanted(host_.world)) {
    explain_ = std::make_unique<ExplainLog>(host_.world, log_.labels());
    options.explain = explain_.get();
  }
  if (capture_ == nullptr) return options;
  options.wire = wire_of(upstream).name;
  options.protocol = job_.protocol->name;
  return options;
}

void Round::open_reader(const UpstreamConfig& upstream) {
  AttemptFacts& facts = log_.facts();
  facts.session_state = call_->header(kSessionStateHeader);
  facts.session = call_->header(kSessionHeader);
  facts.read_as = job_.dialect_name();
  reader_.reset();
  hold_.reset();
  PipelineOptions options = reading_options(upstream);
  outlet_ = listener_->begin_answer(request_, options);
  if (insist_.holds(text_ || !job_.model.rules.prompt_dialect.empty())) {
    using NoCall = engine::CallHold::NoCall;
    hold_ = std::make_unique<engine::CallHold>(
        *outlet_, request_.choices, insist_.insisted() ? NoCall::let_go : NoCall::keep_back);
  }
  engine::TurnOutlet& to = hold_ ? static_cast<engine::TurnOutlet&>(*hold_) : *outlet_;
  reader_ = std::make_unique<engine::TurnReader>(request_, wire_of(upstream), options, to);
  gave_up_ = false;
  if (meter_ != nullptr) meter_->begin_answer(upstream.name, estimate_tokens(request_));
}

net::Task<Round::Step> Round::read(const UpstreamConfig& upstream) {
  open_reader(upstream);
  const bool stayed = co_await pump(upstream);
  if (meter_ != nullptr) meter_->end_answer(summary(), stayed && !reader_->error());
  if (listener_ == nullptr) co_return Step::gone;
  log_.used(upstream.name, meter_ == nullptr ? summary().usage : meter_->answer());
  listener_->end_answer(summary());
  learn_calls(job_.dialect.dialect, summary(), upstream.name, model_.name, snapshot_->habits,
              host_.world.log);
  settling_ = true;
  co_await wire().settle();
  settling_ = false;
  if (!stayed || listener_ == nullptr) co_return Step::gone;
  if (hold_ != nullptr && hold_->missed()) co_return Step::no_call;
  if (listener_->has_enough()) {
    wire().cancel();
    co_return Step::ended;
  }
  // Nobody wants what the upstream is still writing.
  if (reader_->cut_short() || gave_up_) wire().cancel();
  if (!reader_->error()) co_return Step::ended;
  error_ = *reader_->error();
  add_login_hint(error_, upstream);
  co_return listener_->is_committed() ? Step::broken : Step::failed;
}

net::Task<bool> Round::pump(const UpstreamConfig& upstream) {
  Silence silence(upstream);
  GraceTimer grace(model_.stop_after_tools_grace);
  while (!reader_->finished() && !listener_->has_enough()) {
    const std::uint64_t now = host_.loop.now();
    const auto wait = listener_->patience(now);
    const auto left = grace.left(reader_->grace(), now);
    const auto silent = silence.left(reader_->progress(), reader_->complete());
    if (is_due(left)) {
      cut();
    } else if (is_due(silent)) {
      give_up(silence.error());
    } else if (is_due(wait)) {
      const bool stays = co_await listener_->on_time();
      if (!stays || is_gone()) co_return false;
      check_limits();
    } else {
      const net::Millis patience = least({wait, left, silent});
      const auto piece = co_await wire().read(patience);
      if (is_gone()) co_return false;
      silence.add(host_.loop.now() - now, piece && !piece->bytes.empty());
      if (meter_ != nullptr && piece && !piece->waiting && !piece->bytes.empty()) {
        co_await take_metered(piece->bytes);
        if (is_gone()) co_return false;
      } else {
        take(piece);
      }
    }
    // Nothing is read that cannot leave yet.
    if (reader_->finished() || !listener_->waits()) continue;
    const bool sent = co_await listener_->send();
    if (!sent || is_gone()) co_return false;
    if (!listener_->is_committed()) continue;
    deadline_.disarm();
    forget_encoded();
  }
  while (!reader_->error() && listener_->is_judging()) {
    const bool sent = co_await listener_->send();
    if (!sent || is_gone()) co_return false;
  }
  co_return true;
}

void Round::take(const Result<UpstreamCall::Piece>& piece) {
  if (!piece) {
    reader_->fail(piece.error());
  } else if (piece->waiting) {
    return;
  } else if (piece->bytes.empty()) {
    drained_ = true;
    reader_->finish();
  } else {
    log_.heard_byte();
    listener_->before_read(piece->bytes.size());
    reader_->push(piece->bytes);
    if (!ticket_.was_heard() && reader_->progress() > 0) ticket_.heard(host_.loop.now());
  }
  announce();
  if (!reader_->finished()) check_limits();
}

net::Task<> Round::take_metered(std::string_view bytes) {
  log_.heard_byte();
  std::string rest;  // what was read is only there until somebody else reads
  while (!bytes.empty() && !reader_->finished()) {
    const std::string_view step = bytes.substr(0, kMeteredBytes);
    bytes.remove_prefix(step.size());
    reader_->push(step);
    meter_->add(summary());
    if (!streams_ || reader_->finished() || meter_->state() == Budget::State::free) continue;
    rest.assign(bytes);
    bytes = rest;
    const bool goes_on = co_await wait_for_budget();
    if (!goes_on) co_return;
  }
  if (!ticket_.was_heard() && reader_->progress() > 0) ticket_.heard(host_.loop.now());
  announce();
  if (!reader_->finished()) check_limits();
}

net::Task<bool> Round::wait_for_budget() {
  const std::uint64_t until = host_.loop.now() + kBudgetPatience;
  for (;;) {
    const Budget::State state = meter_->state();
    if (state == Budget::State::free) co_return true;
    const bool late = host_.loop.now() >= until;
    if (state == Budget::State::used_up || late) {
      key_stops_ = true;
      const Error error = meter_->error();
      observe_budget(host_.world, job_.key_name(), "stopped");
      give_up(error);
      co_return false;
    }
    meter_->want_more();
    co_await host_.loop.sleep(kBudgetPoll);
    if (is_gone()) co_return false;
  }
}

void Round::check_limits() {
  const std::size_t held = reader_->held() + (hold_ == nullptr ? 0 : hold_->held());
  if (!memory_.fit(held)) return give_up(out_of_memory());
  const auto error = listener_->objection();
  if (!error) return;
  key_stops_ = error->code == ErrorCode::unauthenticated;
  give_up(*error);
}

void Round::cut() {
  reader_->cut();
  if (capture_ != nullptr) capture_->cut();
  announce();
}

void Round::give_up(const Error& error) {
  gave_up_ = true;
  reader_->fail(error);
  if (capture_ != nullptr) capture_->gave_up(error);
  announce();
}

void Round::announce() {
  AttemptFacts& facts = log_.facts();
  facts.settled_on = summary().settled_on;
  if (reader_->finished()) facts.unsaid = summary().dropped;
  if (hold_ != nullptr) facts.lacks_call = insist_.insisted() && !hold_->has_call();
  log_.progress(summary());
  listener_->after_read();
}

// What was sent has done its work: an answer that streams for long should not hold it.
void Round::forget_encoded() {
  if (!encoded_) return;
  log_.record().sent(std::move(encoded_->body));
  encoded_.reset();
}

}  // namespace callgate::server
