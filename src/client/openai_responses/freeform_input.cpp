#include "client/openai_responses/freeform_input.h"

#include <algorithm>

#include "json/escape.h"
#include "json/reader.h"

namespace callgate::client {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

// How many of the last bytes belong to an escape that is not whole, or to one whose other half may follow.
std::size_t open_escape(std::string_view text) {
  // The longest is \uD83D\uDE00 without its last digit.
  for (std::size_t tail = std::min<std::size_t>(text.size(), 11); tail > 0; --tail) {
    const std::size_t at = text.size() - tail;
    if (text[at] != '\\') continue;
    std::size_t slashes = 1;
    while (slashes <= at && text[at - slashes] == '\\') ++slashes;
    if (slashes % 2 == 0) continue;  // it is escaped itself
    if (tail == 1) return 1;
    if (text[at + 1] != 'u') continue;
    if (tail < 6) return tail;
    unsigned unit = 0;
    for (std::size_t i = 2; i < 6; ++i) {
      unit = unit * 16 + static_cast<unsigned>(std::max(json::hex_digit(text[at + i]), 0));
    }
    const bool half = json::is_high_surrogate(unit) && tail < 12 &&
                      (tail == 6 || (text[at + 6] == '\\' && (tail == 7 || text[at + 7] == 'u')));
    if (half) return tail;
  }
  return 0;
}

bool is_whole_escape(std::string_view text, std::size_t at) {
  if (at + 1 >= text.size()) return false;
  if (json::is_short_escape(text[at + 1])) return true;
  if (text[at + 1] != 'u' || at + 6 > text.size()) return false;
  return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(at) + 2,
                     text.begin() + static_cast<std::ptrdiff_t>(at) + 6,
                     [](char c) { return json::hex_digit(c) >= 0; });
}

// Unescapes, and leaves escapes that JSON does not know as they are: patterns of regular expressions, for example.
void append_text(std::string& out, std::string_view escaped) {
  std::size_t from = 0;
  for (std::size_t at = 0; at < escaped.size();) {
    if (escaped[at] != '\\') {
      ++at;
    } else if (is_whole_escape(escaped, at)) {
      at += escaped[at + 1] == 'u' ? 6 : 2;
    } else {
      json::append_unescaped(out, escaped.substr(from, at - from));
      out.push_back('\\');
      from = ++at;
    }
  }
  json::append_unescaped(out, escaped.substr(from));
}

// The string member of an object that has only one, or the one that is called input.
bool append_only_string(std::string_view json, std::string& out) {
  json::Reader in(json);
  if (in.peek() != json::Kind::object) return false;
  std::string found;
  int strings = 0;
  bool named = false;
  for (std::string_view key; in.next_member(key);) {
    const bool is_input = key == "input";
    if (in.peek() != json::Kind::string || named) {
      in.skip();
      continue;
    }
    found = in.string();
    ++strings;
    named = is_input;
  }
  if (!in.finish() || (strings != 1 && !named)) return false;
  out.append(found);
  return true;
}

}  // namespace

void FreeformInput::reset() {
  place_ = Place::head;
  held_.clear();
}

void FreeformInput::push(std::string_view arguments, std::string& out) {
  if (place_ == Place::after) return;
  held_.append(arguments);
  if (place_ == Place::head) read_head(out);
  if (place_ == Place::inside) read_string(out);
}

// `{`, `"input"`, `:` and `"`, with white space between them.
void FreeformInput::read_head(std::string&) {
  std::size_t at = 0;
  for (const std::string_view token : {"{", "\"input\"", ":", "\""}) {
    at = held_.find_first_not_of(kBlank, at);
    if (at == std::string::npos) return;
    const std::string_view here = std::string_view(held_).substr(at, token.size());
    if (here == token) {
      at += token.size();
    } else {
      if (!token.starts_with(here)) place_ = Place::odd;
      return;
    }
  }
  held_.erase(0, at);
  place_ = Place::inside;
}

void FreeformInput::read_string(std::string& out) {
  std::size_t end = 0;
  while (end < held_.size() && held_[end] != '"') {
    end += held_[end] == '\\' ? 2 : 1;
  }
  if (end < held_.size()) {
    append_text(out, std::string_view(held_).substr(0, end));
    held_.clear();
    place_ = Place::after;
    return;
  }
  const std::size_t certain = held_.size() - open_escape(held_);
  append_text(out, std::string_view(held_).substr(0, certain));
  held_.erase(0, certain);
}

void FreeformInput::finish(std::string& out) {
  switch (place_) {
    case Place::head:
    case Place::odd: {
      const bool blank = held_.find_first_not_of(kBlank) == std::string::npos || held_ == "{}";
      if (!blank && !append_only_string(held_, out)) out.append(held_);
      break;
    }
    case Place::inside:
      append_text(out, held_);
      break;
    case Place::after:
      break;
  }
  reset();
}

}  // namespace callgate::client
