#include "dialect/output.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "base/utf8.h"
#include "dialect/explain.h"
#include "dialect/tool_fit.h"

namespace callgate::dialect {
void Output::begin_stretch(Channel channel, Lead lead) {
  leave_stretch();
  channel_ = channel;
  lead_ = lead;
  if (lead == Lead::opener || lead == Lead::closer) {
    in_answer_ = lead == Lead::opener && channel == Channel::text;
  }
  fresh_ = true;
}

// White space alone between two things that are not text is structure.
void Output::leave_stretch() {
  if (newline_held_) emit_prose("\n");
  newline_held_ = false;
  audit_.marker += white_.size();
  white_.clear();
}

void Output::close_stretch() {
  if (newline_held_) ++audit_.marker;
  newline_held_ = false;
}

std::size_t Output::structural_lead() const {
  const auto one = [&]() -> std::size_t {
    if (white_.starts_with("\r\n")) return 2;
    return white_.starts_with("\n") ? 1 : 0;
  };
  switch (lead_) {
    case Lead::turn:
      return 0;
    case Lead::opener:
    case Lead::call:
      return one();
    case Lead::closer: {
      const std::size_t text = white_.find_first_not_of("\r\n");
      return text == std::string::npos ? white_.size() : text;
    }
  }
  return 0;
}

void Output::prose(std::string_view bytes) {
  if (bytes.empty()) return;
  if (fresh_) {
    const std::size_t room = max_held_back_ - white_.size();
    const std::size_t space = std::min(bytes.find_first_not_of(kSpace), bytes.size());
    white_.append(bytes.substr(0, std::min(space, room)));
    bytes.remove_prefix(std::min(space, room));
    if (bytes.empty() && white_.size() < max_held_back_) return;
    fresh_ = false;
    const std::size_t structure = structural_lead();
    audit_.marker += structure;
    emit_prose(std::string_view(white_).substr(structure));
    white_.clear();
    if (bytes.empty()) return;
  }
  if (newline_held_) emit_prose("\n");
  newline_held_ = (in_answer_ || channel_ == Channel::reasoning) && bytes.back() == '\n';
  if (newline_held_) bytes.remove_suffix(1);
  emit_prose(bytes);
}

void Output::verbatim(Channel channel, std::string_view bytes) {
  if (channel != channel_) begin_stretch(channel, Lead::turn);
  fresh_ = false;
  emit_prose(bytes);
}

void Output::emit_prose(std::string_view bytes) {
  if (bytes.empty()) return;
  (channel_ == Channel::text ? audit_.text : audit_.reasoning) += bytes.size();
  send(channel_ == Channel::text ? Kind::text : Kind::reasoning, bytes);
}

void Output::hold(std::string_view bytes) {
  if (committed_) {
    audit_.marker += bytes.size();
    return;
  }
  held_.append(bytes);
  if (call_open_ && held_.size() > max_held_back_) commit_call();
}

void Output::unhold(std::size_t count) {
  CALLGATE_CHECK(!call_open_ && count <= held_.size());
  held_.resize(held_.size() - count);
}

void Output::unread_arguments(std::size_t count) {
  if (committed_) {
    audit_.arguments -= count;
    return;
  }
  CALLGATE_CHECK(count <= held_argument_bytes_);
  held_.resize(held_.size() - count);
  held_argument_bytes_ -= count;
}

void Output::hold_prose(std::string_view bytes) {
  if (prose_to_ == 0) prose_from_ = held_.size();
  held_.append(bytes);
  prose_to_ = held_.size();
}

void Output::note(std::string_view what, const Found& found) {
  if (!doubt_->reason.empty()) return;
  doubt_->at = position();
  doubt_->reason = expectation(what, found);
}

void Output::note_undeclared(std::string_view name) {
  if (!doubt_->reason.empty()) return;
  doubt_->at = position();
  doubt_->reason = undeclared(name);
}

void Output::forget_held() {
  held_.clear();
  held_arguments_.clear();
  held_argument_bytes_ = 0;
  prose_from_ = 0;
  prose_to_ = 0;
}

void Output::drop_held() {
  audit_.marker += held_.size();
  forget_held();
}

void Output::drop_markers() {
  const std::string among(held_prose());
  const bool blank = among.find_first_not_of(kSpace) == std::string::npos;
  audit_.marker += held_.size() - (blank ? 0 : among.size());
  forget_held();
  if (!blank) prose(among);
}

void Output::release_held() {
  // prose() may look at neither held_ nor its range.
  scratch_held_.swap(held_);
  forget_held();
  prose(scratch_held_);
  scratch_held_.clear();
}

void Output::start_call(std::string_view name, std::string_view native_id, Commit least) {
  CALLGATE_CHECK(!call_open_ && !name.empty());
  call_open_ = true;
  name_ = declared_name(tools_, name);
  native_id_ = native_id;
  if (!whole_call_ && least == Commit::eager) commit_call();
}

// The call leaves, with what is held back of it.
void Output::commit_call() {
  std::string_view among = std::string_view(held_).substr(prose_from_, prose_to_ - prose_from_);
  if (among.find_first_not_of(kSpace) == std::string_view::npos) among = {};
  prose(among);
  audit_.call_begin = audit_.sum() + structural_lead();
  leave_stretch();
  flush_carry();
  committed_ = true;
  audit_.marker += held_.size() - held_argument_bytes_ - among.size();
  audit_.arguments += held_argument_bytes_;
  sink_->accept(CallStarted{.call = next_call_, .name = name_, .native_id = native_id_});
  if (!held_arguments_.empty()) send(Kind::arguments, held_arguments_);
  forget_held();
}

bool Output::finish_call(CallOutcome outcome) {
  CALLGATE_CHECK(call_open_);
  if (!committed_ && outcome == CallOutcome::complete) commit_call();
  call_open_ = false;
  if (!committed_) {
    expected("whole and valid arguments", {});
    release_held();
    return false;
  }
  flush_carry();
  committed_ = false;
  sink_->accept(CallFinished{.call = next_call_++, .outcome = outcome});
  begin_stretch(channel_, Lead::call);
  return true;
}

void Output::finish() {
  CALLGATE_CHECK(!call_open_);
  if (fresh_ && lead_ == Lead::turn && !white_.empty()) {
    emit_prose(white_);
    white_.clear();
  }
  leave_stretch();
  flush_carry();
}

// Bytes that are not ASCII, or that follow an incomplete sequence.
void Output::send_mixed(Kind kind, std::string_view bytes) {
  if (kind != carry_kind_) flush_carry();
  carry_kind_ = kind;
  std::string_view whole = bytes;
  if (!carry_.empty()) {
    scratch_ = carry_;
    scratch_.append(bytes);
    whole = scratch_;
  }
  const std::size_t cut = utf8::incomplete_tail(whole);
  const std::string_view body = whole.substr(0, whole.size() - cut);
  if (utf8::is_valid(body)) {
    accept(kind, body);
  } else {
    std::string clean;
    utf8::append_sanitized(clean, body);
    accept(kind, clean);
  }
  carry_.assign(whole.substr(whole.size() - cut));
}

void Output::flush_carry() {
  if (carry_.empty()) return;
  carry_.clear();
  accept(carry_kind_, utf8::kReplacement);
}

void Output::accept(Kind kind, std::string_view bytes) {
  if (bytes.empty()) return;
  switch (kind) {
    case Kind::text:
      sink_->accept(TextDelta{bytes});
      break;
    case Kind::reasoning:
      sink_->accept(ReasoningDelta{bytes});
      break;
    case Kind::arguments:
      sink_->accept(ArgumentsDelta{.call = next_call_, .bytes = bytes});
      break;
  }
}

}  // namespace callgate::dialect
