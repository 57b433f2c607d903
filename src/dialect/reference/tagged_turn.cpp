#include "dialect/reference/tagged_turn.h"

#include <algorithm>

#include "base/utf8.h"

namespace callgate::dialect::reference::tagged {
namespace {

// What a stretch of prose follows and what follows it say which white space at its ends is structure.
enum class Before { turn, opener, closer, call };
enum class After { end, opener, closer, call };

class Turn {
 public:
  Turn(const ReferenceCase& turn, const TurnGrammar& grammar, EventLog& log)
      : text_(turn.text), grammar_(grammar), log_(log), reasoning_(turn.reasoning_open) {
    if (reasoning_) before_ = Before::opener;
  }

  bool read(const ReadCall& read_call) {
    while (at_ < text_.size()) {
      const std::string marker = next_marker();
      if (marker.empty()) {
        stretch_ += text_[at_++];
      } else if (!take(marker, read_call)) {
        return false;
      }
    }
    leave(After::end, before_);
    return !odd_;
  }

 private:
  static bool has(const std::vector<std::string>& list, const std::string& text) {
    return std::find(list.begin(), list.end(), text) != list.end();
  }

  // The longest marker that stands here.
  std::string next_marker() const {
    std::string longest;
    const auto look = [&](const std::string& marker) {
      if (marker.size() > longest.size() && stands_at(text_, at_, marker)) longest = marker;
    };
    for (const auto* one : {&grammar_.think_open, &grammar_.think_close, &grammar_.answer_open,
                            &grammar_.answer_close}) {
      look(*one);
    }
    for (const auto* list : {&grammar_.openers, &grammar_.closers, &grammar_.tails,
                             &grammar_.strays, &grammar_.oddities}) {
      for (const std::string& marker : *list) look(marker);
    }
    return longest;
  }

  bool take(const std::string& marker, const ReadCall& read_call) {
    if (has(grammar_.openers, marker)) return take_call(marker, read_call(at_));
    const std::size_t end = at_ + marker.size();
    if (has(grammar_.closers, marker)) {
      const bool behind_call = before_ == Before::call && is_blank(stretch_);
      if (calls_ > 0 && !behind_call) return false;
      if (behind_call) {
        stretch_.clear();
      } else if (!grammar_.special || shows_markup_) {
        stretch_ += marker;
      }
    } else if (has(grammar_.strays, marker)) {
      if (shows_markup_) stretch_ += marker;
    } else if (has(grammar_.oddities, marker)) {
      return false;
    } else if (has(grammar_.tails, marker)) {
      if (ends_turn(end)) {
        at_ = text_.size();
        return true;
      }
      stretch_ += marker;
    } else if (!reasoning_ && (marker == grammar_.think_open || marker == grammar_.think_close) &&
               text_.substr(0, at_).find_first_of("`~") != std::string::npos) {
      return false;  // may be quoted as code
    } else if (marker == grammar_.think_open) {
      if (reasoning_ && !is_blank(stretch_)) {
        stretch_ += marker;
      } else {
        leave(After::opener, Before::opener);
        reasoning_ = true;
      }
    } else if (marker == grammar_.answer_open) {
      leave(After::opener, Before::opener);
      reasoning_ = false;
      in_answer_ = true;
    } else {
      leave(After::closer, Before::closer);
      reasoning_ = false;
      in_answer_ = false;
    }
    at_ = end;
    return true;
  }

  // Only end tokens and white space follow.
  bool ends_turn(std::size_t at) const {
    at = skip_space(text_, at);
    if (at == text_.size()) return true;
    return std::any_of(grammar_.tails.begin(), grammar_.tails.end(), [&](const std::string& tail) {
      return stands_at(text_, at, tail) && ends_turn(at + tail.size());
    });
  }

  bool take_call(const std::string& opener, const CallRead& call) {
    switch (call.found) {
      case CallRead::Found::no_opinion:
        return false;
      case CallRead::Found::text:
        if (take_empty_block(opener) || take_bare(opener)) return true;
        shows_markup_ = true;
        stretch_ += opener;
        at_ += opener.size();
        return true;
      case CallRead::Found::empty_section:
        leave(After::call, Before::call);
        break;
      case CallRead::Found::call:
        shows_markup_ = false;
        leave(After::call, Before::call);
        if (grammar_.call_ends_reasoning) reasoning_ = false;
        log_.accept(CallStarted{.call = calls_, .name = call.name});
        if (!call.arguments.empty()) {
          log_.accept(ArgumentsDelta{.call = calls_, .bytes = call.arguments});
        }
        log_.accept(CallFinished{.call = calls_++, .outcome = call.outcome});
        break;
    }
    at_ = call.end;
    return true;
  }

  // An opener with its closer.
  bool take_empty_block(const std::string& opener) {
    const std::size_t next = skip_space(text_, at_ + opener.size());
    for (const std::string& closer : grammar_.closers) {
      if (!stands_at(text_, next, closer)) continue;
      if (!grammar_.empty_blocks && !grammar_.special) continue;
      leave(After::call, Before::call);
      at_ = next + closer.size();
      return true;
    }
    return false;
  }

  bool take_bare(const std::string& opener) {
    const std::size_t next = skip_space(text_, at_ + opener.size());
    if (opener != grammar_.bare || next == text_.size()) return false;
    if (text_[next] == '{' || text_[next] == '<') return false;
    at_ = next;
    return true;
  }

  void leave(After after, Before next) {
    std::string text;
    utf8::append_sanitized(text, stretch_);
    stretch_.clear();
    const Before before = before_;
    before_ = next;
    const bool kept = before == Before::turn && after == After::end;
    if (text.empty() || (is_blank(text) && !kept)) return;
    const std::size_t newline = text.starts_with("\r\n") ? 2 : text.starts_with("\n") ? 1 : 0;
    if (before == Before::closer) text.erase(0, text.find_first_not_of("\r\n"));
    if (before == Before::opener || before == Before::call) text.erase(0, newline);
    const bool closes = after == After::closer && (reasoning_ || in_answer_);
    if (closes && text.ends_with('\n')) text.pop_back();
    if (after == After::call && grammar_.drops_space_before_calls && !reasoning_) {
      text.erase(text.find_last_not_of(" \t\r\n") + 1);
    }
    // Which of it stands before a call is seen only later.
    odd_ = odd_ || (after != After::call && after != After::end && !reasoning_ &&
                    grammar_.drops_space_before_calls && !text.ends_with('.'));
    if (text.empty()) return;
    if (reasoning_) {
      log_.accept(ReasoningDelta{text});
    } else {
      log_.accept(TextDelta{text});
    }
  }

  std::string_view text_;
  const TurnGrammar& grammar_;
  EventLog& log_;
  std::size_t at_ = 0;
  std::string stretch_;
  Before before_ = Before::turn;
  bool reasoning_;
  bool in_answer_ = false;
  bool odd_ = false;
  bool shows_markup_ = false;
  CallIndex calls_ = 0;
};

}  // namespace

bool read_turn(const ReferenceCase& turn, const TurnGrammar& grammar, const ReadCall& read_call,
               EventLog& log) {
  return Turn(turn, grammar, log).read(read_call);
}

bool may_hold_bare_json(std::string_view text) {
  const bool named = text.find("\"name\"") != std::string_view::npos;
  if (named && text.find("```json") != std::string_view::npos) return true;
  for (std::size_t at = text.find_first_of("{["); at != std::string_view::npos;
       at = text.find_first_of("{[", at + 1)) {
    const std::size_t before = text.substr(0, at).find_last_not_of(" \t\r");
    const bool begins = before == std::string_view::npos || text[before] == '\n';
    // A key that runs over the end of its line: where such JSON ends is a matter of taste.
    const bool torn =
        text.substr(at).starts_with("{\"") && text.find('\n', at + 2) < text.find('"', at + 2);
    if ((named || torn) && (begins || text[before] == '>')) return true;
  }
  return false;
}

bool stands_at(std::string_view text, std::size_t at, std::string_view what) {
  return !what.empty() && text.substr(std::min(at, text.size())).starts_with(what);
}

std::size_t skip_space(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(" \t\r\n", at), text.size());
}

bool is_blank(std::string_view text) { return skip_space(text, 0) == text.size(); }

}  // namespace callgate::dialect::reference::tagged
