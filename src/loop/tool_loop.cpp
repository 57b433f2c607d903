#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "chat/usage.h"
#include "loop/history.h"
#include "loop/parts.h"

namespace callgate::loop {
namespace {

constexpr Millis kNever = std::numeric_limits<Millis>::max();

std::vector<Message> take_first(std::vector<Message>& messages, std::size_t count) {
  const auto end = messages.begin() + static_cast<std::ptrdiff_t>(std::min(count, messages.size()));
  std::vector<Message> first(std::make_move_iterator(messages.begin()),
                             std::make_move_iterator(end));
  messages.erase(messages.begin(), end);
  return first;
}

}  // namespace

std::string_view to_string(End end) {
  switch (end) {
    case End::completed:
      return "completed";
    case End::max_rounds:
      return "max_rounds";
    case End::max_calls:
      return "max_calls";
    case End::timeout:
      return "timeout";
    case End::truncated:
      return "truncated";
    case End::empty:
      return "empty";
    case End::forced:
      return "forced";
    case End::cancelled:
      return "cancelled";
    case End::error:
      return "error";
  }
  return "error";
}

ToolLoop::Parts::Parts(Request request_in, Options options_in, std::vector<Tool> tools_in,
                       ClientSink& client_in, ArgumentCheck check_in, std::optional<State> state)
    : request(std::move(request_in)),
      options(std::move(options_in)),
      tools(request, std::move(tools_in), options),
      client(client_in, options.round_separator),
      check(std::move(check_in)),
      evicted(options),
      mint(options.id_seed),
      history(std::exchange(request.messages, {})) {
  const std::vector<Message> known = take_first(history, options.in_memory.value_or(0));
  if (state) {
    restore_legs(history, state->legs);
    rounds = state->rounds;
    calls_made = state->calls;
    advisories = state->advisories;
    force_next = advisories > options.repeats_to_force;
    for (const State::Count& count : state->tool_calls) tool_calls[count.name] = count.count;
    repeats.load(*state);
    evicted.load(*state);
    tools.load(*state);
    injected = std::move(state->injected);
    if (options.memory != Memory::inside) legs = std::move(state->legs);
  }
  repair_calls(history);
  user_messages = options.in_memory ? all_user_messages(history) : last_user_messages(history);
  if (options.in_memory)
    user_messages.insert(user_messages.end(), injected.begin(), injected.end());
  history.insert(history.begin(), known.begin(), known.end());
  own_from = history.size();
  remembered = known.size();
  for (const Message& message : history) {
    for (const CallRecord& call : message.calls) ids.insert(call.id);
  }
}

Result<ToolLoop> ToolLoop::make(Request request, Options options, std::vector<Tool> tools,
                                ClientSink& client, ArgumentCheck check,
                                std::optional<State> state) {
  if (request.choices != 1) {
    return fail(ErrorCode::invalid_request, "the tool loop answers with one choice, expected 1",
                "n");
  }
  return ToolLoop(std::make_unique<Parts>(std::move(request), std::move(options), std::move(tools),
                                          client, std::move(check), std::move(state)));
}

ToolLoop::ToolLoop(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
ToolLoop::ToolLoop(ToolLoop&&) noexcept = default;
ToolLoop& ToolLoop::operator=(ToolLoop&&) noexcept = default;
ToolLoop::~ToolLoop() = default;

void ToolLoop::start(Millis now) {
  if (parts_->turn > 0 || parts_->finished) return;
  parts_->now = now;
  const Millis limit = parts_->options.loop_timeout;
  parts_->deadline = limit > 0 ? now + limit : kNever;
  parts_->forced = parts_->force_next;
  parts_->call_model(false);
}

void ToolLoop::accept(const Event& event) { parts_->accept(event); }

void ToolLoop::fail_turn(std::uint32_t turn, const Error& error, Millis now) {
  on_time(now);
  if (!parts_->finished && turn == parts_->turn && !parts_->round.over) parts_->fail_turn(error);
}

// A result that comes at its tool's deadline is in time; nothing is once the loop's own time is over.
bool ToolLoop::finish_run(RunId run, ToolResult result, Millis now) {
  parts_->now = std::max(parts_->now, now);
  if (parts_->now >= parts_->deadline) on_time(now);
  Call* call = parts_->find_run(run, Call::Status::running);
  if (call != nullptr) {
    parts_->finish_run(*call, std::move(result));
    parts_->schedule();
    parts_->conclude_if_over();
  }
  on_time(now);
  return call != nullptr;
}

bool ToolLoop::approve(RunId run, Millis now) {
  on_time(now);
  Call* call = parts_->find_run(run, Call::Status::approval);
  if (call == nullptr) return false;
  parts_->round.change(*call, Call::Status::ready);
  parts_->schedule();
  return true;
}

bool ToolLoop::deny(RunId run, std::string_view reason, Millis now) {
  on_time(now);
  Call* call = parts_->find_run(run, Call::Status::approval);
  if (call == nullptr) return false;
  std::string text = "not run: a person denied the call";
  if (!reason.empty()) text.append(": ").append(reason);
  parts_->refuse(*call, std::move(text));
  parts_->conclude_if_over();
  return true;
}

void ToolLoop::cancel(Millis now) {
  parts_->now = std::max(parts_->now, now);
  parts_->cut(End::cancelled);
}

void ToolLoop::inject(std::string_view text) {
  if (parts_->finished) return;
  parts_->injected.push_back(text_message(Role::user, text));
  parts_->user_messages.push_back(parts_->injected.back());
}

void ToolLoop::count(const Usage& usage, std::string_view json) {
  add_usage(parts_->usage, usage);
  add_usage_json(parts_->usage_json, json);
}

void ToolLoop::set_system_prompt(std::string_view text) { parts_->system_prompt = text; }

std::optional<Millis> ToolLoop::deadline() const {
  if (parts_->finished || parts_->turn == 0) return std::nullopt;
  Millis first = parts_->deadline;
  const auto& timed = parts_->round.book.timed();
  if (!timed.empty()) first = std::min(first, timed.begin()->first);
  if (first == kNever) return std::nullopt;
  return first;
}

void ToolLoop::on_time(Millis now) {
  parts_->now = std::max(parts_->now, now);
  if (parts_->finished || parts_->turn == 0) return;
  if (parts_->now >= parts_->deadline) return parts_->run_out();
  parts_->expire_runs();
  parts_->schedule();
  parts_->conclude_if_over();
}

std::vector<WaitForApproval> ToolLoop::approvals() const {
  std::vector<WaitForApproval> waiting;
  if (parts_->finished) return waiting;
  for (const std::size_t index : parts_->round.book.approvals()) {
    const Call& call = parts_->round.calls[index];
    waiting.push_back({call.run, call.id, call.name, call.arguments, call.deadline});
  }
  return waiting;
}

std::vector<Action> ToolLoop::take_actions() { return std::exchange(parts_->actions, {}); }
bool ToolLoop::finished() const { return parts_->finished; }
std::uint32_t ToolLoop::rounds() const { return parts_->rounds; }
std::uint32_t ToolLoop::calls_made() const { return parts_->calls_made; }

}  // namespace callgate::loop
