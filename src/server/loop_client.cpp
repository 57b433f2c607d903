#include "server/loop_client.h"

#include "json/writer.h"
#include "net/unix_time.h"
#include "policy/call_whitespace.h"
#include "server/observe.h"

namespace callgate::server {
namespace {

Request shape_of(const Request& request) {
  Request shape;
  shape.model = request.model;
  shape.stream = request.stream;
  shape.include_usage = request.include_usage;
  shape.legacy_functions = request.legacy_functions;
  return shape;
}

std::string print(const loop::ToolCallNotice& call) {
  std::string json;
  json::ObjectWriter object(json);
  object.string("type", "callgate.tool_call");
  object.integer("round", call.round);
  object.string("id", call.call_id);
  object.string("name", call.name);
  object.string("arguments", call.arguments);
  object.close();
  return json;
}

std::string print(const loop::ToolResultNotice& result) {
  std::string json;
  json::ObjectWriter object(json);
  object.string("type", "callgate.tool_result");
  object.integer("round", result.round);
  object.string("id", result.call_id);
  object.string("name", result.name);
  object.string("preview", result.preview);
  object.boolean("is_error", result.is_error);
  object.integer("bytes", static_cast<std::int64_t>(result.bytes));
  object.integer("duration_ms", result.duration);
  object.close();
  return json;
}

}  // namespace

ResponseIdentity make_identity(IdMint& mint, const Request& request, ReasoningForm reasoning) {
  return {
      .id = mint.mint("chatcmpl-", 29),
      .model = request.model,
      .created = net::unix_ms() / 1000,
      .reasoning_field = reasoning == ReasoningForm::reasoning ? "reasoning" : "reasoning_content"};
}

LoopClient::LoopClient(const Request& request, ResponseIdentity identity, const Protocol& protocol,
                       const PolicyOptions& policy, std::size_t max_held_back, std::size_t keep,
                       std::string loop_id)
    : protocol_(protocol),
      identity_(std::move(identity)),
      loop_id_(std::move(loop_id)),
      shape_(shape_of(request)),
      own_calls_(!request.tools.empty()),
      encoder_(protocol.make_encoder(shape_, identity_)),
      keeper_(keep > 0 ? std::optional<engine::TurnKeeper>(std::in_place, 1, keep) : std::nullopt),
      tap_(0, tally_, encoder_->choice(0), keeper_ ? &keeper_->choice(0) : nullptr),
      chain_(std::make_unique<engine::ChoiceChain>(make_stages(policy, max_held_back), tap_)) {
  encoder_->bind(out_);
}

// The tail is known to the rounds alone, which see every call.
std::vector<std::unique_ptr<Stage>> LoopClient::make_stages(PolicyOptions policy,
                                                            std::size_t max_held_back) {
  policy.suppress_tail_after_tools = false;
  if (policy.output == CallOutput::json) policy.output = CallOutput::tool_calls;
  std::vector<std::unique_ptr<Stage>> stages;
  // Rounds keep white space after text. Before a call of the client's own it goes, as in any turn.
  if (policy.call_whitespace && own_calls_ && !engine::calls_become_text(policy.output)) {
    stages.push_back(std::make_unique<policy::CallWhitespace>(max_held_back));
  }
  held_ = engine::add_client_stages(stages, policy, shape_.stream, max_held_back, withheld_);
  return stages;
}

std::optional<std::uint32_t> LoopClient::held_reasoning() const {
  return held_.coalesce == nullptr ? std::nullopt : held_.coalesce->held_back();
}

void LoopClient::release_reasoning() {
  if (held_.coalesce == nullptr) return;
  held_.coalesce->release(chain_->behind(held_.coalesce_position));
}

void LoopClient::note(std::string json) {
  if (!shape_.stream) {
    notes_.append(notes_.empty() ? "" : ",").append(json);
    return;
  }
  noted_ = true;
  encoder_->note("callgate", json);
}

void LoopClient::notice(const loop::Notice& notice) {
  std::visit(Overloaded{
                 [&](const loop::ToolCallNotice& call) { note(print(call)); },
                 [&](const loop::ToolResultNotice& result) { note(print(result)); },
                 [&](const loop::TextPaused&) {
                   if (held_.split == nullptr) return;
                   held_.split->release(chain_->behind(held_.split_position));
                 },
                 [&](const loop::LoopEnded& ended) {
                   std::string json;
                   json::ObjectWriter object(json);
                   object.string("loop", loop_id_);
                   if (ended.end) {
                     object.string("end_reason", loop::to_string(*ended.end));
                   } else {
                     object.null("end_reason");
                   }
                   object.integer("rounds", ended.rounds);
                   object.integer("calls", ended.calls_made);
                   if (!notes_.empty()) object.key("events").append("[" + notes_ + "]");
                   object.close();
                   accept(FieldReported{FieldReported::Scope::turn, "callgate", json});
                 },
             },
             notice);
}

KeptTurn LoopClient::kept(const AnswerEnd& end) const {
  KeptTurn kept;
  if (!keeper_) return kept;
  kept.events = keeper_->print_events();
  kept.too_long = keeper_->is_too_long();
  if (kept.too_long) return kept;
  kept.search = keeper_->search_text();
  kept.reason = keeper_->reason();
  if (!shape_.stream) return kept;
  Request whole = shape_;
  whole.stream = false;
  const std::unique_ptr<ResponseEncoder> again = protocol_.make_encoder(whole, identity_);
  again->bind(kept.response);
  keeper_->replay(*again);
  again->finish(end);
  return kept;
}

}  // namespace callgate::server
