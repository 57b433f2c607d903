// What becomes of a call: refused with words that the model can act on, answered by the loop, or run.
#include <algorithm>

#include "base/utf8.h"
#include "json/reader.h"
#include "loop/parts.h"

namespace callgate::loop {
namespace {

constexpr std::string_view kAdvice =
    "This call was not run: you made it with the same arguments before, and its result will not "
    "change. Use the result "
    "that you have, call with other arguments, or answer.";
constexpr std::string_view kRepeatNote =
    "\n[Note: this tool has given exactly this result before. Calling it again will not help.]";
constexpr std::string_view kCutNote = "\n[The tool wrote more; the rest was cut off.]";

bool is_object(std::string_view json) {
  json::Reader in(json);
  if (in.peek() != json::Kind::object) return false;
  in.skip();
  return in.finish();
}

std::string duration_text(Millis millis) {
  return millis % 1000 == 0 ? std::to_string(millis / 1000) + " s" : std::to_string(millis) + " ms";
}

std::string error_text(std::string_view text) {
  return text.starts_with("Error") ? std::string(text) : "Error: " + std::string(text);
}

}  // namespace

void ToolLoop::Parts::admit(Call& call, CallOutcome outcome) {
  if (call.arguments.find_first_not_of(" \t\r\n") == std::string::npos) call.arguments = "{}";
  if (last_turn()) return refuse(call, "not run: no more calls are possible in this turn");
  notice_call(call);
  ++calls_made;
  ++round.server_calls;
  const ToolOwner owner = tools.owner_of(call.name, !evicted.empty());
  if (std::optional<std::string> why = refusal_of(call, outcome, owner)) {
    return refuse(call, std::move(*why));
  }
  call.started = now;
  if (owner == ToolOwner::read_result) return finish_run(call, evicted.read(call.arguments));
  if (owner == ToolOwner::find_tools) return finish_run(call, tools.find(call.arguments));
  tools.show(call.name);
  enqueue(call, tools.tool(call.name));
}

// Why the call is not run, if it is not.
std::optional<std::string> ToolLoop::Parts::refusal_of(Call& call, CallOutcome outcome,
                                                       ToolOwner owner) {
  if (owner == ToolOwner::unknown) {
    const std::string names = tools.names(!evicted.empty());
    return "there is no tool \"" + call.name + "\"; " +
           (names.empty() ? "no tools are left" : "the tools are: " + names);
  }
  if (owner == ToolOwner::denied) return "the tool \"" + call.name + "\" is not allowed here";
  if (outcome == CallOutcome::truncated) return "the arguments were cut off; write less at once";
  if (outcome == CallOutcome::malformed || !is_object(call.arguments)) {
    return "the arguments are not a JSON object; write the call again";
  }
  const std::uint32_t made = repeats.add_call(call.name, call.arguments);
  if (options.repeated_calls > 0 && made >= options.repeated_calls) {
    ++advisories;
    force_next = force_next || advisories > options.repeats_to_force;
    return std::string(kAdvice);
  }
  if (std::optional<std::string> breach = breach_of(call, owner)) {
    round.limited = round.limited || options.on_limit == OnLimit::stop;
    return breach;
  }
  if (owner == ToolOwner::callgate && check) {
    if (const Result<void> checked = check(tools.tool(call.name), call.arguments); !checked) {
      return "the arguments are not valid: " + checked.error().message;
    }
  }
  return std::nullopt;
}

std::optional<std::string> ToolLoop::Parts::breach_of(const Call& call, ToolOwner owner) {
  if (round.limited) return "not run: a limit of calls is reached";
  if (options.calls_per_round > 0 && round.server_calls > options.calls_per_round) {
    return "not run: at most " + std::to_string(options.calls_per_round) + " calls at once";
  }
  if (options.max_calls > 0 && calls_made > options.max_calls) {
    return "not run: the limit of " + std::to_string(options.max_calls) +
           " calls is reached; answer with what you have";
  }
  const std::uint32_t most =
      owner == ToolOwner::callgate
          ? tools.tool(call.name).max_calls.value_or(options.max_calls_per_tool)
          : options.max_calls_per_tool;
  if (++tool_calls[call.name] > most && most > 0) {
    return "not run: the limit of " + std::to_string(most) + " calls of \"" + call.name +
           "\" is reached";
  }
  return std::nullopt;
}

void ToolLoop::Parts::enqueue(Call& call, const Tool& tool) {
  call.run = ++runs;
  call.exclusive = tool.exclusive;
  if (!tool.approval) {
    round.change(call, Call::Status::ready);
    return;
  }
  call.deadline = std::min(now + options.approval_timeout, deadline);
  round.change(call, Call::Status::approval);
  actions.push_back(WaitForApproval{call.run, call.id, call.name, call.arguments, call.deadline});
}

// In the order of the calls. An exclusive one waits for all that run, and those after it wait for it.
void ToolLoop::Parts::schedule() {
  while (!finished && !round.book.ready().empty()) {
    Call& call = round.calls[*round.book.ready().begin()];
    const std::size_t running = round.book.running();
    const bool full = running >= std::max<std::uint32_t>(options.parallel, 1);
    if (full || round.book.runs_exclusive() || (call.exclusive && running > 0)) return;
    run(call);
  }
}

void ToolLoop::Parts::run(Call& call) {
  const Tool& tool = tools.tool(call.name);
  call.started = now;
  call.deadline =
      std::min(now + (tool.timeout > 0 ? tool.timeout : options.tool_timeout), deadline);
  round.change(call, Call::Status::running);
  actions.push_back(RunTool{call.run, call.id, call.name, call.arguments, call.deadline});
}

void ToolLoop::Parts::refuse(Call& call, std::string text) {
  round.change(call, Call::Status::settled);
  call.result = error_text(text);
  if (!last_turn()) notice_result(call, call.result.size(), true);
}

void ToolLoop::Parts::finish_run(Call& call, ToolResult result) {
  std::string text;
  utf8::append_sanitized(text, result.text);
  if (result.is_error) text = error_text(text);
  const bool own = call.run != 0;
  const bool again = own && options.repeated_results > 0 &&
                     repeats.add_result(call.name, text) >= options.repeated_results;
  if (result.truncated) text += kCutNote;
  const std::uint64_t bytes = text.size();
  call.direct = own && !result.is_error && tools.tool(call.name).return_direct;
  if (own && !call.direct) evicted.evict(text);
  if (again && !call.direct) text += kRepeatNote;
  round.change(call, Call::Status::settled);
  call.result = std::move(text);
  notice_result(call, bytes, result.is_error);
  if (!own || !result.is_error) return;
  const OnToolError policy = tools.tool(call.name).on_error.value_or(options.on_tool_error);
  if (policy == OnToolError::stop) {
    std::string message =
        call.name + ": " + std::string(head_of(call.result, options.notice_preview_bytes));
    finish(End::error, FinishReason::upstream_error,
           Error{.code = ErrorCode::upstream_failed, .message = std::move(message)});
  }
}

void ToolLoop::Parts::expire_runs() {
  while (!finished && !round.book.timed().empty()) {
    const auto& [due, index] = *round.book.timed().begin();
    if (due > now) return;
    Call& call = round.calls[index];
    if (call.status == Call::Status::approval) {
      refuse(call, "not run: nobody approved the call in time");
      continue;
    }
    actions.push_back(CancelTool{call.run});
    finish_run(call, {.text = "no result within " + duration_text(call.deadline - call.started) +
                              "; the tool was stopped",
                      .is_error = true});
  }
}

Call* ToolLoop::Parts::find_run(RunId run, Call::Status status) {
  const std::size_t* index = finished ? nullptr : round.book.find(run);
  if (index == nullptr || round.calls[*index].status != status) return nullptr;
  return &round.calls[*index];
}

void ToolLoop::Parts::notice_call(const Call& call) {
  if (!options.show_tool_calls) return;
  round.sent = true;
  client.notice(ToolCallNotice{.round = rounds,
                               .call_id = call.id,
                               .name = call.name,
                               .arguments = head_of(call.arguments, options.notice_preview_bytes)});
}

void ToolLoop::Parts::notice_result(const Call& call, std::uint64_t bytes, bool is_error) {
  if (!options.show_tool_calls) return;
  client.notice(ToolResultNotice{.round = rounds,
                                 .call_id = call.id,
                                 .name = call.name,
                                 .preview = head_of(call.result, options.notice_preview_bytes),
                                 .is_error = is_error,
                                 .bytes = bytes,
                                 .duration = call.run == 0 ? 0 : now - call.started});
}

}  // namespace callgate::loop
