#include "script/line_reader.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"
#include "json/reader.h"

namespace callgate::script {
namespace {

std::string_view trimmed_line(std::string_view text) {
  while (!text.empty() && is_space_or_tab(text.front())) text.remove_prefix(1);
  while (!text.empty() && (is_space_or_tab(text.back()) || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

}  // namespace

std::string_view LineReader::take_line() {
  const std::size_t end = std::min(text_.find('\n', at_), text_.size());
  std::string_view line = text_.substr(at_, end - at_);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  at_ = end + 1;
  ++line_;
  return line;
}

bool LineReader::next() {
  keyword_ = {};
  while (!failed() && at_ < text_.size()) {
    rest_ = take_line();
    if (at_end()) continue;
    keyword_ = word();
    return true;
  }
  return false;
}

void LineReader::skip_space() {
  while (!rest_.empty() && is_space_or_tab(rest_.front())) rest_.remove_prefix(1);
}

bool LineReader::at_end() {
  skip_space();
  return failed() || rest_.empty() || rest_.front() == '#';
}

char LineReader::peek() { return at_end() ? '\0' : rest_.front(); }

std::string_view LineReader::word() {
  if (at_end()) return {};
  const std::size_t end = std::min(rest_.find_first_of(" \t"), rest_.size());
  const std::string_view found = rest_.substr(0, end);
  rest_.remove_prefix(end);
  return found;
}

bool LineReader::take(std::string_view wanted) {
  const std::string_view before = rest_;
  if (!at_end() && word() == wanted) return true;
  rest_ = before;
  return false;
}

std::string LineReader::string() {
  if (peek() != '"') {
    fail_word(word(), "a string in double quotes");
    return {};
  }
  json::Reader in(rest_);
  std::string value(in.string());
  if (in.failed()) {
    fail(std::string(keyword_) + ": a string that is not closed or has a wrong escape");
    return {};
  }
  rest_.remove_prefix(std::min(in.offset(), rest_.size()));
  return value;
}

std::string LineReader::json() {
  skip_space();
  json::Reader in(rest_);
  std::string value(in.raw());
  if (in.failed()) {
    fail(std::string(keyword_) +
         ": not a JSON value on one line: " + std::string(in.error().message));
    return {};
  }
  rest_.remove_prefix(std::min(in.offset(), rest_.size()));
  return value;
}

bool LineReader::at_block() { return !at_end() && rest_.substr(0, 2) == "<<"; }

std::string LineReader::block() {
  const std::size_t opened = line_;
  const std::string_view mark = word().substr(2);
  if (mark.empty()) fail(std::string(keyword_) + ": <<, expected a word behind it, such as <<END");
  std::string lines;
  while (!failed()) {
    if (at_ >= text_.size()) {
      line_ = opened;
      fail(std::string(keyword_) + ": no line says " + std::string(mark));
      break;
    }
    const std::string_view line = take_line();
    if (trimmed_line(line) == mark) break;
    lines.append(line).push_back('\n');
  }
  rest_ = {};
  return lines;
}

std::vector<std::string> LineReader::strings() {
  std::vector<std::string> values;
  if (at_block()) {
    values.push_back(block());
    if (!values.back().empty()) values.back().pop_back();
    return values;
  }
  do {
    values.push_back(string());
  } while (peek() == '"');
  return values;
}

std::uint64_t LineReader::number(std::uint64_t max) {
  const std::string_view found = word();
  std::uint64_t value = 0;
  const auto [end, fault] = std::from_chars(found.data(), found.data() + found.size(), value);
  if (found.empty() || fault != std::errc() || end != found.data() + found.size() || value > max) {
    fail_word(found, "a number from 0 to " + std::to_string(max));
    return 0;
  }
  return value;
}

std::uint32_t LineReader::milliseconds() {
  const std::string_view found = word();
  std::uint32_t value = 0;
  const auto [end, fault] = std::from_chars(found.data(), found.data() + found.size(), value);
  const std::string_view unit = found.substr(static_cast<std::size_t>(end - found.data()));
  const bool known = unit == "ms" || unit == "s";
  if (found.empty() || fault != std::errc() || !known || value > 3'600'000) {
    fail_word(found, "a duration such as 20ms or 2s, one hour at most");
    return 0;
  }
  return unit == "s" ? std::min<std::uint32_t>(value, 3600) * 1000 : value;
}

std::string_view LineReader::rest_of_line() {
  const std::string_view rest = trimmed_line(rest_);
  rest_ = {};
  return rest;
}

void LineReader::fail(std::string message) {
  if (failed()) return;
  const std::string where = "line " + std::to_string(line_);
  error_ = Error{.code = ErrorCode::invalid_request,
                 .message = where + ": " + std::move(message),
                 .param = where};
}

void LineReader::fail_word(std::string_view found, std::string_view expected) {
  std::string message(keyword_);
  message += found.empty() ? ": nothing" : ": \"" + std::string(found) + "\"";
  fail(message + ", expected " + std::string(expected));
}

}  // namespace callgate::script
