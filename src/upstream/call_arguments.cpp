#include "upstream/call_arguments.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "json/escape.h"
#include "upstream/repaired_read.h"

namespace callgate::upstream {
namespace {

constexpr std::string_view kSpaceOrBrackets = " \t\r\n}]";
constexpr int kMaxEncodings = 3;

// Some languages write an empty object as an empty list.
bool is_empty_value(std::string_view value) {
  if (value == "null" || value == "\"\"") return true;
  if (value.size() < 2) return false;
  const char open = value.front();
  const bool brackets =
      (open == '{' && value.back() == '}') || (open == '[' && value.back() == ']');
  return brackets && is_blank(value.substr(1, value.size() - 2));
}

}  // namespace

bool CallArguments::push(std::string_view bytes, bool direct, RepairCounts& repairs) {
  while (!bytes.empty()) {
    if (state() != State::closed && push_value(bytes, direct, repairs)) return true;
    if (bytes.empty()) return false;
    const bool replaced = empty_ && after_ == After::nothing && trimmed(bytes).starts_with('{');
    if (!replaced) {
      push_rest(bytes, repairs);
      return false;
    }
    drop();
    count(repairs, Repair::arguments_prefilled);
    direct = false;
  }
  return false;
}

// Takes what belongs to the value off `bytes`. True: all of it, and it may leave at once.
bool CallArguments::push_value(std::string_view& bytes, bool direct, RepairCounts& repairs) {
  const bool opening = state() == State::before;
  const std::size_t taken = scanner_.push(bytes);
  const bool closed = state() == State::closed;
  const std::string_view value = closed ? bytes.substr(0, taken) : bytes;
  hash_ = fnv1a(value, hash_);
  length_ += value.size();
  if (opening) {
    const std::string_view text = trimmed(value);
    encoded_ = text.starts_with('"');
    other_ = text.starts_with('n') || text.starts_with('[');
    empty_ = is_empty_value(text);
  }
  bytes.remove_prefix(value.size());
  const bool unsafe = state() == State::inside && scanner_.unsafe_tail() > 0;
  const bool whole = encoded_ || other_ || empty_;
  if (direct && held_.empty() && bytes.empty() && !unsafe && !whole) return true;
  held_.append(value);
  if (other_ || (closed && encoded_)) empty_ = is_empty_value(trimmed(held_));
  if (closed && encoded_ && !empty_) decode(repairs);
  return false;
}

// A control character that a server did not escape in its own JSON is one in the arguments' JSON.
void CallArguments::push_unescaped(std::string_view bytes, RepairCounts& repairs) {
  while (!bytes.empty()) {
    std::size_t plain = 0;
    while (plain < bytes.size() && static_cast<unsigned char>(bytes[plain]) >= 0x20) ++plain;
    push(bytes.substr(0, plain), false, repairs);
    if (plain == bytes.size()) return;
    std::string control(1, bytes[plain]);
    if (scanner_.in_string()) {
      control.clear();
      json::append_control(control, bytes[plain]);
    }
    push(control, false, repairs);
    bytes.remove_prefix(plain + 1);
  }
}

void CallArguments::push_rest(std::string_view bytes, RepairCounts& repairs) {
  if (after_ == After::nothing)
    rest_begin_ = rest_.size() + std::min(bytes.find_first_not_of(kSpace), bytes.size());
  rest_.append(bytes);
  if (is_blank(bytes)) return;
  if (bytes.find_first_not_of(kSpaceOrBrackets) != std::string_view::npos) after_ = After::garbage;
  if (after_ == After::nothing) after_ = After::brackets;
  if (after_ == After::brackets && !std::exchange(counted_brackets_, true)) {
    count(repairs, Repair::arguments_surplus);
  }
  const std::string_view again = std::string_view(rest_).substr(rest_begin_);
  if (after_ != After::garbage || again.size() != length_ || !same_value(again)) return;
  rest_.clear();
  after_ = After::nothing;
  count(repairs, Repair::call_repeated);
}

// Takes the JSON object out of the string that holds it. A string that holds something else stays.
void CallArguments::decode(RepairCounts& repairs) {
  std::string text(trimmed(held_));
  for (int i = 0; i < kMaxEncodings && text.starts_with('"'); ++i) {
    std::string inner;
    json::append_unescaped(inner, std::string_view(text).substr(1, text.size() - 2));
    text = trimmed(inner);
    json::Scanner scanner;
    const std::size_t taken = scanner.push(text);
    const bool whole = scanner.state() == State::closed &&
                       text.find_first_not_of(kSpaceOrBrackets, taken) == std::string::npos;
    if (!whole) return;
    text.resize(taken);
    if (!text.starts_with('{')) continue;
    held_ = std::move(text);
    scanner_ = scanner;
    encoded_ = false;
    return count(repairs, Repair::arguments_encoded);
  }
}

std::size_t CallArguments::ready_size() const {
  if (empty_) return 0;
  if (state() != State::inside) return held_.size();
  if (encoded_ || other_) return 0;
  const std::size_t unsafe = scanner_.unsafe_tail();
  return held_.size() > unsafe ? held_.size() - unsafe : 0;
}

CallOutcome CallArguments::finish() {
  if (scanner_.finish()) {
    const bool clean = after_ != After::garbage && !scanner_.saw_raw_control();
    return clean ? CallOutcome::complete : CallOutcome::malformed;
  }
  return state() == State::failed ? CallOutcome::malformed : CallOutcome::truncated;
}

// The value stays known, to be compared with.
void CallArguments::remove_held() {
  held_ = {};
  rest_ = {};
  after_ = After::nothing;
  empty_ = false;
}

void CallArguments::drop() { *this = CallArguments(); }

bool CallArguments::same_value(std::string_view value) const {
  return value.size() == length_ && fnv1a(value) == hash_;
}

}  // namespace callgate::upstream
