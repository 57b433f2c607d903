#include "turn/hook/answer_guard.h"

#include <algorithm>
#include <utility>

namespace callgate::server {
namespace {

using Kind = LoggedEvent::Kind;

constexpr std::size_t kLongestPiece = std::size_t{64} << 10;

bool is_words(const LoggedEvent& event) {
  const bool said =
      event.kind == Kind::text || event.kind == Kind::reasoning || event.kind == Kind::refusal;
  return said && event.text.find_first_not_of(" \t\r\n") != std::string::npos;
}

std::string_view channel_of(Kind kind) {
  if (kind == Kind::reasoning) return "reasoning";
  return kind == Kind::refusal ? "refusal" : "text";
}

// Fields that say the words once more, where no hook would see them.
bool repeats_words(const FieldReported& field) {
  return field.name == "logprobs" || field.name == "reasoning_details";
}

LoggedEvent logged(const Event& event) {
  EventLog log;
  log.accept(event);
  return log.events().front();
}

class Told final : public EventSink {
 public:
  explicit Told(FunctionRef<void(const Event&)> to) : to_(to) {}
  void accept(const Event& event) override { to_(event); }

 private:
  FunctionRef<void(const Event&)> to_;
};

}  // namespace

AnswerGuard::AnswerGuard(WordJudge& judge, Exit& exit, std::uint32_t choices, bool by_sentence)
    : judge_(judge), exit_(exit), by_sentence_(by_sentence) {
  const policy::SentenceOptions options{.max_bytes = kLongestPiece};
  choices_.reserve(choices);
  for (std::uint32_t i = 0; i < choices; ++i) choices_.emplace_back(options);
}

void AnswerGuard::take(std::uint32_t choice, const Event& event) {
  if (const auto* text = std::get_if<TextDelta>(&event)) {
    return add_words(choice, Kind::text, text->text);
  }
  if (const auto* reasoning = std::get_if<ReasoningDelta>(&event)) {
    return add_words(choice, Kind::reasoning, reasoning->text);
  }
  if (const auto* refusal = std::get_if<RefusalDelta>(&event)) {
    return add_words(choice, Kind::refusal, refusal->text);
  }
  const auto* field = std::get_if<FieldReported>(&event);
  if (field != nullptr && repeats_words(*field)) return;
  // Usage and fields have no place in the order of the turn's words.
  const bool aside = field != nullptr || std::holds_alternative<UsageReported>(event);
  if (!aside) flush(choice);
  hold(choice, event);
}

void AnswerGuard::take(const loop::Notice& notice) {
  if (!std::holds_alternative<loop::LoopEnded>(notice) && denied_) return;
  flush(0);
  if (held_.empty()) return exit_.pass(notice);
  HeldNotice kept{.notice = notice, .call_id = {}, .name = {}, .text = {}};
  if (const auto* call = std::get_if<loop::ToolCallNotice>(&notice)) {
    kept.call_id = call->call_id;
    kept.name = call->name;
    kept.text = call->arguments;
  } else if (const auto* result = std::get_if<loop::ToolResultNotice>(&notice)) {
    kept.call_id = result->call_id;
    kept.name = result->name;
    kept.text = result->preview;
  }
  held_bytes_ += kept.text.size();
  held_.push_back({.choice = 0, .what = std::move(kept)});
}

loop::Notice AnswerGuard::HeldNotice::view() const {
  loop::Notice copy = notice;
  if (auto* call = std::get_if<loop::ToolCallNotice>(&copy)) {
    call->call_id = call_id;
    call->name = name;
    call->arguments = text;
  } else if (auto* result = std::get_if<loop::ToolResultNotice>(&copy)) {
    result->call_id = call_id;
    result->name = name;
    result->preview = text;
  }
  return copy;
}

void AnswerGuard::add_words(std::uint32_t choice, Kind kind, std::string_view text) {
  if (denied_) return;
  Choice& into = choices_[choice];
  if (into.kind != kind) flush(choice);
  into.kind = kind;
  into.waiting += text.size();
  if (by_sentence_) {
    return into.splitter.push(text, [&](std::string_view piece) { hold_words(choice, piece); });
  }
  into.text += text;
  if (into.text.size() >= kLongestPiece) flush(choice);
}

void AnswerGuard::flush() {
  for (std::uint32_t i = 0; i < choices_.size(); ++i) flush(i);
}

void AnswerGuard::flush(std::uint32_t choice) {
  Choice& from = choices_[choice];
  from.splitter.flush([&](std::string_view piece) { hold_words(choice, piece); });
  if (!from.text.empty()) hold_words(choice, std::exchange(from.text, {}));
}

void AnswerGuard::hold_words(std::uint32_t choice, std::string_view text) {
  if (denied_) return;
  Choice& from = choices_[choice];
  from.waiting -= std::min(from.waiting, text.size());
  held_bytes_ += text.size();
  LoggedEvent words;
  words.kind = from.kind;
  words.text = text;
  held_.push_back({.choice = choice, .what = std::move(words)});
}

void AnswerGuard::hold(std::uint32_t choice, const Event& event) {
  if (denied_) return pass_end_only({.choice = choice, .what = logged(event)});
  if (held_.empty()) return pass(choice, event);
  LoggedEvent kept = logged(event);
  held_bytes_ += kept.text.size();
  held_.push_back({.choice = choice, .what = std::move(kept)});
}

void AnswerGuard::pass(std::uint32_t choice, const Event& event) {
  Choice& to = choices_[choice];
  if (const auto* call = std::get_if<CallStarted>(&event)) to.open_call = call->call;
  if (std::holds_alternative<CallFinished>(event)) to.open_call.reset();
  if (std::holds_alternative<TurnFinished>(event)) to.finished = true;
  exit_.pass(choice, event);
}

std::size_t AnswerGuard::held() const {
  std::size_t all = held_bytes_ + held_.size() * sizeof(Held);
  for (const Choice& choice : choices_) all += choice.waiting;
  return all;
}

void AnswerGuard::let_go(const Held& held) {
  if (const auto* notice = std::get_if<HeldNotice>(&held.what)) return exit_.pass(notice->view());
  const auto to = [&](const Event& event) { pass(held.choice, event); };
  Told sink(to);
  tell(std::get<LoggedEvent>(held.what), sink);
}

void AnswerGuard::pass_end_only(const Held& held) {
  if (const auto* notice = std::get_if<HeldNotice>(&held.what)) {
    if (std::holds_alternative<loop::LoopEnded>(notice->notice)) exit_.pass(notice->view());
    return;
  }
  LoggedEvent event = std::get<LoggedEvent>(held.what);
  if (event.kind == Kind::finish) event.reason = FinishReason::content_filter;
  if (event.kind == Kind::finish || event.kind == Kind::usage) {
    let_go({.choice = held.choice, .what = std::move(event)});
  }
}

net::Task<> AnswerGuard::judge() {
  while (!held_.empty()) {
    auto* words = std::get_if<LoggedEvent>(&held_.front().what);
    if (words != nullptr && is_words(*words)) {
      const std::uint32_t choice = held_.front().choice;
      const std::size_t size = words->text.size();
      // Named: g++ 12 destroys an aggregate within co_await twice.
      WordJudge::Words asked{
          .channel = channel_of(words->kind), .choice = choice, .text = words->text};
      const auto allowed = co_await judge_.judge_answer(std::move(asked));
      denied_ = !allowed;
      if (denied_) break;
      // More may have come in the meantime, but behind it.
      held_bytes_ -= size;
      std::get<LoggedEvent>(held_.front().what).text = *allowed;
      if (!allowed->empty()) let_go(held_.front());
    } else {
      let_go(held_.front());
    }
    held_.pop_front();
  }
  if (held_.empty()) held_bytes_ = 0;
  if (!denied_) co_return;
  const std::deque<Held> rest = std::exchange(held_, {});
  held_bytes_ = 0;
  for (const Held& held : rest) pass_end_only(held);
}

void AnswerGuard::end_turn(FinishReason reason) {
  held_.clear();
  held_bytes_ = 0;
  for (std::uint32_t i = 0; i < choices_.size(); ++i) {
    Choice& choice = choices_[i];
    if (choice.finished) continue;
    if (choice.open_call) pass(i, CallFinished{*choice.open_call, CallOutcome::truncated});
    pass(i, TurnFinished{reason});
  }
}

}  // namespace callgate::server
