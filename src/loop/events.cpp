#include <utility>

#include "loop/parts.h"

namespace callgate::loop {

void ToolLoop::Parts::accept(const Event& event) {
  if (finished || turn == 0 || round.over) return;
  std::visit(Overloaded{
                 [&](const TextDelta& e) {
                   round.text += e.text;
                   round.bytes += e.text.size();
                   round.sent = true;
                   client.text(e.text);
                 },
                 [&](const ReasoningDelta& e) {
                   round.reasoning += e.text;
                   round.bytes += e.text.size();
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
  if (options.max_turn_bytes > 0 && round.bytes > options.max_turn_bytes && !finished) {
    finish(End::error, FinishReason::upstream_error,
           Error{.code = ErrorCode::upstream_failed,
                 .message = "the model's turn is longer than the " +
                            std::to_string(options.max_turn_bytes) +
                            " bytes that a tool loop keeps of one (loop.max_turn_bytes)"});
  }
}

// Upstreams that count their ids from 0 in every turn give the same one twice.
void ToolLoop::Parts::start_call(const CallStarted& event) {
  Call call{.id = std::string(event.native_id), .name = std::string(event.name)};
  call.for_client = tools.owner_of(call.name, !evicted.empty()) == ToolOwner::client;
  if (!call.for_client && pass_over()) return;
  while (call.id.empty() || ids.contains(call.id)) call.id = mint.mint("call_");
  ids.insert(call.id);
  if (call.for_client) {
    round.sent = true;
    client.start_call(call.name, call.id, event.in_text);
  } else {
    client.notice(TextPaused{});
  }
  round.add(std::move(call));
}

// Whether the call that begins is one more than the loop reads of a turn.
bool ToolLoop::Parts::pass_over() {
  round.passing_over =
      options.max_calls_read > 0 && round.book.server_calls() >= options.max_calls_read;
  if (!round.passing_over) return false;
  ++round.passed_over;
  round.limited = round.limited || options.on_limit == OnLimit::stop;
  return true;
}

void ToolLoop::Parts::add_arguments(const ArgumentsDelta& event) {
  if (round.calls.empty() || round.passing_over) return;  // the former: of a turn that was given up
  Call& call = round.calls.back();
  call.arguments += event.bytes;
  round.bytes += event.bytes.size();
  if (call.for_client) client.arguments(event.bytes);
}

void ToolLoop::Parts::finish_call(CallOutcome outcome) {
  if (std::exchange(round.passing_over, false) || round.calls.empty()) return;
  Call& call = round.calls.back();
  if (call.for_client) {
    round.change(call, Call::Status::client);
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
    round.bytes += field.json.size();
  }
  if (field.scope != FieldReported::Scope::call) return client.pass(event);
  if (round.calls.empty() || round.passing_over) return;
  Call& call = round.calls.back();
  call.fields.add(field.scope, field.name, field.json);
  round.bytes += field.name.size() + field.json.size();
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
