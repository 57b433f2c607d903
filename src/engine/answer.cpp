#include "engine/answer.h"

#include "engine/answer_notes.h"

namespace callgate::engine {
namespace {

ResponseIdentity make_identity(const Request& request, const Protocol& protocol,
                               const PipelineOptions& options, TurnTally& tally) {
  ResponseIdentity made{.id = options.response_id.empty() ? tally.mint.mint(protocol.id_prefix, 29)
                                                          : options.response_id,
                        .model = options.model.empty() ? request.model : options.model,
                        .created = options.created,
                        .reasoning_field = options.policy.reasoning == ReasoningForm::reasoning
                                               ? "reasoning"
                                               : "reasoning_content",
                        .estimates = options.policy.estimate_usage};
  if (tally.observer != nullptr) tally.observer->turn_started(made.id);
  return made;
}

std::string_view usage_trigger(const TurnSummary& summary) {
  if (!summary.cut_by.empty()) return "cut";
  return is_stated(summary.usage) ? "usage" : "finish";
}

}  // namespace

Answer::Answer(const Request& request, const Protocol& protocol, const PipelineOptions& options,
               AnswerOf of, TurnTally& tally)
    : request_(request),
      protocol_(protocol),
      tally_(tally),
      policy_(options.policy),
      elapsed_ms_(options.elapsed_ms),
      identity_(make_identity(request, protocol, options, tally)),
      prompt_bytes_(policy_.estimate_usage ? prompt_bytes(request) : 0),
      encoder_(protocol.make_encoder(request, identity_)),
      keeper_(options.keep > 0
                  ? std::optional<TurnKeeper>(std::in_place, request.choices, options.keep)
                  : std::nullopt),
      choices_(request, options, of, tally, [this](std::uint32_t choice) {
        return ClientChoices::Ends{.next = encoder_->choice(choice),
                                   .copy = keeper_ ? &keeper_->choice(choice) : nullptr};
      }) {}

void Answer::bind(std::string& out) {
  out_ = &out;
  encoder_->bind(out);
}

void Answer::end_frame() {
  if (elapsed_ms_ && tally_.visible && !first_token_ms_) first_token_ms_ = elapsed_ms_();
}

void Answer::end() {
  std::optional<Usage> estimate;
  if (policy_.estimate_usage && !is_stated(tally_.summary.usage)) {
    estimate = complete_usage(prompt_bytes_, tally_.summary);
  }
  finish(estimate);
}

void Answer::finish(const std::optional<Usage>& estimate) {
  TurnSummary& summary = tally_.summary;
  summary.withheld_calls = tally_.withheld.calls;
  summary.withheld_bytes = tally_.withheld.bytes;
  AnswerEnd end;
  if (estimate && (!request_.stream || request_.include_usage)) {
    summary.usage_estimated = true;
    end.estimate = estimate;
  }
  if (elapsed_ms_) {
    const std::int64_t now = elapsed_ms_();
    end.timing = {first_token_ms_.value_or(now), now, usage_trigger(summary)};
  }
  if (request_.stream && summary.grammar_broken > 0) {
    encoder_->note("callgate.warning", R"({"warning":")" + std::string(kGrammarBroken) + "\"}");
  }
  if (policy_.trailing_counters) end.counters = print_counters(summary, policy_);
  encoder_->finish(end);
  timing_ = end.timing;
  estimate_ = estimate;
  answered_ = true;
}

void Answer::fail(const Error& error) { encoder_->fail(error); }

void Answer::note(std::string_view name, std::string_view json) {
  noted_ = true;
  encoder_->note(name, json);
}

void Answer::release_reasoning() {
  begin_frame();
  choices_.release_reasoning();
}

void Answer::release_text() { choices_.release_text(); }

bool Answer::started() const { return request_.stream ? tally_.visible || noted_ : answered_; }

// What the client would have got had it not streamed.
std::string Answer::whole_answer() const {
  Request whole = request_;
  whole.stream = false;
  const AnswerEnd end{.estimate = estimate_, .timing = timing_, .counters = {}};
  const std::unique_ptr<ResponseEncoder> again = protocol_.make_encoder(whole, identity_);
  std::string out;
  again->bind(out);
  keeper_->replay(*again);
  again->finish(end);
  return out;
}

KeptTurn Answer::kept() const {
  KeptTurn kept;
  if (!keeper_) return kept;
  kept.events = keeper_->print_events();
  kept.too_long = keeper_->is_too_long();
  if (kept.too_long) return kept;
  kept.search = keeper_->search_text();
  kept.reason = keeper_->reason();
  if (request_.stream || !answered_) kept.response = whole_answer();
  return kept;
}

}  // namespace callgate::engine
