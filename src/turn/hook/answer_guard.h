// AnswerGuard: holds the words of an answer back until hooks have judged them, sentence by sentence; what comes after them
// waits behind them. An answer that does not stream is judged in pieces as large as may be.
//
// What it holds is bounded: its owner judges what is there before it reads more, and a sentence has at most 64 KiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "callgate/loop.h"
#include "chat/event_log.h"
#include "net/task.h"
#include "policy/sentence_splitter.h"
#include "turn/hook/word_judge.h"

namespace callgate::server {

class AnswerGuard {
 public:
  // Where what may leave goes. Must not call back.
  class Exit {
   public:
    virtual ~Exit() = default;
    virtual void pass(std::uint32_t choice, const Event& event) = 0;
    virtual void pass(const loop::Notice& notice) = 0;
  };

  // REQUIRES: judge and exit outlive it.
  AnswerGuard(WordJudge& judge, Exit& exit, std::uint32_t choices, bool by_sentence);

  void take(std::uint32_t choice, const Event& event);
  void take(const loop::Notice& notice);
  // Words that wait for their sentence's end wait for a verdict from now on.
  void flush();

  // Something waits for a verdict.
  bool has_question() const { return !held_.empty(); }
  std::size_t held() const;
  // Asks about all that is held, in order, and lets it go.
  net::Task<> judge();

  // A hook refused the answer: of what comes now only the end passes, as `content_filter`.
  bool is_denied() const { return denied_; }
  // The turn ends here: choices that have not ended do so. What was held is gone.
  void end_turn(FinishReason reason);

 private:
  struct HeldNotice {
    loop::Notice notice;  // its views are not valid
    std::string call_id, name, text;
    loop::Notice view() const;
  };
  struct Held {
    std::uint32_t choice = 0;
    std::variant<LoggedEvent, HeldNotice> what;
  };
  struct Choice {
    explicit Choice(policy::SentenceOptions options) : splitter(options) {}
    policy::SentenceSplitter splitter;
    std::string text;                                  // where answers do not stream
    LoggedEvent::Kind kind = LoggedEvent::Kind::text;  // of what the splitter holds
    std::size_t waiting = 0;                           // bytes of it
    std::optional<CallIndex> open_call;
    bool finished = false;
  };

  void add_words(std::uint32_t choice, LoggedEvent::Kind kind, std::string_view text);
  void flush(std::uint32_t choice);
  void hold_words(std::uint32_t choice, std::string_view text);
  void hold(std::uint32_t choice, const Event& event);
  // Past the hooks.
  void pass(std::uint32_t choice, const Event& event);
  void pass_end_only(const Held& held);
  void let_go(const Held& held);

  WordJudge& judge_;
  Exit& exit_;
  const bool by_sentence_;
  std::vector<Choice> choices_;
  std::deque<Held> held_;
  std::size_t held_bytes_ = 0;
  bool denied_ = false;
};

}  // namespace callgate::server
