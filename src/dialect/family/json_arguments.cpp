#include "dialect/family/json_arguments.h"

#include <algorithm>

#include "dialect/turn_parser.h"
#include "json/escape.h"
#include "json/writer.h"

namespace callgate::dialect {
namespace {

using ScanState = json::Scanner::State;

// A value may end long before the bytes of a push do: it is looked for in no more than this at a time.
constexpr std::size_t kBlock = 4096;

std::size_t find_control(std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size() && static_cast<unsigned char>(bytes[at]) >= 0x20) ++at;
  return at;
}

// Outside of strings no scanner gets past a backslash, so an unfinished escape tells that it was in one.
bool ends_in_escape(std::string_view seen) {
  std::size_t hex = 0;
  while (hex < 4 && hex < seen.size() && json::hex_digit(seen[seen.size() - 1 - hex]) >= 0) ++hex;
  const std::string_view before = seen.substr(0, seen.size() - hex);
  return before.ends_with("\\u") || seen.ends_with('\\');
}

}  // namespace

void JsonArguments::begin(bool decoded) {
  scan_.reset();
  decoded_ = decoded;
  keeps_brace_ = false;
  tail_.clear();
  broken_ = false;
}

void JsonArguments::begin_open() {
  begin();
  keeps_brace_ = true;
}

JsonArguments::Result JsonArguments::push(std::string_view bytes, Output& out) {
  std::size_t at = 0;
  while (at < bytes.size() && !broken_) {
    const std::string_view rest = bytes.substr(at, kBlock);
    const std::size_t control = find_control(rest);
    if (control == 0 && scan_.in_string()) {
      if (escape_control(rest[0], out)) ++at;
      continue;
    }
    // A control character outside of a string is white space or a fault: the scanner tells.
    const std::size_t used = push_segment(rest.substr(0, std::max<std::size_t>(control, 1)), out);
    at += used;
    if (scan_.state() == ScanState::closed) return {.used = at, .state = State::complete};
  }
  if (!broken_) {
    if (scan_.in_string() && tail_.empty() && !decoded_)
      out.expect_plain(Output::Plain::json_string);
    return {.used = at};
  }
  Result result;
  do {
    result = push_broken(bytes.substr(at, kBlock), out);
    at += result.used;
  } while (result.state == State::inside && at < bytes.size());
  result.used = at;
  return result;
}

std::size_t JsonArguments::push_segment(std::string_view bytes, Output& out) {
  const std::size_t used = scan_.push(bytes);
  const std::string_view seen = bytes.substr(0, used);
  if (!decoded_) out.argument_bytes(seen);
  if (scan_.state() == ScanState::failed) break_off(seen);
  const bool closed = scan_.state() == ScanState::closed;
  pass(closed && keeps_brace_ ? seen.substr(0, used - 1) : seen, broken_, out);
  return used;
}

// Forwards the tail and `bytes`, without what must not be cut.
void JsonArguments::pass(std::string_view bytes, bool flush, Output& out) {
  const std::size_t unsafe = flush ? 0 : std::min(scan_.unsafe_tail(), tail_.size() + bytes.size());
  if (tail_.empty()) [[likely]] {
    if (unsafe == 0) [[likely]] {
      out.arguments(bytes);
      return;
    }
    out.arguments(bytes.substr(0, bytes.size() - unsafe));
    tail_.assign(bytes.substr(bytes.size() - unsafe));
    return;
  }
  scratch_.assign(tail_).append(bytes);
  out.arguments(std::string_view(scratch_).substr(0, scratch_.size() - unsafe));
  tail_.assign(scratch_, scratch_.size() - unsafe);
}

bool JsonArguments::escape_control(char c, Output& out) {
  const std::string_view byte(&c, 1);
  if (scan_.push(byte) == 0 || scan_.state() == ScanState::failed) {
    // Behind a backslash: this is not JSON any more. The byte is read again as such.
    break_off({});
    pass({}, true, out);
    return false;
  }
  if (!decoded_) out.argument_bytes(byte);
  pass({}, true, out);
  std::string escaped;
  json::append_escaped(escaped, byte);
  out.arguments(escaped);
  return true;
}

void JsonArguments::break_off(std::string_view seen) {
  scratch_.assign(tail_).append(seen);
  broken_ = true;
  in_string_ = ends_in_escape(scratch_);
  escaped_ = false;
  depth_ = scan_.depth();
  if (decoded_) return;
  if (ender_set_ == nullptr) ender_set_ = std::make_unique<MarkerSet>(enders(prose_));
  ender_scan_ = std::make_unique<MarkerScan>(*ender_set_);
}

JsonArguments::Result JsonArguments::push_broken(std::string_view bytes, Output& out) {
  if (decoded_) {
    out.arguments(bytes);
    return {.used = bytes.size()};
  }
  const std::size_t end = broken_end(bytes);
  const bool closed = end != std::string_view::npos;
  const MarkerScan::Result found = ender_scan_->push(bytes.substr(0, end));
  out.argument_bytes(bytes.substr(0, found.used));
  out.arguments(found.held);
  out.arguments(found.before);
  if (found.marker != MarkerSet::kNone) {
    // What was read behind the marker follows it in the text that both are part of.
    const std::string_view marker = ender_set_->text(found.marker);
    const std::string_view replay = found.replay.empty()
                                        ? marker
                                        : std::string_view(found.replay.data() - marker.size(),
                                                           marker.size() + found.replay.size());
    out.unread_arguments(replay.size());
    return {.used = found.used, .state = State::malformed, .replay = replay};
  }
  if (!closed) return {.used = bytes.size()};
  out.arguments(ender_scan_->finish().held);
  return {.used = end, .state = State::malformed};
}

// Where the outermost bracket closes in `bytes`, or npos.
std::size_t JsonArguments::broken_end(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const char c = bytes[at];
    if (in_string_) {
      if (!escaped_ && c == '"') in_string_ = false;
      escaped_ = !escaped_ && c == '\\';
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if (c == '}' || c == ']') {
      if (depth_ == 0) return at;
      if (--depth_ == 0) return at + 1;
    }
  }
  return std::string_view::npos;
}

CallOutcome JsonArguments::finish(Output& out, CallOutcome when_open) {
  if (broken_) {
    if (!decoded_) out.arguments(ender_scan_->finish().held);
    return CallOutcome::malformed;
  }
  // A number that runs into the end of the turn may go on; in a string it has ended.
  const bool whole = scan_.state() == ScanState::closed || (decoded_ && scan_.finish());
  if (whole) return CallOutcome::complete;
  pass({}, true, out);
  return when_open;
}

}  // namespace callgate::dialect
