// The end of the model's turn, the next one, and the end of the loop.
#include <algorithm>
#include <iterator>
#include <utility>

#include "chat/content.h"
#include "chat/usage.h"
#include "loop/history.h"
#include "loop/parts.h"

namespace callgate::loop {
namespace {

constexpr std::string_view kEmptyNudge = "Your last answer was empty. Please answer now.";
constexpr std::string_view kLastRoundNote =
    "\n[Note: these were the last calls that are run. Answer now with what you have.]";
constexpr std::string_view kEnded = "the call was interrupted; it has no result";

bool worth_retrying(ErrorCode code) {
  switch (code) {
    case ErrorCode::rate_limited:
    case ErrorCode::upstream_failed:
    case ErrorCode::unavailable:
    case ErrorCode::timed_out:
      return true;
    case ErrorCode::invalid_request:
    case ErrorCode::unauthenticated:
    case ErrorCode::forbidden:
    case ErrorCode::not_found:
    case ErrorCode::not_allowed:
    case ErrorCode::conflict:
    case ErrorCode::too_large:
    case ErrorCode::internal:
      return false;
  }
  return false;
}

void replace_system_prompt(std::vector<Message>& messages, std::string_view text) {
  const auto found = std::find_if(messages.begin(), messages.end(), is_prompt);
  if (found == messages.end()) {
    messages.insert(messages.begin(), text_message(Role::system, text));
  } else {
    found->content = text_content(text);
  }
}

}  // namespace

bool ToolLoop::Parts::last_turn() const { return forced || rounds >= options.max_tool_rounds; }

void ToolLoop::Parts::call_model(bool retry) {
  std::move(injected.begin(), injected.end(), std::back_inserter(history));
  injected.clear();
  round = Round{.return_reasoning = options.return_reasoning};
  client.begin_round();
  CallModel call{.turn = ++turn, .round = rounds, .retry = retry, .request = next_request()};
  if (options.memory == Memory::inside) {
    call.remember = history.size() - remembered;
    call.system_prompt = system_prompt;
    remembered = history.size();
  }
  actions.push_back(std::move(call));
}

Request ToolLoop::Parts::next_request() {
  Request next = request;
  const std::size_t from = options.memory == Memory::inside ? remembered : 0;
  next.messages.assign(history.begin() + static_cast<std::ptrdiff_t>(from), history.end());
  if (options.memory != Memory::inside && system_prompt) {
    replace_system_prompt(next.messages, *system_prompt);
  }
  if (!nudge.empty()) next.messages.push_back(text_message(Role::user, nudge));
  for (ToolSpec& spec : tools.shown(!evicted.empty())) next.tools.push_back(std::move(spec));
  if (forced) {
    // The tools stay declared: there are APIs that refuse a history with calls of tools that are not.
    next.tool_choice = {.mode = ToolChoice::Mode::none};
    next.parallel_tool_calls.reset();
    return next;
  }
  // A call that the caller insisted on was made; to insist again would never end.
  const ToolChoice::Mode mode = next.tool_choice.mode;
  if (rounds > 0 && (mode == ToolChoice::Mode::required || mode == ToolChoice::Mode::named)) {
    next.tool_choice = {.mode = ToolChoice::Mode::automatic};
  }
  return next;
}

void ToolLoop::Parts::conclude_if_over() {
  if (!finished && round.over && !round.waits()) conclude();
}

void ToolLoop::Parts::conclude() {
  nudge.clear();
  failures = 0;
  if (round.has_client_calls()) return return_to_client();
  if (!round.has_server_calls()) return answer_without_calls();
  if (forced) return cut(End::forced);
  if (last_turn()) return cut(End::max_rounds);
  if (round.limited) return cut(End::max_calls);
  if (round.all_direct()) return answer_directly();
  next_round();
}

void ToolLoop::Parts::answer_without_calls() {
  if (!injected.empty()) {
    if (!round.empty()) keep_round();
    return call_model(false);
  }
  if (round.empty()) {
    if (empty_answers == options.empty_retries || forced) return finish(End::empty);
    ++empty_answers;
    nudge = kEmptyNudge;
    return call_model(false);
  }
  finish(forced ? End::forced : End::completed);
}

void ToolLoop::Parts::answer_directly() {
  answer.clear();
  for (const Call& call : round.calls) {
    if (call.result.empty()) continue;
    if (!answer.empty()) answer += '\n';
    answer += call.result;
  }
  client.begin_round();
  if (!answer.empty()) client.text(answer);
  keep_round();
  round = Round{.text = answer, .over = true};
  finish(End::completed);
}

void ToolLoop::Parts::next_round() {
  ++rounds;
  if (rounds == options.max_tool_rounds && options.on_limit == OnLimit::tell_model) {
    round.calls.back().result += kLastRoundNote;
  }
  if (round.passed_over > 0) {
    round.calls.back().result += "\n[Note: " + std::to_string(round.passed_over) +
                                 " more calls of this turn were not read; make fewer at once.]";
  }
  keep_round();
  forced = force_next;
  call_model(false);
}

void ToolLoop::Parts::keep_round() {
  history.push_back(round.message());
  for (Message& result : round.results()) history.push_back(std::move(result));
}

void ToolLoop::Parts::return_to_client() {
  if (round.has_server_calls() && !last_turn()) ++rounds;
  finished = true;
  const bool inside = options.memory == Memory::inside;
  const auto from = history.begin() + static_cast<std::ptrdiff_t>(inside ? remembered : own_from);
  State::Leg leg{.messages = std::vector<Message>(from, history.end()), .results = round.results()};
  leg.messages.push_back(round.message());
  legs.push_back(std::move(leg));
  ReturnToClient back{.rounds = rounds, .calls_made = calls_made, .usage = usage};
  for (const Call& call : round.calls) {
    if (call.for_client) back.calls.push_back({call.id, call.name, call.arguments, {}});
  }
  back.state = save();
  client.notice(LoopEnded{std::nullopt, rounds, calls_made});
  client.finish(FinishReason::tool_calls, usage, usage_json);
  actions.push_back(std::move(back));
}

void ToolLoop::Parts::fail_turn(const Error& error) {
  if (!round.sent && failures < options.turn_retries && worth_retrying(error.code)) {
    ++failures;
    return call_model(true);
  }
  round.over = true;
  finish(End::error, FinishReason::upstream_error, error);
}

// The client's calls are complete and sent: it may go on with them.
void ToolLoop::Parts::run_out() {
  if (!round.over || !round.has_client_calls()) return cut(End::timeout);
  stop_everything("no result before the time of the whole answer was over");
  return_to_client();
}

void ToolLoop::Parts::add_usage() {
  callgate::add_usage(usage, round.usage);
  add_usage_json(usage_json, round.usage_json);
}

void ToolLoop::Parts::stop_everything(std::string_view why) {
  for (Call& call : round.calls) {
    if (!call.waits()) continue;
    if (call.status == Call::Status::running) actions.push_back(CancelTool{call.run});
    refuse(call, std::string(why));
  }
}

void ToolLoop::Parts::cut(End end) { finish(end, FinishReason::length); }

void ToolLoop::Parts::finish(End end, FinishReason reason, std::optional<Error> error) {
  if (finished) return;
  finished = true;
  if (!round.over) {
    actions.push_back(StopModel{turn});
    add_usage();
    answer = round.text;
  }
  stop_everything(kEnded);
  Finish last{.end = end,
              .error = std::move(error),
              .rounds = rounds,
              .calls_made = calls_made,
              .usage = usage,
              .remember = to_remember()};
  client.notice(LoopEnded{end, rounds, calls_made});
  last.reason = client.finish(reason, usage, usage_json);
  actions.push_back(std::move(last));
}

std::vector<Message> ToolLoop::Parts::to_remember() const {
  std::vector<Message> messages;
  switch (options.memory) {
    case Memory::none:
      break;
    case Memory::outside:
      if (answer.find_first_not_of(" \t\r\n") == std::string::npos) break;
      messages = user_messages;
      messages.push_back(text_message(Role::assistant, answer));
      break;
    case Memory::inside:
      messages.assign(history.begin() + static_cast<std::ptrdiff_t>(remembered), history.end());
      if (Message message = round.message(); !round.text.empty() || !message.calls.empty()) {
        messages.push_back(std::move(message));
        for (Message& result : round.results()) messages.push_back(std::move(result));
      }
      messages.insert(messages.end(), injected.begin(), injected.end());
      repair_calls(messages);
      break;
  }
  return messages;
}

State ToolLoop::Parts::save() const {
  State state{.legs = legs,
              .injected = injected,
              .rounds = rounds,
              .calls = calls_made,
              .advisories = advisories};
  for (const auto& [name, count] : tool_calls) state.tool_calls.push_back({name, count});
  std::sort(state.tool_calls.begin(), state.tool_calls.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  repeats.save(state);
  evicted.save(state);
  tools.save(state);
  return state;
}

}  // namespace callgate::loop
