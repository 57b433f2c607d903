#include "loop/parts.h"

namespace callgate::loop {

void ToolLoop::Parts::accept(const Event& event) {
  if (finished || turn == 0 || round.over) return;
  std::visit(Overloaded{
                 [&](const TextDelta& e) {
                   round.text += e.text;
                   round.sent = true;
                   client.text(e.text);
                 },
                 [&](const ReasoningDelta& e) {
                   round.reasoning += e.text;
                   round.sent = true;
                   client.pass(event);
                 },
                 [&](const RefusalDelta&) {
                   round.refused = true;
                   round.sent = true;
                   client.pass(event);
                 },
                 [&](const CallStarted& e) { start_call(e); },
                 [&](const ArgumentsDelta& e) { add_arguments(e); },
                 [&](const CallFinished& e) { finish_call(e.outcome); },
                 [&](const FieldReported& e) { report_field(e, event); },
                 [&](const UsageReported& e) {
                   round.usage = e.usage;
                   round.usage_json = e.json;
                 },
                 [&](const TurnFinished& e) { end_turn(e.reason); },
             },
             event);
}

// Upstreams that count their ids from 0 in every turn give the same one twice.
void ToolLoop::Parts::start_call(const CallStarted& event) {
  Call call{.id = std::string(event.native_id), .name = std::string(event.name)};
  while (call.id.empty() || ids.contains(call.id)) call.id = mint.mint("call_");
  ids.insert(call.id);
  call.for_client = tools.owner_of(call.name, !evicted.empty()) == ToolOwner::client;
  if (call.for_client) {
    round.sent = true;
    client.start_call(call.name, call.id, event.in_text);
  } else {
    client.notice(TextPaused{});
  }
  round.calls.push_back(std::move(call));
}

void ToolLoop::Parts::add_arguments(const ArgumentsDelta& event) {
  if (round.calls.empty()) return;  // of a turn that was given up
  Call& call = round.calls.back();
  call.arguments += event.bytes;
  if (call.for_client) client.arguments(event.bytes);
}

void ToolLoop::Parts::finish_call(CallOutcome outcome) {
  if (round.calls.empty()) return;
  Call& call = round.calls.back();
  if (call.for_client) {
    call.status = Call::Status::client;
    client.finish_call(outcome);
    return;
  }
  round.sent = true;  // what the tool does cannot be undone
  admit(call, outcome);
  schedule();
}

void ToolLoop::Parts::report_field(const FieldReported& field, const Event& event) {
  // An array; its elements follow those of earlier reports.
  if (field.scope == FieldReported::Scope::message && field.name == "reasoning_details" &&
      field.json.size() > 2 && field.json.front() == '[' && field.json.back() == ']') {
    if (!round.details.empty()) round.details += ',';
    round.details += field.json.substr(1, field.json.size() - 2);
  }
  if (field.scope != FieldReported::Scope::call) return client.pass(event);
  if (round.calls.empty()) return;
  Call& call = round.calls.back();
  call.fields.add(field.scope, field.name, field.json);
  if (call.for_client) client.call_field(field.name, field.json);
}

void ToolLoop::Parts::end_turn(FinishReason reason) {
  if (reason == FinishReason::upstream_error) {
    return fail_turn(
        {.code = ErrorCode::upstream_failed, .message = "the upstream failed during the turn"});
  }
  round.over = true;
  client.notice(TextPaused{});
  add_usage();
  answer = round.text;
  if (reason == FinishReason::length) return finish(End::truncated, reason);
  if (reason == FinishReason::content_filter) return finish(End::completed, reason);
  conclude_if_over();
}

}  // namespace callgate::loop
