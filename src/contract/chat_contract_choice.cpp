#include "contract/chat_contract_choice.h"

#include <algorithm>

#include "contract/chat_contract_json.h"

namespace callgate::contract {

using enum ContractRule;

namespace {

// Of a choice or of a call: one that a client may not know.
bool has_other_member(std::string_view raw) {
  static constexpr std::string_view kKnown[] = {"index", "delta", "finish_reason", "logprobs",
                                                "id",    "type",  "function"};
  bool found = false;
  json::Reader in(raw);
  if (in.peek() != json::Kind::object) return false;
  for (std::string_view key; in.next_member(key);) {
    const bool known = std::find(std::begin(kKnown), std::end(kKnown), key) != std::end(kKnown);
    if (!is_blank(in.raw()) && !known) found = true;
  }
  return found;
}

}  // namespace

ContractChoice::ContractChoice(std::uint32_t index, const ContractTerms& terms, VerdictSheet& sheet,
                               ContractProgress& progress)
    : terms_(terms),
      sheet_(sheet),
      progress_(progress),
      label_("choice " + std::to_string(index)) {}

void ContractChoice::accept(std::string_view raw, const std::string& where) {
  const auto [delta, reason, logprobs] = members(raw, {"delta", "finish_reason", "logprobs"});
  if (is_finished()) sheet_.fail(nothing_after_finish, where + ": " + shown(raw));
  if (is_object(delta)) {
    accept_delta(delta, is_nothing(reason) && is_blank(logprobs) && !has_other_member(raw), where);
  } else {
    sheet_.fail(choice_delta, where + ": `delta` is " + shown(delta));
  }
  if (reason.empty()) {
    sheet_.fail(finish_reason_present, where + ": no `finish_reason`");
  } else if (!is_nothing(reason)) {
    accept_finish(reason, where);
  }
}

void ContractChoice::accept_delta(std::string_view delta, bool must_carry,
                                  const std::string& where) {
  const auto [role, calls, function] = members(delta, {"role", "tool_calls", "function_call"});
  sheet_.count(Evidence::choices);
  accept_role(role, where);
  const bool first = deltas_++ == 0;
  bool carries = accept_text(delta, where);
  if (!is_nothing(function)) {
    legacy_call_ = true;
    sheet_.fail(no_legacy_call, where + ": `function_call` is " + shown(function));
  }
  if (!is_nothing(calls) && accept_calls(calls, where)) carries = true;
  if (must_carry && !first && !carries) {
    sheet_.fail(deltas_not_empty, where + ": `delta` is " + shown(delta));
  }
}

void ContractChoice::accept_role(std::string_view role, const std::string& where) {
  if (deltas_ == 0) {
    if (role != "\"assistant\"") sheet_.fail(role_first, where + ": `role` is " + shown(role));
  } else if (!is_nothing(role)) {
    sheet_.fail(role_once, where + ": `role` again: " + shown(role));
  }
}

// True when the delta has any member with content, beside calls.
bool ContractChoice::accept_text(std::string_view delta, const std::string& where) {
  static constexpr std::string_view kTexts[] = {"content", "refusal", "reasoning_content",
                                                "reasoning"};
  bool carries = false;
  json::Reader in(delta);
  for (std::string_view key; in.next_member(key);) {
    const auto* text = std::find(std::begin(kTexts), std::end(kTexts), key);
    const bool is_calls = key == "tool_calls";
    const std::string_view raw = in.raw();
    if (!is_calls && !is_blank(raw)) carries = true;
    if (text == std::end(kTexts) || is_nothing(raw)) continue;
    if (!is_string(raw)) {
      sheet_.fail(text_is_string, where + ": `" + std::string(*text) + "` is " + shown(raw));
      continue;
    }
    const std::string said = to_text(raw);
    if (said.empty()) continue;
    progress_.said = true;
    transcript_.add(label_ + " " + std::string(*text), said);
    if (*text != "content") continue;
    content_ += said;
    sheet_.count(Evidence::text);
  }
  return carries;
}

bool ContractChoice::accept_calls(std::string_view raw, const std::string& where) {
  std::size_t count = 0;
  bool carries = false;
  if (is_array(raw)) {
    json::Reader in(raw);
    while (in.next_element()) {
      ++count;
      if (accept_call(in.raw(), where)) carries = true;
    }
  }
  if (count != 1) sheet_.fail(one_call_per_delta, where + ": `tool_calls` is " + shown(raw));
  return carries;
}

// True when the delta starts a call or brings arguments.
bool ContractChoice::accept_call(std::string_view raw, const std::string& where) {
  const CallDelta delta = read_call_delta(raw);
  const std::size_t before = calls_.size();
  ContractCall& call = find_call(delta, where);
  const std::string line = label_ + " call " + std::to_string(&call - calls_.data());
  const bool was_whole = call.is_whole();
  const std::string fragment = call.accept(delta, where, sheet_);
  const bool is_new = calls_.size() > before;
  if (is_new) {
    progress_.said = true;
    ++progress_.calls_begun;
    sheet_.count(Evidence::calls);
    check_id(call, where);
    transcript_.add(line, call.name());
  }
  if (!was_whole && call.is_whole()) ++progress_.calls_whole;
  if (!fragment.empty()) transcript_.add(line + " arguments", fragment);
  return is_new || !fragment.empty() || has_other_member(raw);
}

// The call that the delta belongs to. One without a usable index starts a call when it has an id or a name.
ContractCall& ContractChoice::find_call(const CallDelta& delta, const std::string& where) {
  const std::optional<std::int64_t> index = to_integer(delta.index);
  if (const auto known = index ? places_.find(*index) : places_.end(); known != places_.end()) {
    if (known->second + 1 != calls_.size()) {
      sheet_.fail(calls_in_sequence,
                  where + ": a delta of call " + std::to_string(*index) + " after a later call");
    }
    return calls_[known->second];
  }
  check_new_index(delta, where);
  const bool goes_on = (!index || last_unplaced_) && is_nothing(delta.id) && is_nothing(delta.name);
  if (goes_on && !calls_.empty()) return calls_.back();
  last_unplaced_ = !index;
  if (index) places_.emplace(*index, calls_.size());
  return calls_.emplace_back("call " + std::to_string(calls_.size()));
}

void ContractChoice::check_new_index(const CallDelta& delta, const std::string& where) {
  const std::optional<std::int64_t> index = to_integer(delta.index);
  if (!index) {
    sheet_.fail(call_index, where + ": `index` is " + shown(delta.index));
  } else if (*index != static_cast<std::int64_t>(calls_.size())) {
    sheet_.fail(call_index, where + ": `index` is " + std::to_string(*index) + ", expected " +
                                std::to_string(calls_.size()));
  }
}

void ContractChoice::check_id(const ContractCall& call, const std::string& where) {
  if (call.id().empty() || ids_.insert(call.id()).second) return;
  sheet_.fail(call_id_unique, where + ": \"" + excerpt(call.id()) + "\" is another call's id");
}

void ContractChoice::accept_finish(std::string_view reason, const std::string& where) {
  static constexpr std::string_view kReasons[] = {"\"stop\"", "\"tool_calls\"", "\"length\"",
                                                  "\"content_filter\""};
  if (std::find(std::begin(kReasons), std::end(kReasons), reason) == std::end(kReasons)) {
    sheet_.fail(finish_reason_known, where + ": " + shown(reason));
  }
  if (reason == "\"\"") return;  // says nothing: the turn goes on
  if (++finishes_ > 1) {
    sheet_.fail(finish_once, where + ": " + label_ + " finishes again: " + shown(reason));
    return;
  }
  reason_ = is_string(reason) ? to_text(reason) : std::string(reason);
  transcript_.add(label_ + " finish", reason_);
}

void ContractChoice::finish() {
  if (deltas_ == 0) sheet_.fail(role_first, label_ + " has no delta");
  mask();
  for (const ContractCall& call : calls_) call.finish(terms_, sheet_);
  check_expected_calls();
  check_reason();
  check_text();
}

void ContractChoice::check_expected_calls() {
  if (!calls_.empty()) {
    const ContractCall& call = calls_.front();
    sheet_.note(call_made, excerpt(call.name()) + " " + excerpt(call.arguments()));
    sheet_.note(forced_tool, excerpt(call.name()));
  } else if (terms_.call_expected) {
    const std::string said = content_.empty() ? "no text" : "\"" + excerpt(content_) + "\"";
    sheet_.fail(call_made, "no call in `tool_calls`; text: " + said);
  }
  if (terms_.forced_tool.empty()) return;
  for (const ContractCall& call : calls_) {
    if (call.name() != terms_.forced_tool) {
      sheet_.fail(forced_tool, "\"" + excerpt(call.name()) + "\" was called");
    }
  }
  if (calls_.empty()) sheet_.fail(forced_tool, "no call was made");
}

void ContractChoice::check_reason() {
  if (finishes_ == 0) {
    sheet_.fail(finish_once, label_ + " has no finish_reason");
    return;
  }
  const std::string seen =
      reason_ + ", " + std::to_string(calls_.size()) + (calls_.size() == 1 ? " call" : " calls");
  sheet_.note(finish_once, reason_);
  sheet_.note(finish_reason_known, reason_);
  sheet_.note(finish_matches_calls, seen);
  sheet_.note(nothing_after_finish, reason_ + " came last");
  const bool may_stop = calls_.empty() || !terms_.forced_tool.empty();
  if ((reason_ == "tool_calls" && calls_.empty() && !legacy_call_) ||
      (reason_ == "stop" && !may_stop)) {
    sheet_.fail(finish_matches_calls, label_ + ": " + seen);
  }
}

void ContractChoice::check_text() const {
  for (const std::string_view marker : terms_.markers) {
    const std::size_t at = content_.find(marker);
    if (at == std::string::npos) continue;
    sheet_.fail(no_markup, label_ + ": \"" + excerpt(std::string_view(content_).substr(at)) + "\"");
    break;
  }
}

// From here on sentences may repeat what was said.
void ContractChoice::mask() {
  if (std::string found = find_secret(content_, terms_.secrets); !found.empty()) {
    sheet_.fail(no_secrets, label_ + ": " + found + " in the text");
    content_ = mask_secrets(content_, terms_.secrets);
  }
  for (ContractCall& call : calls_) {
    if (std::string found = find_secret(call.arguments(), terms_.secrets); !found.empty()) {
      sheet_.fail(no_secrets, label_ + ": " + found + " in arguments");
      call.mask(terms_);
    }
  }
}

}  // namespace callgate::contract
