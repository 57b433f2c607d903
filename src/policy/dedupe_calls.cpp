#include "policy/dedupe_calls.h"

#include <utility>

#include "json/writer.h"

namespace callgate::policy {

void DedupeCalls::push(const Event& event, EventSink& next) {
  std::visit(Overloaded{
                 [&](const TextDelta&) { next.accept(event); },
                 [&](const ReasoningDelta&) { next.accept(event); },
                 [&](const RefusalDelta&) { next.accept(event); },
                 [&](const CallStarted& e) { start(e, next); },
                 [&](const ArgumentsDelta& e) { arguments(e, next); },
                 [&](const CallFinished& e) { finish(e, next); },
                 [&](const FieldReported& e) { field(e, next); },
                 [&](const UsageReported&) { next.accept(event); },
                 [&](const TurnFinished& e) { passed_.finish_turn(e.reason, next); },
             },
             event);
}

void DedupeCalls::start(const CallStarted& event, EventSink& next) {
  const bool known = names_.contains(std::string(event.name));
  open_ = {std::string(event.name), std::string(event.native_id), event.in_text, {}, {}};
  scanner_.reset();
  state_ = known ? State::held_back : State::passing;
  if (!known) passed_.start(event, next);
}

void DedupeCalls::field(const FieldReported& event, EventSink& next) {
  const bool of_call = event.scope == FieldReported::Scope::call;
  if (of_call && state_ == State::held_back) {
    open_.fields.emplace_back(event.name, event.json);
    return;
  }
  passed_.field(event, state_ != State::repeated, next);
}

void DedupeCalls::arguments(const ArgumentsDelta& event, EventSink& next) {
  switch (state_) {
    case State::none:
      return;
    case State::passing:
    case State::too_long:
      return pass(event.bytes, next);
    case State::held_back:
      return hold_back(event.bytes, next);
    case State::repeated:
      withheld_.bytes += event.bytes.size();
      return;
  }
}

// Later calls are compared with what passes.
void DedupeCalls::pass(std::string_view bytes, EventSink& next) {
  if (open_.arguments.size() + bytes.size() > max_held_back_) state_ = State::too_long;
  if (state_ != State::too_long) open_.arguments.append(bytes);
  passed_.arguments(bytes, next);
}

void DedupeCalls::hold_back(std::string_view bytes, EventSink& next) {
  const std::size_t taken = scanner_.push(bytes);
  const bool closed = scanner_.state() == json::Scanner::State::closed;
  const std::string_view value = closed ? bytes.substr(0, taken) : bytes;
  open_.arguments.append(value);
  const bool fits = open_.arguments.size() <= max_held_back_;
  if (fits && !closed) return;
  decide(next);
  if (!fits && state_ == State::passing) state_ = State::too_long;
  if (const std::string_view rest = bytes.substr(value.size()); !rest.empty()) {
    arguments(ArgumentsDelta{0, rest}, next);
  }
}

// Drops the call that is held back, or lets it pass.
void DedupeCalls::decide(EventSink& next) {
  if (seen_.contains(key_of(open_))) {
    state_ = State::repeated;
    ++withheld_.calls;
    withheld_.by = "dedupe_calls";
    withheld_.bytes += open_.arguments.size();
    return;
  }
  state_ = State::passing;
  passed_.start(CallStarted{0, open_.name, open_.id, open_.in_text}, next);
  for (const auto& [name, json] : open_.fields) {
    passed_.field(FieldReported{FieldReported::Scope::call, name, json}, true, next);
  }
  passed_.arguments(open_.arguments, next);
}

void DedupeCalls::finish(const CallFinished& event, EventSink& next) {
  if (state_ == State::held_back) decide(next);
  const State state = std::exchange(state_, State::none);
  if (state == State::repeated) return;
  passed_.finish(event.outcome, next);
  open_.fields.clear();
  if (state != State::passing) return;
  seen_.insert(key_of(open_));
  names_.insert(std::move(open_.name));
}

// No name and arguments give the key of others. White space between the arguments says nothing.
std::string DedupeCalls::key_of(const Call& call) {
  std::string key = std::to_string(call.name.size()) + ":" + call.name;
  json::Scanner scanner;
  const bool whole = scanner.push(call.arguments) == call.arguments.size() && scanner.finish();
  if (whole) {
    json::append_compact(key, call.arguments);
  } else {
    key += call.arguments;
  }
  return key;
}

}  // namespace callgate::policy
