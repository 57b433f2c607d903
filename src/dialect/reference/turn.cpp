#include "dialect/reference/turn.h"

#include <algorithm>

namespace callgate::dialect::reference {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

// What comes before a stretch of prose says which of its newlines are structure.
enum class Lead : std::uint8_t { turn, opener, closer, call };

enum class Role : std::uint8_t {
  none,
  reasoning_open,
  reasoning_close,
  answer_open,
  answer_close,
  section_open,
  call_open,
  call_close,
  section_close,
  tail,
  hidden_open,
  hidden_close,
  stray,
  odd,
};

struct Found {
  Role role = Role::none;
  std::string_view text;
  const CallOpener* opener = nullptr;
};

class Turn {
 public:
  Turn(const ReferenceCase& turn, const TurnGrammar& grammar, const ReadCalls& read_calls,
       EventLog& log)
      : turn_(turn), text_(turn.text), grammar_(grammar), read_calls_(read_calls), log_(log) {
    reasoning_ = turn.reasoning_open;
    if (reasoning_) lead_ = Lead::opener;
  }

  bool read() {
    if (grammar_.begins_in_call) take_call({Role::call_open, "", &grammar_.call_open[0]}, 0, false);
    while (at_ < text_.size() && !no_opinion_) {
      const Found found = marker_here(at_);
      if (found.role == Role::none) {
        stretch_ += text_[at_++];
      } else {
        take(found);
      }
    }
    end_turn();
    return !no_opinion_;
  }

 private:
  Found marker_here(std::size_t at) const {
    Found best;
    const auto consider = [&](std::string_view text, Role role, const CallOpener* opener) {
      if (text.size() > best.text.size() && text_.substr(at).starts_with(text)) {
        best = {role, text, opener};
      }
    };
    for (const auto& [open, close] : grammar_.reasoning) {
      consider(open, Role::reasoning_open, nullptr);
      consider(close, Role::reasoning_close, nullptr);
    }
    for (const auto& [open, close] : grammar_.answer) {
      consider(open, Role::answer_open, nullptr);
      consider(close, Role::answer_close, nullptr);
    }
    for (const CallOpener& opener : grammar_.call_open)
      consider(opener.text, Role::call_open, &opener);
    for (std::string_view text : grammar_.section_open) consider(text, Role::section_open, nullptr);
    for (std::string_view text : grammar_.call_close) consider(text, Role::call_close, nullptr);
    for (std::string_view text : grammar_.section_close)
      consider(text, Role::section_close, nullptr);
    for (std::string_view text : grammar_.tail) consider(text, Role::tail, nullptr);
    for (const auto& [open, close] : grammar_.hidden) {
      consider(open, Role::hidden_open, nullptr);
      consider(close, Role::hidden_close, nullptr);
    }
    for (std::string_view text : grammar_.special) consider(text, Role::stray, nullptr);
    for (std::string_view text : grammar_.odd) consider(text, Role::odd, nullptr);
    return best;
  }

  bool is_special(std::string_view text) const {
    return std::find(grammar_.special.begin(), grammar_.special.end(), text) !=
           grammar_.special.end();
  }

  // Tags of reasoning that an answer writes as code are text: behind what may open code, no opinion.
  bool may_be_quoted(const Found& found) const {
    const bool tag = found.role == Role::reasoning_open || found.role == Role::reasoning_close;
    return tag && !reasoning_ && text_.substr(0, at_).find_first_of("`~") != std::string_view::npos;
  }

  void take(const Found& found) {
    if (may_be_quoted(found)) no_opinion_ = true;
    switch (found.role) {
      case Role::reasoning_open:
        if (reasoning_ && !is_blank(stretch_)) return say(found.text);
        return change_stretch(found, true, Lead::opener, false);
      case Role::reasoning_close:
      case Role::answer_close:
        if ((reasoning_ || in_answer_) && !is_blank(stretch_) && stretch_.ends_with('\n')) {
          stretch_.pop_back();
        }
        return change_stretch(found, false, Lead::closer, false);
      case Role::answer_open:
        return change_stretch(found, false, Lead::opener, true);
      case Role::section_open:
        return take_section(found);
      case Role::call_open:
        if (!may_open(*found.opener)) return say(found.text);
        if (take_call(found, at_ + found.text.size(), false)) return;
        if (!take_empty_block(found, at_ + found.text.size())) show(found.text);
        return;
      case Role::call_close:
        return take_close(found, call_close_owed_);
      case Role::section_close:
        return take_close(found, section_close_owed_);
      case Role::tail:
        return take_tail(found);
      case Role::hidden_open:
        return take_hidden(found);
      case Role::hidden_close:
        at_ += found.text.size();
        return;
      case Role::stray:
        return take_odd(found.text);
      case Role::odd:
        no_opinion_ = true;
        return;
      case Role::none:
        return;
    }
  }

  bool may_open(const CallOpener& opener) const {
    const bool line_start = at_ == 0 || text_[at_ - 1] == '\n';
    const bool fresh = is_blank(stretch_) && !(opener.line && lead_ == Lead::call);
    return fresh || (!opener.first && (!opener.line || line_start));
  }

  void take_odd(std::string_view text) {
    if (!is_special(text) || shows_markup_) return say(text);
    at_ += text.size();
  }

  // Up to its close, or to something that opens.
  void take_hidden(const Found& found) {
    at_ += found.text.size();
    for (Found next; at_ < text_.size(); at_ += std::max<std::size_t>(next.text.size(), 1)) {
      next = marker_here(at_);
      switch (next.role) {
        case Role::reasoning_open:
        case Role::answer_open:
        case Role::section_open:
        case Role::call_open:
          return;
        case Role::hidden_close:
          at_ += next.text.size();
          return;
        default:
          break;
      }
    }
  }

  // An opener that is no call, and its closer. `from` is behind the opener.
  bool take_empty_block(const Found& found, std::size_t from) {
    const bool special = is_special(found.text);
    if (found.opener->declared || !(special || grammar_.empty_blocks)) return false;
    const std::size_t next = skip_space(text_, from);
    const Role behind = marker_here(next).role;
    if (behind != Role::call_close && behind != Role::section_close) return false;
    end_stretch();
    at_ = next + marker_here(next).text.size();
    lead_ = Lead::call;
    return true;
  }

  // Markup that is no call is shown, and so are the markers that belong to it.
  void show(std::string_view text) {
    shows_markup_ = shows_markup_ || is_special(text);
    say(text);
  }

  void say(std::string_view text) {
    stretch_ += text;
    at_ += text.size();
  }

  void change_stretch(const Found& found, bool reasoning, Lead lead, bool in_answer) {
    end_stretch();
    at_ += found.text.size();
    reasoning_ = reasoning;
    lead_ = lead;
    in_answer_ = in_answer;
  }

  // A section is structure when a call follows, or nothing; what else stands before the call is prose.
  void take_section(const Found& found) {
    std::size_t next = at_ + found.text.size();
    while (next < text_.size() && marker_here(next).role == Role::none) ++next;
    const std::string_view between =
        text_.substr(at_ + found.text.size(), next - at_ - found.text.size());
    const Found behind = marker_here(next);
    if (behind.role == Role::section_close && is_blank(between)) {
      end_stretch();
      at_ = next + behind.text.size();
      lead_ = Lead::call;
      return;
    }
    if (behind.role == Role::call_open) {
      const std::string before = stretch_;
      if (!is_blank(between)) stretch_ += between;
      if (take_call(behind, next + behind.text.size(), true)) return;
      if (take_empty_block(behind, next + behind.text.size())) {
        section_close_owed_ = true;
        return;
      }
      stretch_ = before;
    }
    show(found.text);
    say(between);
    // `<section>prose</section>` is prose, its end too.
    if (behind.role == Role::section_close) say(behind.text);
  }

  bool take_call(const Found& found, std::size_t at, bool in_section) {
    if (found.opener->quotable && follows_backtick(text_, at_)) {
      no_opinion_ = true;
      return true;
    }
    const Reading reading = read_calls_(turn_, *found.opener, at);
    switch (reading.what) {
      case Reading::What::no_opinion:
        no_opinion_ = true;
        return true;
      case Reading::What::no_call:
        return false;
      case Reading::What::prose:
        say(text_.substr(at_, reading.end - at_));
        return true;
      case Reading::What::calls:
        break;
    }
    end_stretch();
    shows_markup_ = false;
    for (LoggedCall call : reading.calls) {
      call.name = declared_name(turn_, call.name);
      log_call(call, log_);
    }
    if (!reading.calls.empty() && grammar_.call_ends_reasoning) reasoning_ = false;
    at_ = reading.end;
    lead_ = Lead::call;
    if (reading.closed) {
      call_close_owed_ = true;
      section_close_owed_ = section_close_owed_ || in_section;
    }
    return true;
  }

  void take_close(const Found& found, bool& owed) {
    const bool behind_call = lead_ == Lead::call && is_blank(stretch_);
    if (!owed && !behind_call) return take_odd(found.text);
    owed = false;
    end_stretch();
    at_ += found.text.size();
    lead_ = Lead::call;
  }

  // At the very end of a turn it is structure.
  void take_tail(const Found& found) {
    std::size_t end = at_ + found.text.size();
    while (end < text_.size()) {
      const Found next = marker_here(end);
      if (next.role != Role::tail && !is_space(text_[end])) return say(found.text);
      end += next.role == Role::tail ? next.text.size() : 1;
    }
    at_ = text_.size();
  }

  std::string_view structural_lead() const {
    const std::string_view text = stretch_;
    switch (lead_) {
      case Lead::turn:
        return {};
      case Lead::opener:
      case Lead::call:
        if (text.starts_with("\r\n")) return text.substr(0, 2);
        return text.starts_with('\n') ? text.substr(0, 1) : std::string_view{};
      case Lead::closer:
        return text.substr(0, text.find_first_not_of("\r\n"));
    }
    return {};
  }

  // White space alone between two things that are no text is structure.
  void end_stretch() {
    if (!is_blank(stretch_)) emit(std::string_view(stretch_).substr(structural_lead().size()));
    stretch_.clear();
  }

  void end_turn() {
    if (is_blank(stretch_) && lead_ == Lead::turn) emit(stretch_);
    end_stretch();
  }

  void emit(std::string_view text) {
    if (text.empty()) return;
    if (reasoning_) {
      log_.accept(ReasoningDelta{text});
    } else {
      log_.accept(TextDelta{text});
    }
  }

  const ReferenceCase& turn_;
  const std::string_view text_;
  const TurnGrammar& grammar_;
  const ReadCalls& read_calls_;
  EventLog& log_;
  std::size_t at_ = 0;
  std::string stretch_;
  Lead lead_ = Lead::turn;
  bool reasoning_ = false;
  bool in_answer_ = false;
  bool call_close_owed_ = false;
  bool section_close_owed_ = false;
  bool shows_markup_ = false;
  bool no_opinion_ = false;
};

}  // namespace

bool read_turn(const ReferenceCase& turn, const TurnGrammar& grammar, const ReadCalls& read_calls,
               EventLog& log) {
  return Turn(turn, grammar, read_calls, log).read();
}

void log_call(const LoggedCall& call, EventLog& log) {
  const CallIndex index = static_cast<CallIndex>(log.calls().size());
  log.accept(CallStarted{.call = index, .name = call.name, .native_id = call.id});
  if (!call.arguments.empty()) log.accept(ArgumentsDelta{.call = index, .bytes = call.arguments});
  log.accept(CallFinished{.call = index, .outcome = call.outcome});
}

bool is_space(char c) { return kSpace.find(c) != std::string_view::npos; }

bool is_blank(std::string_view text) {
  return text.find_first_not_of(kSpace) == std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
  if (is_blank(text)) return {};
  const std::size_t from = text.find_first_not_of(kSpace);
  return text.substr(from, text.find_last_not_of(kSpace) - from + 1);
}

std::size_t skip_space(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(kSpace, at), text.size());
}

std::string declared_name(const ReferenceCase& turn, const std::string& name) {
  const std::string bare = name.starts_with("functions.") ? name.substr(10) : name;
  return is_declared(turn, bare) && !is_declared(turn, name) ? bare : name;
}

bool may_be_called(const ReferenceCase& turn, std::string_view name) {
  return turn.tools.empty() || is_declared(turn, name);
}

bool is_declared(const ReferenceCase& turn, std::string_view name) {
  return std::any_of(turn.tools.begin(), turn.tools.end(),
                     [&](const ToolSpec& tool) { return tool.name == name; });
}

std::string_view marker_at(std::string_view text, std::size_t at, const Texts& markers) {
  std::string_view best;
  for (std::string_view marker : markers) {
    if (marker.size() > best.size() && text.substr(at).starts_with(marker)) best = marker;
  }
  return best;
}

std::size_t find_marker(std::string_view text, std::size_t at, const Texts& markers) {
  std::size_t first = std::string_view::npos;
  for (std::string_view marker : markers) first = std::min(first, text.find(marker, at));
  return first;
}

bool follows_backtick(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  const std::size_t line = before.rfind('\n') + 1;  // 0 where there is none
  return before.find('`', line) != std::string_view::npos;
}

Texts enders_of(const TurnGrammar& grammar) {
  Texts texts;
  for (const Texts* list :
       {&grammar.section_open, &grammar.call_close, &grammar.section_close, &grammar.tail}) {
    texts.insert(texts.end(), list->begin(), list->end());
  }
  for (const CallOpener& opener : grammar.call_open) {
    if (!opener.declared) texts.push_back(opener.text);
  }
  return texts;
}

}  // namespace callgate::dialect::reference
