#include "callgate/pipeline.h"

#include <utility>

#include "base/ids.h"
#include "client/protocol.h"
#include "dialect/missed_call.h"
#include "engine/answer_notes.h"
#include "engine/choice_chain.h"
#include "engine/client_stages.h"
#include "engine/dialect_stage.h"
#include "engine/framing.h"
#include "engine/turn_keeper.h"
#include "engine/turn_tap.h"
#include "policy/call_limit.h"
#include "policy/call_whitespace.h"
#include "policy/dedupe_calls.h"
#include "policy/error_after_tools.h"
#include "policy/invalid_arguments.h"
#include "policy/stop_after_tools.h"
#include "policy/undeclared_tools.h"
#include "policy/unique_call_ids.h"
#include "upstream/wire_format.h"

namespace callgate {
namespace {

// Stands where the client's encoder does when the events go to somebody else.
class EventOutlet final : public ResponseEncoder {
 public:
  explicit EventOutlet(EventSink& sink) : sink_(sink) {}
  EventSink& choice(std::uint32_t index) override { return index == 0 ? sink_ : nowhere_; }
  void bind(std::string&) override {}
  void finish(const AnswerEnd&) override {}
  void note(std::string_view, std::string_view) override {}
  void fail(const Error&) override {}

 private:
  class Nowhere final : public EventSink {
    void accept(const Event&) override {}
  };
  EventSink& sink_;
  Nowhere nowhere_;
};

// Counts what the upstream says on its way into the stages.
class Counted final : public EventSink {
 public:
  Counted(std::uint64_t& count, EventSink& next) : count_(count), next_(next) {}
  void accept(const Event& event) override {
    const bool is_end =
        std::holds_alternative<UsageReported>(event) || std::holds_alternative<TurnFinished>(event);
    count_ += is_end ? 0 : 1;
    next_.accept(event);
  }

 private:
  std::uint64_t& count_;
  EventSink& next_;
};

}  // namespace

struct Pipeline::Parts final : ChoiceSinks {
  Parts(const Request& asked, PipelineOptions given, const WireFormat& format,
        const Protocol& spoken)
      : request(asked),
        options(std::move(given)),
        wire(format),
        mint(options.id_seed),
        framing(wire.framing, options.max_frame, options.max_body),
        decoder(wire.make_decoder(request)),
        protocol(spoken),
        identity(make_identity()),
        encoder(make_encoder()),
        lines(request.choices),
        prompt_bytes(options.policy.estimate_usage ? engine::prompt_bytes(request) : 0) {
    if (options.keep > 0) keeper.emplace(request.choices, options.keep);
  }

  // One choice on its way from the decoder to the encoder.
  struct Line {
    std::unique_ptr<engine::TurnTap> tap;
    std::unique_ptr<engine::ChoiceChain> chain;
    std::optional<Counted> entrance;
    policy::DedupeCalls* dedupe = nullptr;
    policy::StopAfterToolCalls* stop = nullptr;
    std::size_t stop_position = 0;
    engine::HeldWords held;

    bool is_cut() const { return stop != nullptr && stop->is_cut(); }
  };

  ResponseIdentity make_identity() {
    ResponseIdentity made{
        .id = options.response_id.empty() ? mint.mint("chatcmpl-", 29) : options.response_id,
        .model = options.model.empty() ? request.model : options.model,
        .created = options.created,
        .reasoning_field = options.policy.reasoning == ReasoningForm::reasoning
                               ? "reasoning"
                               : "reasoning_content"};
    if (options.observer != nullptr) options.observer->turn_started(made.id);
    return made;
  }

  std::unique_ptr<ResponseEncoder> make_encoder() const {
    if (options.sink != nullptr) return std::make_unique<EventOutlet>(*options.sink);
    return protocol.make_encoder(request, identity);
  }

  std::vector<std::unique_ptr<Stage>> make_stages(Line& line);
  void add_undeclared_tools(std::vector<std::unique_ptr<Stage>>& stages);
  void add_invalid_arguments(std::vector<std::unique_ptr<Stage>>& stages);
  std::uint32_t call_limit() const;
  EventSink& choice(std::uint32_t index) override;
  std::uint32_t count() const override { return request.choices; }

  void feed(const SseFrame& frame);
  void feed_body(std::string_view body);
  void settle();
  void end_answer();
  AnswerEnd answer_end();
  bool may_pass_over_errors() const;
  void end_if_cut();
  std::optional<std::uint32_t> grace() const;
  void conclude_with(const Error& failure);
  void sum_up();
  std::size_t searched_bytes() const;
  std::string whole_answer() const;

  const Request& request;
  PipelineOptions options;
  const WireFormat& wire;
  IdMint mint;
  engine::Framing framing;
  std::unique_ptr<ResponseDecoder> decoder;
  const Protocol& protocol;
  const ResponseIdentity identity;
  std::unique_ptr<ResponseEncoder> encoder;
  std::optional<engine::TurnKeeper> keeper;
  std::vector<Line> lines;
  std::uint64_t prompt_bytes;
  std::uint32_t markup = 0;
  std::uint64_t said = 0;  // events of the upstream that are part of the answer
  std::int64_t first_token_ms = 0;
  bool finished = false;
  bool answered = false;                    // a whole answer was written
  std::optional<AnswerEnd::Timing> timing;  // as the client was told
  bool cut_short = false;
  policy::Withheld withheld;
  std::optional<Error> error;
  TurnSummary summary;
  engine::TurnTally tally{
      .summary = summary, .observer = options.observer, .keep_text = searched_bytes()};
};

// The order of stages is code, not configuration. Stages that are off are left out.
std::vector<std::unique_ptr<Stage>> Pipeline::Parts::make_stages(Line& line) {
  const PolicyOptions& rules = options.policy;
  std::vector<std::unique_ptr<Stage>> stages;
  const auto add = [&](auto stage) {
    auto* added = stage.get();
    stages.push_back(std::move(stage));
    return added;
  };
  // Calls and reasoning that the model wrote as text become events. First, since all else looks at events.
  if (options.dialect != nullptr) {
    const DialectOptions dialect{
        .tools = request.tools,
        .special_tokens_only = wire.structured_calls,
        .start = options.reasoning_open ? Channel::reasoning : Channel::text,
        .commit = options.commit.value_or(options.dialect->commit),
        .max_held_back = options.max_held_back,
        .explain = options.explain};
    const bool tools =
        options.text_calls && (!request.tools.empty() || !request.other_tools.empty());
    add(std::make_unique<engine::DialectStage>(
        *options.dialect, dialect,
        tools ? engine::DialectStage::Tools::declared : engine::DialectStage::Tools::none, markup,
        summary));
  }
  // Calls of undeclared tools become text or a note, before anything counts calls or looks for white space before
  // them.
  add_undeclared_tools(stages);
  // White space before a call in the text goes, before calls are withheld: it belongs to its call even then. It stays
  // where calls become text.
  if (rules.call_whitespace && !engine::calls_become_text(rules.output)) {
    const bool one_of_many = options.sink != nullptr;  // a round of a loop
    add(std::make_unique<policy::CallWhitespace>(
        options.max_held_back,
        one_of_many ? policy::SpaceBeforeCall::keep_after_text : policy::SpaceBeforeCall::drop));
  }
  // Repeated calls go, before the limit: a repetition takes no place of another call.
  if (rules.dedupe_calls) {
    line.dedupe = add(std::make_unique<policy::DedupeCalls>(options.max_held_back, withheld));
  }
  // So many calls pass and no more.
  if (const std::uint32_t limit = call_limit(); limit > 0) {
    add(std::make_unique<policy::CallLimit>(limit, withheld));
  }
  // The turn is cut after its calls, by the calls that the client gets. Before whatever must see the end of the turn.
  if (rules.stop_after_tools == StopAfterTools::first ||
      (rules.stop_after_tools == StopAfterTools::burst && request.stream)) {
    line.stop_position = stages.size();
    line.stop = add(std::make_unique<policy::StopAfterToolCalls>(rules.stop_after_tools,
                                                                 request.stream, withheld));
  }
  // Arguments are mended after repetitions were compared and calls withheld: only what passes counts as mended.
  add_invalid_arguments(stages);
  // A failed turn ends with its complete calls: those that pass.
  if (may_pass_over_errors()) add(std::make_unique<policy::ErrorAfterToolCalls>());
  // Every call gets an id that no other call of the choice has; a withheld call uses none up.
  add(std::make_unique<policy::UniqueCallIds>(rules.call_id_style, mint));
  // How the client sees what is left, after the cut: a cut closes what is open.
  line.held =
      engine::add_client_stages(stages, rules, request.stream, options.max_held_back, withheld);
  // The library user's own policies, in the order given.
  for (const auto& make : options.policies) stages.push_back(make());
  return stages;
}

// A caller that wants no calls gets those that come all the same as text. The names of tools that are not functions are
// unknown to callgate: then there is nothing to judge by.
void Pipeline::Parts::add_undeclared_tools(std::vector<std::unique_ptr<Stage>>& stages) {
  const bool none = request.tool_choice.mode == ToolChoice::Mode::none;
  const UndeclaredTools rule = none ? UndeclaredTools::text : options.policy.undeclared_tools;
  if (rule == UndeclaredTools::pass || !request.other_tools.empty()) return;
  std::span<const ToolSpec> declared = request.tools;
  if (none) declared = {};
  stages.push_back(std::make_unique<policy::UndeclaredToolCalls>(rule, declared, withheld));
}

std::uint32_t Pipeline::Parts::call_limit() const {
  return request.parallel_tool_calls.value_or(true) ? options.policy.tool_call_max : 1;
}

void Pipeline::Parts::add_invalid_arguments(std::vector<std::unique_ptr<Stage>>& stages) {
  switch (options.policy.invalid_arguments) {
    case InvalidArguments::pass:
      return;
    case InvalidArguments::repair:
      stages.push_back(std::make_unique<policy::RepairArguments>(summary.mended_calls));
      return;
    case InvalidArguments::raw:
      stages.push_back(
          std::make_unique<policy::RawArguments>(options.max_held_back, summary.mended_calls));
      return;
  }
}

EventSink& Pipeline::Parts::choice(std::uint32_t index) {
  Line& line = lines[index];
  if (line.chain == nullptr) {
    EventSink* copy = keeper ? &keeper->choice(index) : nullptr;
    line.tap = std::make_unique<engine::TurnTap>(index, tally, encoder->choice(index), copy);
    line.chain = std::make_unique<engine::ChoiceChain>(make_stages(line), *line.tap);
    line.entrance.emplace(said, line.chain->first());
  }
  return *line.entrance;
}

void Pipeline::Parts::feed(const SseFrame& frame) {
  if (cut_short) ++summary.late_frames;
  if (finished) return;
  ++summary.frames_in;
  const bool seen = tally.visible;
  decoder->push(frame, *this);
  if (!seen && tally.visible && options.elapsed_ms) first_token_ms = options.elapsed_ms();
  end_if_cut();
}

void Pipeline::Parts::feed_body(std::string_view body) {
  ++summary.frames_in;
  if (options.elapsed_ms) first_token_ms = options.elapsed_ms();
  decoder->push_body(body, *this);
  end_if_cut();
}

void Pipeline::Parts::end_answer() {
  sum_up();
  const AnswerEnd end = answer_end();
  encoder->finish(end);
  timing = end.timing;
  answered = true;
  finished = true;
}

AnswerEnd Pipeline::Parts::answer_end() {
  AnswerEnd end;
  const bool wants_usage = !request.stream || request.include_usage;
  if (!engine::is_stated(summary.usage) && options.policy.estimate_usage && wants_usage) {
    summary.usage_estimated = true;
    end.estimate = engine::complete_usage(prompt_bytes, summary);
  }
  if (options.elapsed_ms) end.timing = {first_token_ms, options.elapsed_ms()};
  if (options.policy.trailing_counters)
    end.counters = engine::print_counters(summary, options.policy);
  return end;
}

// A cut of every choice is the end of the answer. A whole answer is read to its end all the same.
void Pipeline::Parts::end_if_cut() {
  if (options.policy.stop_after_tools == StopAfterTools::off || !request.stream) return;
  for (const Line& line : lines) {
    if (!line.is_cut()) return;
  }
  cut_short = true;
  end_answer();
}

std::optional<std::uint32_t> Pipeline::Parts::grace() const {
  if (options.policy.stop_after_tools != StopAfterTools::burst || finished) return std::nullopt;
  std::uint32_t calls = 0;
  for (const Line& line : lines) {
    if (line.is_cut()) continue;
    const auto seen = line.stop == nullptr ? std::nullopt : line.stop->grace();
    const bool call_open = line.dedupe != nullptr && line.dedupe->is_holding_back();
    if (!seen || call_open) return std::nullopt;
    calls += *seen;
  }
  return calls;
}

// Ends the client's answer if the upstream's is over.
void Pipeline::Parts::settle() {
  if (finished) return;
  if (decoder->error()) return conclude_with(*decoder->error());
  if (decoder->finished()) end_answer();
}

void Pipeline::Parts::conclude_with(const Error& failure) {
  if (finished) return;
  if (may_pass_over_errors() && tally.visible) {
    decoder->abort(*this);
    if (summary.reason != FinishReason::upstream_error) {
      summary.error_passed_over = true;
      return end_answer();
    }
  }
  error = failure;
  // A whole answer is not written in parts, and what nobody has seen yet is answered with a status.
  if (request.stream && tally.visible) {
    decoder->abort(*this);
    encoder->fail(failure);
  }
  finished = true;
  summary.reason = FinishReason::upstream_error;
  sum_up();
}

// One choice that ends well must not hide another that failed.
bool Pipeline::Parts::may_pass_over_errors() const {
  return options.policy.error_after_tools == ErrorAfterTools::tool_calls && request.choices == 1;
}

// Nobody misses a call where none was wanted.
std::size_t Pipeline::Parts::searched_bytes() const {
  const bool wanted = !request.tools.empty() && request.tool_choice.mode != ToolChoice::Mode::none;
  return wanted ? options.search_missed : 0;
}

void Pipeline::Parts::sum_up() {
  if (summary.calls == 0 && !tally.text.empty()) {
    summary.missed_in = dialect::find_missed_call(tally.text, request.tools);
  }
  summary.repairs = decoder->repairs();
  summary.dropped = decoder->dropped();
  summary.withheld_calls = withheld.calls;
  summary.withheld_bytes = withheld.bytes;
  for (const Line& line : lines) summary.cut = summary.cut || line.is_cut();
  summary.cut_by = summary.cut ? "stop_after_tools" : withheld.by;
  if (options.dialect_is_default) {
    summary.repairs[static_cast<std::size_t>(Repair::markup_in_text)] += markup;
  }
}

// What the client would have got had it not streamed. Only an answer that ended is estimated.
std::string Pipeline::Parts::whole_answer() const {
  Request whole = request;
  whole.stream = false;
  AnswerEnd end;
  end.timing = timing;
  if (answered && !engine::is_stated(summary.usage) && options.policy.estimate_usage) {
    end.estimate = engine::complete_usage(prompt_bytes, summary);
  }
  const std::unique_ptr<ResponseEncoder> again = protocol.make_encoder(whole, identity);
  std::string out;
  again->bind(out);
  keeper->replay(*again);
  again->finish(end);
  return out;
}

Result<Pipeline> Pipeline::make(const Request& request, PipelineOptions options) {
  const WireFormat* wire = upstream::find(options.wire);
  if (wire == nullptr) {
    return callgate::fail(ErrorCode::not_found, "unknown wire format \"" + options.wire + "\"");
  }
  const Protocol* protocol = client::find(options.protocol);
  if (protocol == nullptr) {
    return callgate::fail(ErrorCode::not_found, "unknown protocol \"" + options.protocol + "\"");
  }
  return Pipeline(std::make_unique<Parts>(request, std::move(options), *wire, *protocol));
}

Pipeline::Pipeline(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Pipeline::Pipeline(Pipeline&&) noexcept = default;
Pipeline& Pipeline::operator=(Pipeline&&) noexcept = default;
Pipeline::~Pipeline() = default;

void Pipeline::push(std::string_view upstream_bytes, std::string& out) {
  if (parts_->finished && !parts_->cut_short) return;
  parts_->encoder->bind(out);
  // Bound for each frame: what an encoder joins must not depend on how the bytes are cut.
  parts_->framing.push(upstream_bytes, [this, &out](const SseFrame& frame) {
    parts_->encoder->bind(out);
    parts_->feed(frame);
  });
  if (const std::optional<Error> overflow = parts_->framing.overflow()) {
    return parts_->conclude_with(*overflow);
  }
  parts_->settle();
}

void Pipeline::finish(std::string& out) {
  if (parts_->finished) return;
  parts_->encoder->bind(out);
  parts_->framing.finish([this](const SseFrame& frame) { parts_->feed(frame); },
                         [this](std::string_view body) { parts_->feed_body(body); });
  if (!parts_->decoder->finished()) parts_->decoder->finish(*parts_);
  parts_->settle();
}

void Pipeline::fail(const Error& error, std::string& out) {
  if (parts_->finished) return;
  parts_->encoder->bind(out);
  if (!parts_->decoder->complete()) return parts_->conclude_with(error);
  parts_->decoder->finish(*parts_);
  parts_->settle();
}

std::optional<std::uint32_t> Pipeline::grace() const { return parts_->grace(); }

void Pipeline::cut(std::string& out) {
  if (!parts_->grace()) return;
  parts_->encoder->bind(out);
  for (Parts::Line& line : parts_->lines) {
    if (!line.is_cut()) line.stop->cut(line.chain->behind(line.stop_position));
  }
  parts_->end_if_cut();
}

std::optional<std::uint32_t> Pipeline::held_reasoning() const {
  std::optional<std::uint32_t> pieces;
  for (const Parts::Line& line : parts_->lines) {
    if (line.held.coalesce == nullptr) continue;
    if (const auto held = line.held.coalesce->held_back()) pieces = pieces.value_or(0) + *held;
  }
  return pieces;
}

void Pipeline::release_reasoning(std::string& out) {
  parts_->encoder->bind(out);
  for (Parts::Line& line : parts_->lines) {
    const engine::HeldWords& held = line.held;
    if (held.coalesce != nullptr) {
      held.coalesce->release(line.chain->behind(held.coalesce_position));
    }
  }
}

std::uint64_t Pipeline::progress() const { return parts_->said + parts_->framing.progress(); }

bool Pipeline::complete() const { return !parts_->finished && parts_->decoder->complete(); }

bool Pipeline::cut_short() const { return parts_->cut_short; }

bool Pipeline::started() const {
  return parts_->request.stream ? parts_->tally.visible : parts_->answered;
}
bool Pipeline::finished() const { return parts_->finished; }
const std::optional<Error>& Pipeline::error() const { return parts_->error; }
const TurnSummary& Pipeline::summary() const { return parts_->summary; }

KeptTurn Pipeline::kept() const {
  KeptTurn kept;
  if (!parts_->keeper) return kept;
  const engine::TurnKeeper& keeper = *parts_->keeper;
  kept.events = keeper.print_events();
  kept.too_long = keeper.is_too_long();
  if (kept.too_long) return kept;
  kept.search = keeper.search_text();
  kept.reason = keeper.reason();
  if (parts_->request.stream || !parts_->answered) kept.response = parts_->whole_answer();
  return kept;
}

}  // namespace callgate
