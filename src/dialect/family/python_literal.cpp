#include "dialect/family/python_literal.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "dialect/family/tagged_value.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::dialect {
namespace {

constexpr std::string_view kPrefixes = "rRbBuUfF";

bool is_python_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}
bool is_python_quote(char c) { return c == '"' || c == '\''; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word_byte(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

std::string_view skip_python_space(std::string_view text) {
  const auto from = std::find_if_not(text.begin(), text.end(), is_python_space);
  return text.substr(static_cast<std::size_t>(from - text.begin()));
}

bool is_string_prefix(std::string_view word) {
  return !word.empty() && word.size() <= 2 &&
         word.find_first_not_of(kPrefixes) == std::string_view::npos;
}

using LiteralStyle = QuotedString::Style;
LiteralStyle literal_style(std::string_view prefix) {
  return prefix.find_first_of("rR") == std::string_view::npos ? LiteralStyle::python
                                                              : LiteralStyle::python_raw;
}

bool is_python_name(std::string_view word) {
  return !word.empty() && !is_digit(word[0]) &&
         std::all_of(word.begin(), word.end(), [](char c) { return is_word_byte(c) || c == '-'; });
}

bool is_bare(std::string_view word) {
  return std::all_of(word.begin(), word.end(),
                     [](char c) { return is_word_byte(c) || c == '.' || c == '-' || c == ' '; });
}

int python_digit(char c) {
  if (is_digit(c)) return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

// The digits without their underscores, which stand between digits only; empty when they do not.
std::string without_underscores(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out.push_back(text[i]);
    } else if (i == 0 || i + 1 == text.size() || python_digit(text[i - 1]) > 15 ||
               python_digit(text[i + 1]) > 15) {
      return {};
    }
  }
  return out;
}

// Digits of another base as decimal text, of any length.
std::string to_decimal(std::string_view digits, int base) {
  std::string decimal = "0";  // least digit first
  for (const char c : digits) {
    int carry = python_digit(c);
    if (carry >= base) return {};
    for (char& digit : decimal) {
      const int value = (digit - '0') * base + carry;
      digit = static_cast<char>('0' + value % 10);
      carry = value / 10;
    }
    for (; carry > 0; carry /= 10) decimal.push_back(static_cast<char>('0' + carry % 10));
  }
  std::reverse(decimal.begin(), decimal.end());
  return decimal;
}

std::string based_number(std::string_view text) {
  struct Base {
    char letter;
    int base;
  };
  constexpr std::array kBases = {Base{'x', 16}, Base{'o', 8}, Base{'b', 2}};
  constexpr std::size_t kMaxDigits = 512;
  if (text.size() < 3 || text.size() > kMaxDigits || text[0] != '0') return {};
  for (const Base& base : kBases) {
    if ((text[1] | 0x20) != base.letter) continue;
    const std::string digits = without_underscores(text.substr(text[2] == '_' ? 3 : 2));
    return digits.empty() ? std::string() : to_decimal(digits, base.base);
  }
  return {};
}

// `.5`, `5.` and `5.e3` as JSON writes them.
std::string decimal_number(std::string_view text) {
  std::string number = without_underscores(text);
  const std::size_t point = number.find('.');
  if (point == std::string::npos) return number;
  const bool digit_before = point > 0 && is_digit(number[point - 1]);
  const bool digit_after = point + 1 < number.size() && is_digit(number[point + 1]);
  if (!digit_before && !digit_after) return {};
  if (!digit_after) number.insert(point + 1, 1, '0');
  if (!digit_before) number.insert(point, 1, '0');
  return number;
}

std::string python_number(std::string_view word) {
  word = trimmed(word);
  if (word.empty()) return {};
  const bool negative = word[0] == '-';
  const std::string_view digits = trimmed(word.substr(negative || word[0] == '+' ? 1 : 0));
  if (digits.empty() || !(is_digit(digits[0]) || digits[0] == '.')) return {};
  std::string number = based_number(digits);
  if (number.empty()) number = decimal_number(digits);
  if (!is_json_number(number)) return {};
  return negative ? "-" + number : number;
}

}  // namespace

bool append_python_word(std::string& out, std::string_view word) {
  struct Constant {
    std::string_view python;
    std::string_view json;
  };
  constexpr std::array kConstants = {Constant{"True", "true"},   Constant{"False", "false"},
                                     Constant{"None", "null"},   Constant{"true", "true"},
                                     Constant{"false", "false"}, Constant{"null", "null"}};
  if (word.empty()) return false;
  for (const Constant& constant : kConstants) {
    if (word != constant.python) continue;
    out += constant.json;
    return true;
  }
  if (const std::string number = python_number(word); !number.empty()) {
    out += number;
    return true;
  }
  if (!is_bare(word)) return false;
  json::append_string(out, word);
  return true;
}

bool append_python_literal(std::string& out, std::string_view text) {
  constexpr std::string_view kName = "v=";
  constexpr std::size_t kLead = 5;  // {"v":
  PythonArguments arguments;
  std::string json;
  arguments.begin({}, kName.size() + text.size(), json, PythonArguments::Tolerance::none);
  arguments.push(kName, json);
  if (arguments.push(text, json) != text.size()) return false;
  arguments.push(")", json);
  if (arguments.state() != PythonArguments::State::closed) return false;
  out += std::string_view(json).substr(kLead, json.size() - kLead - 1);
  return true;
}

void PythonArguments::begin(SchemaPlace arguments, std::size_t limit, std::string& out,
                            Tolerance tolerance) {
  tolerance_ = tolerance;
  look_.clear();
  rest_.clear();
  keyword_ = false;
  state_ = State::open;
  at_ = At::value;
  schema_ = arguments;
  limit_ = limit;
  stack_.clear();
  stack_.push_back({Frame::call, 0, 0, false});
  undecided_.clear();
  waiting_ = 0;
  named_ = false;
  out.push_back('{');
}

void PythonArguments::begin_dict(std::size_t limit, std::string& out) {
  begin({}, limit, out);
  stack_.back() = {Frame::dict, 0, 0, true};
  named_ = true;
}

std::size_t PythonArguments::push(std::string_view bytes, std::string& out) {
  std::size_t i = 0;
  while (i < bytes.size() && state_ == State::open) {
    if (at_ == At::string) {
      take_string(bytes, i, out);
    } else if (at_ == At::maybe_closed) {
      look(bytes[i++], out);
    } else if (step(bytes[i], out)) {
      ++i;
    }
    if (waiting_ > 0 && undecided_.size() > limit_) fail();
  }
  return i;
}

void PythonArguments::take_string(std::string_view bytes, std::size_t& at, std::string& out) {
  // Byte by byte while brackets wait, so that the limit falls on the same byte whatever the cuts.
  const std::size_t span = waiting_ > 0 ? 1 : bytes.size() - at;
  at += string_.push(bytes.substr(at, span), target(out));
  if (!string_.closed()) return;
  const bool may_be_data =
      tolerance_ == Tolerance::quotes || tolerance_ == Tolerance::quotes_in_list;
  at_ = may_be_data && !string_.is_triple() ? At::maybe_closed : At::after_string;
  word_.clear();
}

// One more byte behind a quote that may close its string.
void PythonArguments::look(char c, std::string& out) {
  constexpr std::size_t kMaxQuoteLook = 256;
  look_.push_back(c);
  const Verdict verdict = judge();
  if (verdict == Verdict::undecided && look_.size() < kMaxQuoteLook) return;
  if (verdict == Verdict::data) {
    stray_ = true;
    string_.reopen(target(out));
    at_ = At::string;
  } else {
    at_ = At::after_string;
  }
  read_again(out);
}

void PythonArguments::read_again(std::string& out) {
  std::string again;
  again.swap(look_);
  const std::size_t used = push(again, out);
  if (state_ != State::open) rest_.append(again, used);
}

PythonArguments::Verdict PythonArguments::judge() const {
  const std::string_view from = skip_python_space(look_);
  if (from.empty()) return Verdict::undecided;
  const Open& top = stack_.back();
  const auto closes_in = [&](std::initializer_list<Frame> frames) {
    const bool fits = std::find(frames.begin(), frames.end(), top.frame) != frames.end();
    return fits ? Verdict::closes : Verdict::data;
  };
  switch (from[0]) {
    case ')':
      if (top.frame == Frame::call) return judge_end(from.substr(1));
      return closes_in({Frame::paren, Frame::tuple});
    case ']':
      return closes_in({Frame::list});
    case '}':
      return closes_in({Frame::dict, Frame::set, Frame::brace});
    case ':':
      return top.key ? Verdict::closes : Verdict::data;
    case ',':
      return top.frame == Frame::call ? judge_argument(from.substr(1)) : Verdict::closes;
  }
  return judge_quote(from);
}

// Strings side by side are one. But 'echo 'hi'' is a string with quotes in it.
PythonArguments::Verdict PythonArguments::judge_quote(std::string_view from) const {
  // The next argument, its comma forgotten: the call is malformed.
  const bool parted_argument =
      from.size() < look_.size() && !stray_ && keyword_ && stack_.back().frame == Frame::call;
  const Verdict argument = parted_argument ? judge_name(from, '=') : Verdict::data;
  if (argument != Verdict::data) return argument;
  const std::size_t prefix = std::min(from.find_first_not_of(kPrefixes), from.size());
  if (prefix > 2) return Verdict::data;
  if (prefix == from.size()) return Verdict::undecided;
  const bool parted = from.size() < look_.size();
  if (stray_ || !is_python_quote(from[prefix]) || (prefix > 0 && !parted)) return Verdict::data;
  if (parted || from[0] != string_.quote()) return Verdict::closes;
  if (from.size() == 1) return Verdict::undecided;
  const bool ends =
      is_python_space(from[1]) || std::string_view(",)]}").find(from[1]) != std::string_view::npos;
  return ends ? Verdict::data : Verdict::closes;
}

// Behind a comma: after an argument with a name only others with names may stand.
PythonArguments::Verdict PythonArguments::judge_argument(std::string_view from) const {
  from = skip_python_space(from);
  if (!keyword_ || from.starts_with(')')) return Verdict::closes;
  return judge_name(from, '=');
}

// A name and `behind` it have to follow.
PythonArguments::Verdict PythonArguments::judge_name(std::string_view from, char behind) {
  const std::string_view others = behind == '(' ? "-./:" : "-.";
  const auto end = std::find_if_not(from.begin(), from.end(), [&](char c) {
    return is_word_byte(c) || others.find(c) != std::string_view::npos;
  });
  const std::size_t name = static_cast<std::size_t>(end - from.begin());
  const std::string_view rest = skip_python_space(from.substr(name));
  if (rest.empty()) return Verdict::undecided;
  return name > 0 && rest[0] == behind ? Verdict::closes : Verdict::data;
}

// Behind the call's parenthesis.
PythonArguments::Verdict PythonArguments::judge_end(std::string_view from) const {
  const bool in_list = tolerance_ == Tolerance::quotes_in_list;
  if (in_list) from = skip_python_space(from);
  if (from.empty()) return Verdict::undecided;
  const bool comma = from[0] == ',' || from[0] == ';';
  if (comma && in_list) {
    from = skip_python_space(from.substr(1));
    return from.starts_with(']') || from.starts_with('<') ? Verdict::closes : judge_name(from, '(');
  }
  if (comma || from[0] == ']' || from[0] == '<') return Verdict::closes;
  return !in_list && (is_python_space(from[0]) || is_word_byte(from[0])) ? Verdict::closes
                                                                         : Verdict::data;
}

void PythonArguments::settle(std::string& out) {
  if (at_ != At::maybe_closed) return;
  at_ = At::after_string;
  read_again(out);
}

// False: the byte is to be looked at again in the new state, or it is a fault.
bool PythonArguments::step(char c, std::string& out) {
  switch (at_) {
    case At::value:
      return step_value(c, out);
    case At::word:
      return step_word(c, out);
    case At::after_string:
      return step_after_string(c, out);
    case At::after_value:
      return step_after_value(c, out);
    case At::string:
    case At::maybe_closed:
      break;
  }
  return true;
}

bool PythonArguments::step_value(char c, std::string& out) {
  if (is_python_space(c)) return true;
  if (is_python_quote(c)) {
    begin_element(out);
    target(out).push_back('"');
    stray_ = false;
    string_.begin(c, LiteralStyle::python);
    at_ = At::string;
    return true;
  }
  switch (c) {
    case '[':
      return open(Frame::list, out);
    case '(':
      return open(Frame::paren, out);
    case '{':
      return open(Frame::brace, out);
    case ')':
    case ']':
    case '}':
      return close(c, out);
    case ',':
    case ':':
    case '=':
      return fail();
  }
  word_.clear();
  at_ = At::word;
  return false;
}

bool PythonArguments::step_word(char c, std::string& out) {
  const Open& top = stack_.back();
  switch (c) {
    case '=':
      return keyword(out);
    case ':':
      if (!top.key || !finish_word(true, out)) return fail();
      return false;
    case ',':
    case ')':
    case ']':
    case '}':
      finish_word(false, out);
      return false;
    case '(':
    case '[':
    case '{':
      return fail();
    case '"':
    case '\'':
      if (!is_string_prefix(word_)) return fail();
      begin_element(out);
      target(out).push_back('"');
      stray_ = false;
      string_.begin(c, literal_style(word_));
      at_ = At::string;
      return true;
  }
  if (word_.size() >= limit_) return fail();
  word_.push_back(c);
  return true;
}

bool PythonArguments::step_after_string(char c, std::string& out) {
  if (is_python_quote(c)) {
    string_.begin(c, literal_style(word_));
    at_ = At::string;
    return true;
  }
  if (kPrefixes.find(c) != std::string_view::npos && word_.size() < 2) {
    word_.push_back(c);
    return true;
  }
  if (!word_.empty()) return fail();
  if (is_python_space(c)) return true;
  target(out).push_back('"');
  at_ = At::after_value;
  return false;
}

bool PythonArguments::step_after_value(char c, std::string& out) {
  if (is_python_space(c)) return true;
  switch (c) {
    case ',':
      return comma(out);
    case ':':
      return colon(out);
    case ')':
    case ']':
    case '}':
      return close(c, out);
  }
  return fail();
}

bool PythonArguments::open(Frame frame, std::string& out) {
  if (stack_.size() >= json::kMaxDepth) return fail();
  Open& top = stack_.back();
  if (top.frame == Frame::dict && top.key) return fail();
  begin_element(out);
  if (top.frame == Frame::brace) top.key = false;
  at_ = At::value;
  if (frame == Frame::list) {
    target(out).push_back('[');
    stack_.push_back({frame, 0, 0, false});
    return true;
  }
  ++waiting_;
  stack_.push_back({frame, undecided_.size(), 0, frame == Frame::brace});
  return true;
}

bool PythonArguments::close(char c, std::string& out) {
  const Open top = stack_.back();
  const bool after_value = at_ == At::after_value;
  switch (top.frame) {
    case Frame::call:
      if (c != ')' || (named_ && !after_value)) return fail();
      target(out).push_back('}');
      state_ = State::closed;
      return true;
    case Frame::list:
      if (c != ']') return fail();
      target(out).push_back(']');
      break;
    case Frame::tuple:
    case Frame::set:
      if (c != (top.frame == Frame::tuple ? ')' : '}')) return fail();
      target(out).push_back(']');
      break;
    case Frame::dict:
      if (c != '}' || top.key == after_value) return fail();
      target(out).push_back('}');
      break;
    case Frame::paren:
      if (c != ')') return fail();
      if (!after_value) undecided_ += "[]";
      decide("", out);
      break;
    case Frame::brace:
      if (c != '}') return fail();
      undecided_ += after_value ? "]" : "}";
      decide(after_value ? "[" : "{", out);
      break;
  }
  stack_.pop_back();
  at_ = At::after_value;
  if (stack_.empty()) state_ = State::closed;
  return true;
}

bool PythonArguments::comma(std::string& out) {
  Open& top = stack_.back();
  switch (top.frame) {
    case Frame::call:
      named_ = false;
      break;
    case Frame::list:
    case Frame::tuple:
    case Frame::set:
      break;
    case Frame::dict:
      if (top.key) return fail();
      top.key = true;
      break;
    case Frame::paren:
      decide("[", out);
      top.frame = Frame::tuple;
      break;
    case Frame::brace:
      decide("[", out);
      top = {Frame::set, 0, 0, false};
      break;
  }
  ++top.count;
  at_ = At::value;
  return true;
}

bool PythonArguments::colon(std::string& out) {
  Open& top = stack_.back();
  if (!top.key) return fail();
  if (top.frame == Frame::brace) {
    decide("{", out);
    top.frame = Frame::dict;
  }
  target(out).push_back(':');
  top.key = false;
  at_ = At::value;
  return true;
}

bool PythonArguments::keyword(std::string& out) {
  const std::string_view name = trimmed(word_);
  if (stack_.back().frame != Frame::call || named_ || !is_python_name(name)) return fail();
  if (stack_.back().count > 0) out.push_back(',');
  json::append_string(out, name);
  out.push_back(':');
  named_ = true;
  keyword_ = true;
  at_ = At::value;
  return true;
}

// False: the word is not a value; the state says so.
bool PythonArguments::finish_word(bool as_key, std::string& out) {
  const std::string_view word = trimmed(word_);
  if (stack_.back().frame == Frame::dict && stack_.back().key != as_key) return fail();
  std::string value;
  if (!append_python_word(value, word)) return fail();
  if (tolerance_ == Tolerance::none && value[0] == '"') return fail();
  begin_element(out);
  if (as_key && value[0] != '"') value = '"' + value + '"';
  target(out) += value;
  at_ = At::after_value;
  return true;
}

// Writes what stands before an element: a comma, and the name of a positional argument.
void PythonArguments::begin_element(std::string& out) {
  const Open& top = stack_.back();
  std::string& to = target(out);
  switch (top.frame) {
    case Frame::call: {
      if (named_) return;
      if (top.count > 0) to.push_back(',');
      const std::string_view name = schema_.member_name(top.count);
      json::append_string(to, name.empty() ? "arg" + std::to_string(top.count) : std::string(name));
      to.push_back(':');
      named_ = true;
      keyword_ = false;
      return;
    }
    case Frame::dict:
      if (top.key && top.count > 0) to.push_back(',');
      return;
    case Frame::list:
    case Frame::tuple:
    case Frame::set:
      if (top.count > 0) to.push_back(',');
      return;
    case Frame::paren:
    case Frame::brace:
      return;
  }
}

void PythonArguments::decide(std::string_view bracket, std::string& out) {
  undecided_.insert(stack_.back().offset, bracket);
  if (--waiting_ > 0) return;
  out += undecided_;
  undecided_.clear();
}

bool PythonArguments::fail() {
  state_ = State::failed;
  return false;
}

void PythonArguments::cut(std::string& out) {
  settle(out);
  if (at_ == At::string) string_.cut(target(out));
  const Open& top = stack_.back();
  if (at_ == At::word && named_ && !top.key && !python_number(word_).empty()) {
    begin_element(out);
    append_python_word(target(out), trimmed(word_));
  }
  out += undecided_;
  undecided_.clear();
  waiting_ = 0;
  state_ = State::failed;
}

}  // namespace callgate::dialect
