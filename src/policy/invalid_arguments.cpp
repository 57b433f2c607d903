#include "policy/invalid_arguments.h"

#include "base/text.h"
#include "json/writer.h"

namespace callgate::policy {
namespace {

// One JSON value, with white space around it at most. Control characters in strings count as a fault, since clients
// refuse them.
bool is_whole(std::string_view text) {
  json::Scanner scanner;
  const std::size_t taken = scanner.push(text);
  return scanner.finish() && !scanner.saw_raw_control() &&
         text.find_first_not_of(kSpace, taken) == std::string_view::npos;
}

// Both stages look at calls alone.
template <class Start, class Arguments, class Finish>
void visit_calls(const Event& event, EventSink& next, Start on_start, Arguments on_arguments,
                 Finish on_finish) {
  std::visit(Overloaded{
                 [&](const TextDelta&) { next.accept(event); },
                 [&](const ReasoningDelta&) { next.accept(event); },
                 [&](const RefusalDelta&) { next.accept(event); },
                 [&](const CallStarted&) {
                   on_start();
                   next.accept(event);
                 },
                 [&](const ArgumentsDelta& e) { on_arguments(e); },
                 [&](const CallFinished& e) { on_finish(e); },
                 [&](const FieldReported&) { next.accept(event); },
                 [&](const UsageReported&) { next.accept(event); },
                 [&](const TurnFinished&) { next.accept(event); },
             },
             event);
}

}  // namespace

void RepairArguments::push(const Event& event, EventSink& next) {
  visit_calls(
      event, next,
      [&] {
        scanner_.reset();
        held_back_.clear();
      },
      [&](const ArgumentsDelta& e) { arguments(e, next); },
      [&](const CallFinished& e) { finish(e, next); });
}

void RepairArguments::arguments(const ArgumentsDelta& event, EventSink& next) {
  scanner_.push(event.bytes);
  const std::size_t unsafe = scanner_.unsafe_tail();
  if (held_back_.empty() && unsafe == 0) return next.accept(event);
  held_back_.append(event.bytes);
  const std::size_t safe = held_back_.size() - unsafe;
  if (safe == 0) return;
  next.accept(ArgumentsDelta{event.call, std::string_view(held_back_).substr(0, safe)});
  held_back_.erase(0, safe);
}

void RepairArguments::finish(const CallFinished& event, EventSink& next) {
  std::string closing;
  if (scanner_.state() == json::Scanner::State::inside && scanner_.append_closing(closing)) {
    ++mended_;
    held_back_ = std::move(closing);  // instead of half an escape
  }
  if (!held_back_.empty()) next.accept(ArgumentsDelta{event.call, held_back_});
  held_back_.clear();
  next.accept(event);
}

void RawArguments::push(const Event& event, EventSink& next) {
  visit_calls(
      event, next,
      [&] {
        too_long_ = false;
        held_back_.clear();
      },
      [&](const ArgumentsDelta& e) { arguments(e, next); },
      [&](const CallFinished& e) { finish(e, next); });
}

void RawArguments::arguments(const ArgumentsDelta& event, EventSink& next) {
  if (too_long_) return next.accept(event);
  held_back_.append(event.bytes);
  if (held_back_.size() <= max_held_back_) return;
  too_long_ = true;
  next.accept(ArgumentsDelta{event.call, held_back_});
  held_back_.clear();
}

void RawArguments::finish(const CallFinished& event, EventSink& next) {
  if (!held_back_.empty() && !is_whole(held_back_)) {
    std::string raw;
    json::ObjectWriter object(raw);
    object.string("raw", held_back_);
    object.close();
    held_back_ = std::move(raw);
    ++mended_;
  }
  if (!held_back_.empty()) next.accept(ArgumentsDelta{event.call, held_back_});
  held_back_.clear();
  next.accept(event);
}

}  // namespace callgate::policy
