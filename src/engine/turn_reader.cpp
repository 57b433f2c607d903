#include "engine/turn_reader.h"

#include <utility>

#include "dialect/missed_call.h"
#include "engine/client_stages.h"
#include "engine/dialect_stage.h"
#include "engine/grammar_stage.h"
#include "policy/call_limit.h"
#include "policy/call_whitespace.h"
#include "policy/error_after_tools.h"
#include "policy/invalid_arguments.h"
#include "policy/undeclared_tools.h"
#include "policy/unique_call_ids.h"

namespace callgate::engine {
namespace {

// Nobody misses a call where none was wanted.
std::size_t searched_bytes(const Request& request, const PipelineOptions& options) {
  const bool wanted = !request.tools.empty() && request.tool_choice.mode != ToolChoice::Mode::none;
  return wanted ? options.search_missed : 0;
}

}  // namespace

void TurnReader::Entrance::accept(const Event& event) {
  const bool is_end =
      std::holds_alternative<UsageReported>(event) || std::holds_alternative<TurnFinished>(event);
  count_ += is_end ? 0 : 1;
  next_.accept(event);
}

TurnReader::TurnReader(const Request& request, const WireFormat& wire,
                       const PipelineOptions& options, TurnOutlet& to)
    : request_(request),
      policy_(options.policy),
      dialect_is_default_(options.dialect_is_default),
      max_body_(options.max_body),
      to_(to),
      tally_(to.tally()),
      framing_(wire.framing, options.max_frame, options.max_body),
      decoder_(wire.make_decoder(request)) {
  tally_.keep_text = searched_bytes(request, options);
  for (std::uint32_t i = 0; i < request.choices; ++i) {
    Watched watched;
    Stages stages = make_stages(wire, options, watched);
    lines_.push_back(std::make_unique<Line>(std::move(stages), watched, said_, to.choice(i)));
  }
}

// The order of stages is code, not configuration. Stages that are off are left out. What follows them is in ClientChoices.
TurnReader::Stages TurnReader::make_stages(const WireFormat& wire, const PipelineOptions& options,
                                           Watched& watched) {
  constexpr std::size_t kMostStages = 10;
  Stages stages;
  stages.reserve(kMostStages);
  const auto add = [&](auto stage) {
    auto* added = stage.get();
    stages.push_back(std::move(stage));
    return added;
  };
  // Calls and reasoning that the model wrote as text become events. First, since all else looks at events.
  add_dialect(stages, wire, options, watched);
  // Calls of undeclared tools become text or a note, before anything counts calls or looks for white space before
  // them.
  add_undeclared_tools(stages);
  // White space before a call in the text goes, before calls are withheld: it belongs to its call even then. It stays
  // where calls become text.
  if (policy_.call_whitespace && !calls_become_text(policy_.output)) {
    const bool one_of_many = options.sink != nullptr;  // a round of a loop
    add(std::make_unique<policy::CallWhitespace>(
        options.max_held_back,
        one_of_many ? policy::SpaceBeforeCall::keep_after_text : policy::SpaceBeforeCall::drop));
  }
  // Repeated calls go, before the limit: a repetition takes no place of another call.
  if (policy_.dedupe_calls) {
    watched.dedupe =
        add(std::make_unique<policy::DedupeCalls>(options.max_held_back, tally_.withheld));
  }
  // So many calls pass and no more.
  if (const std::uint32_t limit = call_limit(); limit > 0) {
    add(std::make_unique<policy::CallLimit>(limit, tally_.withheld));
  }
  // The turn is cut after its calls, by the calls that the client gets. Before whatever must see the end of the turn.
  if (policy_.stop_after_tools == StopAfterTools::first ||
      (policy_.stop_after_tools == StopAfterTools::burst && request_.stream)) {
    watched.stop_position = stages.size();
    watched.stop = add(std::make_unique<policy::StopAfterToolCalls>(
        policy_.stop_after_tools, request_.stream, tally_.withheld));
  }
  // Arguments are mended after repetitions were compared and calls withheld: only what passes counts as mended.
  add_invalid_arguments(stages, options.max_held_back);
  // What the client gets for its custom tools is checked.
  if (GrammarStage::is_needed(request_)) {
    TurnSummary& summary = tally_.summary;
    add(std::make_unique<GrammarStage>(
        request_, options.max_held_back,
        GrammarCounts{summary.grammar_broken, summary.grammar_unchecked}));
  }
  // A failed turn ends with its complete calls: those that pass.
  if (may_pass_over_errors()) add(std::make_unique<policy::ErrorAfterToolCalls>());
  // Every call gets an id that no other call of the choice has; a withheld call uses none up.
  add(std::make_unique<policy::UniqueCallIds>(policy_.call_id_style, tally_.mint));
  return stages;
}

void TurnReader::add_dialect(Stages& stages, const WireFormat& wire, const PipelineOptions& options,
                             Watched& watched) {
  if (options.dialect == nullptr) return;
  const DialectOptions dialect{.tools = request_.tools,
                               .special_tokens_only = wire.structured_calls,
                               .start = options.reasoning_open ? Channel::reasoning : Channel::text,
                               .commit = options.commit.value_or(options.dialect->commit),
                               .max_held_back = options.max_held_back,
                               .explain = options.explain};
  const bool tools =
      options.text_calls && (!request_.tools.empty() || !request_.other_tools.empty());
  auto stage = std::make_unique<DialectStage>(
      *options.dialect, dialect, tools ? DialectStage::Tools::declared : DialectStage::Tools::none,
      markup_, tally_.summary);
  watched.dialect = stage.get();
  stages.push_back(std::move(stage));
}

// A caller that wants no calls gets those that come all the same as text. The names of tools that are not functions are
// unknown to callgate: then there is nothing to judge by.
void TurnReader::add_undeclared_tools(Stages& stages) {
  const bool none = request_.tool_choice.mode == ToolChoice::Mode::none;
  const UndeclaredTools rule = none ? UndeclaredTools::text : policy_.undeclared_tools;
  if (rule == UndeclaredTools::pass || !request_.other_tools.empty()) return;
  std::span<const ToolSpec> declared = request_.tools;
  if (none) declared = {};
  stages.push_back(std::make_unique<policy::UndeclaredToolCalls>(rule, declared, tally_.withheld));
}

std::uint32_t TurnReader::call_limit() const {
  return request_.parallel_tool_calls.value_or(true) ? policy_.tool_call_max : 1;
}

void TurnReader::add_invalid_arguments(Stages& stages, std::size_t max_held_back) {
  std::uint32_t& mended = tally_.summary.mended_calls;
  switch (policy_.invalid_arguments) {
    case InvalidArguments::pass:
      return;
    case InvalidArguments::repair:
      stages.push_back(std::make_unique<policy::RepairArguments>(mended));
      return;
    case InvalidArguments::raw:
      stages.push_back(std::make_unique<policy::RawArguments>(max_held_back, mended));
      return;
  }
}

void TurnReader::push(std::string_view upstream_bytes) {
  if (finished_ && !cut_short_) return;
  framing_.push(upstream_bytes, [this](const SseFrame& frame) { feed(frame); });
  if (const std::optional<Error> overflow = framing_.overflow()) return conclude_with(*overflow);
  if (is_too_large()) return conclude_with(too_large("an answer"));
  settle();
}

// A whole answer is as large as the upstream makes it, in one piece or in frames.
bool TurnReader::is_too_large() const {
  return !request_.stream && said_bytes(tally_.summary) > max_body_;
}

std::size_t TurnReader::held() const {
  std::size_t bytes = framing_.held();
  for (const auto& line : lines_) {
    if (line->watched.dialect != nullptr) bytes += line->watched.dialect->held_back();
  }
  return bytes;
}

void TurnReader::finish() {
  if (finished_) return;
  framing_.finish([this](const SseFrame& frame) { feed(frame); },
                  [this](std::string_view body) { feed_body(body); });
  if (!decoder_->finished()) {
    to_.begin_frame();
    decoder_->finish(*this);
    to_.end_frame();
  }
  settle();
}

void TurnReader::fail(const Error& error) {
  if (finished_) return;
  if (!decoder_->complete()) return conclude_with(error);
  to_.begin_frame();
  decoder_->finish(*this);
  to_.end_frame();
  settle();
}

void TurnReader::feed(const SseFrame& frame) {
  if (cut_short_) ++tally_.summary.late_frames;
  if (finished_) return;
  ++tally_.summary.frames_in;
  to_.begin_frame();
  decoder_->push(frame, *this);
  to_.end_frame();
  end_if_cut();
}

void TurnReader::feed_body(std::string_view body) {
  ++tally_.summary.frames_in;
  to_.begin_frame();
  decoder_->push_body(body, *this);
  to_.end_frame();
  end_if_cut();
}

void TurnReader::end_turn() {
  sum_up();
  finished_ = true;
  to_.end();
}

// A cut of every choice is the end of the answer. A whole answer is read to its end all the same.
void TurnReader::end_if_cut() {
  if (policy_.stop_after_tools == StopAfterTools::off || !request_.stream) return;
  for (const auto& line : lines_) {
    if (!line->is_cut()) return;
  }
  cut_short_ = true;
  end_turn();
}

std::optional<std::uint32_t> TurnReader::grace() const {
  if (policy_.stop_after_tools != StopAfterTools::burst || finished_) return std::nullopt;
  std::uint32_t calls = 0;
  for (const auto& line : lines_) {
    if (line->is_cut()) continue;
    const Watched& watched = line->watched;
    const auto seen = watched.stop == nullptr ? std::nullopt : watched.stop->grace();
    const bool call_open = watched.dedupe != nullptr && watched.dedupe->is_holding_back();
    if (!seen || call_open) return std::nullopt;
    calls += *seen;
  }
  return calls;
}

void TurnReader::cut() {
  if (!grace()) return;
  to_.begin_frame();
  for (const auto& line : lines_) {
    if (line->is_cut()) continue;
    line->watched.stop->cut(line->chain.behind(line->watched.stop_position));
  }
  to_.end_frame();
  end_if_cut();
}

// Ends the turn if the upstream's answer is over.
void TurnReader::settle() {
  if (finished_) return;
  if (decoder_->error()) return conclude_with(*decoder_->error());
  if (decoder_->finished()) end_turn();
}

void TurnReader::conclude_with(const Error& failure) {
  if (finished_) return;
  if (may_pass_over_errors() && tally_.visible) {
    decoder_->abort(*this);
    if (tally_.summary.reason != FinishReason::upstream_error) {
      tally_.summary.error_passed_over = true;
      return end_turn();
    }
  }
  error_ = failure;
  // A whole answer is not written in parts, and what nobody has seen yet is answered with a status.
  if (request_.stream && tally_.visible) {
    decoder_->abort(*this);
    to_.fail(failure);
  }
  finished_ = true;
  tally_.summary.reason = FinishReason::upstream_error;
  sum_up();
}

// One choice that ends well must not hide another that failed.
bool TurnReader::may_pass_over_errors() const {
  return policy_.error_after_tools == ErrorAfterTools::tool_calls && request_.choices == 1;
}

void TurnReader::sum_up() {
  TurnSummary& summary = tally_.summary;
  if (summary.calls == 0 && !tally_.text.empty()) {
    summary.missed_in = dialect::find_missed_call(tally_.text, request_.tools);
  }
  summary.repairs = decoder_->repairs();
  summary.dropped = decoder_->dropped();
  summary.withheld_calls = tally_.withheld.calls;
  summary.withheld_bytes = tally_.withheld.bytes;
  for (const auto& line : lines_) summary.cut = summary.cut || line->is_cut();
  summary.cut_by = summary.cut ? "stop_after_tools" : tally_.withheld.by;
  if (dialect_is_default_) {
    summary.repairs[static_cast<std::size_t>(Repair::markup_in_text)] += markup_;
  }
}

}  // namespace callgate::engine
