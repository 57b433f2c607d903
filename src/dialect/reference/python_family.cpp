// The dialects that write calls as Python does:
//
//   [get_weather(city="Paris", days=3), get_time()]
#include <algorithm>
#include <optional>

#include "base/utf8.h"
#include "dialect/reference/family.h"
#include "dialect/reference/json_calls.h"
#include "dialect/reference/json_text.h"
#include "json/reader.h"

namespace callgate::dialect::reference {
namespace {

using What = Reading::What;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Values of Python literals as JSON. Anything odd throws Odd: these turns have no opinion.
struct Odd {};

class PythonText {
 public:
  PythonText(const ReferenceCase& turn, std::size_t at) : turn_(turn), text_(turn.text), at_(at) {}

  std::size_t at() const { return at_; }
  void skip() { ++at_; }

  // Behind the parenthesis.
  LoggedCall call(const std::string& name) {
    LoggedCall call{.name = name, .arguments = "{"};
    const std::vector<std::string> names = parameters(name);
    std::size_t position = 0;
    bool named = false;
    for (space(); peek() != ')'; space()) {
      if (position > 0) call.arguments += ',';
      const std::size_t from = at_;
      std::string key;
      if (begins_word(peek())) {
        key = word();
        space();
        if (peek() != '=') key.clear();
        if (key.find_first_of(".-") != std::string::npos) throw Odd{};
      }
      if (!key.empty()) {
        ++at_;
        named = true;
      } else {
        if (named) throw Odd{};
        at_ = from;
        key = position < names.size() ? names[position] : "arg" + std::to_string(position);
      }
      ++position;
      space();
      call.arguments += json_quoted(key) + ':' + value();
      space();
      if (peek() == ',') {
        ++at_;
      } else if (peek() != ')') {
        throw Odd{};
      }
    }
    ++at_;
    call.arguments += '}';
    return call;
  }

  // A dict as a JSON object.
  std::string dict() {
    if (peek() != '{') throw Odd{};
    return value();
  }

  void space() { at_ = skip_space(text_, at_); }
  char peek() const {
    if (at_ >= text_.size()) throw Odd{};
    return text_[at_];
  }
  std::string tool_name() {
    const std::size_t from = at_;
    while (at_ < text_.size() && (begins_word(text_[at_]) || is_digit(text_[at_]) ||
                                  std::string_view(".-/:").find(text_[at_]) != text_.npos)) {
      ++at_;
    }
    return std::string(text_.substr(from, at_ - from));
  }
  std::string word() {
    const std::size_t from = at_;
    while (at_ < text_.size() && (begins_word(text_[at_]) || is_digit(text_[at_]) ||
                                  text_[at_] == '.' || text_[at_] == '-')) {
      ++at_;
    }
    return std::string(text_.substr(from, at_ - from));
  }

 private:
  std::vector<std::string> parameters(const std::string& name) const {
    std::vector<std::string> names;
    for (const ToolSpec& tool : turn_.tools) {
      if (tool.name != name || tool.parameters.empty()) continue;
      json::Reader in(tool.parameters.text);
      for (std::string_view key; in.next_member(key);) {
        if (key == "$ref" || key == "allOf") throw Odd{};
        if (key != "properties") {
          in.skip();
          continue;
        }
        for (std::string_view property; in.next_member(property);) {
          names.emplace_back(property);
          in.skip();
        }
      }
    }
    return names;
  }

  std::string value() {
    const char c = peek();
    switch (c) {
      case '[':
        return list(']');
      case '(':
        return list(')');
      case '{':
        return braces();
      case '"':
      case '\'':
        return json_quoted(strings());
      default:
        break;
    }
    if (is_digit(c) || c == '-' || c == '+' || c == '.') return number();
    if (!begins_word(c)) throw Odd{};
    const std::size_t from = at_;
    const std::string name = word();
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
      at_ = from;
      return json_quoted(strings());
    }
    if (name.find('-') != std::string::npos) throw Odd{};
    space();
    const char next = peek();
    if (std::string_view(",)]}:").find(next) == std::string_view::npos) throw Odd{};
    if (name == "True" || name == "true") return "true";
    if (name == "False" || name == "false") return "false";
    if (name == "None" || name == "null") return "null";
    return json_quoted(name);
  }

  // A list or a tuple. Parentheses around one value mean nothing.
  std::string list(char close) {
    ++at_;
    std::vector<std::string> values;
    bool comma = false;
    for (space(); peek() != close; space()) {
      values.push_back(value());
      space();
      if (peek() == close) continue;
      if (text_[at_++] != ',') throw Odd{};
      comma = true;
    }
    ++at_;
    if (close == ')' && values.size() == 1 && !comma) return values[0];
    return joined("[", values, "]");
  }

  static std::string joined(std::string out, const std::vector<std::string>& values,
                            std::string_view close) {
    for (std::size_t i = 0; i < values.size(); ++i) out.append(i > 0 ? "," : "").append(values[i]);
    return out.append(close);
  }

  // A dict, or a set.
  std::string braces() {
    ++at_;
    std::vector<std::string> values;
    bool is_dict = true;
    for (space(); peek() != '}'; space()) {
      std::string one = value();
      space();
      const bool member = peek() == ':';
      if (!values.empty() && member != is_dict) throw Odd{};
      is_dict = member;
      if (member) {
        if (one[0] == '{' || one[0] == '[') throw Odd{};
        if (one[0] != '"') one = json_quoted(one);
        ++at_;
        space();
        one += ':' + value();
        space();
      }
      values.push_back(one);
      if (peek() == '}') continue;
      if (text_[at_++] != ',') throw Odd{};
    }
    ++at_;
    return is_dict ? joined("{", values, "}") : joined("[", values, "]");
  }

  std::string number() {
    const std::size_t from = at_;
    while (at_ < text_.size() && std::string_view(",)]}: \t\r\n").find(text_[at_]) == text_.npos) {
      ++at_;
    }
    std::string raw(text_.substr(from, at_ - from));
    if (at_ == text_.size()) throw Odd{};
    std::erase(raw, '_');
    if (raw[0] == '+') raw.erase(0, 1);
    const std::string json = raw + " ";
    const JsonEnd end = skip_json(json, 0);
    if (end.state != JsonEnd::State::whole || end.end != raw.size()) throw Odd{};
    return raw;
  }

  // Strings side by side are one.
  std::string strings() {
    std::string all;
    while (true) {
      all += one_string();
      const std::size_t behind = at_;
      space();
      std::size_t quote = at_;
      while (quote < text_.size() && begins_word(text_[quote])) ++quote;
      const bool more = quote < text_.size() && (text_[quote] == '"' || text_[quote] == '\'');
      if (!more) {
        at_ = behind;
        return all;
      }
      if (at_ == behind) throw Odd{};  // no white space between: it may be a quote in a string
    }
  }

  std::string one_string() {
    if (begins_word(peek())) throw Odd{};
    const char quote = text_[at_];
    const std::string three(3, quote);
    if (text_.substr(at_).starts_with(three)) throw Odd{};
    ++at_;
    std::string text;
    while (peek() != quote) {
      const char c = text_[at_++];
      text += c == '\\' ? escape() : std::string(1, c);
    }
    ++at_;
    return text;
  }

  std::string escape() {
    constexpr std::string_view kLetters = "abfnrtv\\'\"";
    constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\'\"";
    const char c = peek();
    ++at_;
    if (const std::size_t known = kLetters.find(c); known != kLetters.npos) {
      return std::string(1, kMeanings[known]);
    }
    if (c == '\n') return "";
    if (c == 'x') return hex(2);
    if (c == 'u') return hex(4);
    if (c == 'U') return hex(8);
    if (is_digit(c) || c == '\r') throw Odd{};
    return std::string("\\") + c;
  }

  std::string hex(std::size_t count) {
    const std::string digits(text_.substr(at_, count));
    const bool fits = digits.size() == count &&
                      digits.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
    if (!fits) throw Odd{};
    at_ += count;
    const unsigned long code = std::stoul(digits, nullptr, 16);
    if ((code >= 0xD800 && code < 0xE000) || code > 0x10FFFF) throw Odd{};
    std::string text;
    utf8::append_code_point(text, static_cast<char32_t>(code));
    return text;
  }

  const ReferenceCase& turn_;
  const std::string_view text_;
  std::size_t at_;
};

// The quote before the call's last parenthesis may be one inside a string: what follows is none of a call's.
bool may_go_on(std::string_view text, std::size_t at, bool list) {
  const std::size_t last = text.substr(0, at - 1).find_last_not_of(" \t\r\n");
  if (text[last] != '"' && text[last] != '\'') return false;
  const std::size_t next = list ? skip_space(text, at) : at;
  if (next == text.size() || std::string_view("],;<").find(text[next]) != text.npos) return false;
  return list ||
         !(begins_word(text[next]) || is_digit(text[next]) || skip_space(text, next) > next);
}

// Well-formed calls and prose; of broken ones there is no opinion.
Reading read_python_calls(const ReferenceCase& turn, const CallOpener& opener, std::size_t at) {
  const std::string_view text = turn.text;
  PythonText in(turn, at);
  in.space();
  bool list = opener.text.ends_with('[');
  if (!list && text.substr(in.at()).starts_with('[')) {
    list = true;
    in.skip();
    in.space();
  }
  Reading all{.what = What::calls};
  bool comma = false;
  while (true) {
    const std::size_t here = in.at();
    const bool closes = list && text.substr(here).starts_with(']');
    if (closes && (!all.calls.empty() || !opener.declared)) {
      all.end = here + 1;
      return all;
    }
    const bool begins = here < text.size() && (begins_word(text[here]) || is_digit(text[here])) &&
                        (all.calls.empty() || comma || !list);
    const std::string name = begins ? declared_name(turn, in.tool_name()) : "";
    in.space();
    const bool called = !name.empty() && text.substr(in.at()).starts_with('(');
    if (!called || (opener.declared && !may_be_called(turn, name))) {
      if (all.calls.empty()) return {.what = What::no_call};
      if (in.at() == text.size() && name.empty()) all.end = text.size();
      // A comma before a marker, or words behind a call.
      if (comma && in.at() < text.size()) return {.what = What::no_opinion};
      return name.empty() ? all : Reading{.what = What::no_opinion};
    }
    if (name.ends_with(".call")) return {.what = What::no_opinion};
    in.skip();
    all.calls.push_back(in.call(name));
    all.end = in.at();
    if (may_go_on(text, in.at(), list)) return {.what = What::no_opinion};
    in.space();
    comma = text.substr(in.at()).starts_with(',') || text.substr(in.at()).starts_with(';');
    if (comma) {
      in.skip();
      in.space();
    }
  }
}

// A dict that is a call; others are odd.
LoggedCall call_of(const std::string& dict) {
  LoggedCall call;
  json::Reader in(dict);
  for (std::string_view key; in.next_member(key);) {
    if (key == "name" && in.peek() == json::Kind::string && call.name.empty()) {
      call.name = in.string();
    } else if (key == "arguments" && in.peek() == json::Kind::object && call.arguments.empty()) {
      call.arguments = in.raw();
    } else {
      throw Odd{};
    }
  }
  if (call.name.empty() || call.arguments.empty()) throw Odd{};
  return call;
}

// `at` is behind the opener, or at the bracket with which it ends.
Reading read_dict_calls(const ReferenceCase& turn, const CallOpener& opener, std::size_t at) {
  at = skip_space(turn.text, at);
  const bool list = turn.text.substr(at).starts_with('[');
  const std::size_t first = skip_space(turn.text, list ? at + 1 : at);
  if (first == turn.text.size()) throw Odd{};
  if (turn.text[first] != '{') {
    if (turn.text[first] == ']' && !opener.declared) throw Odd{};
    return {.what = What::no_call};
  }
  PythonText in(turn, first);
  Reading all{.what = What::calls};
  for (bool more = true; more;) {
    all.calls.push_back(call_of(in.dict()));
    if (opener.declared && !is_declared(turn, all.calls.back().name)) throw Odd{};
    all.end = in.at();
    if (!list) return all;
    in.space();
    more = in.peek() == ',';
    if (!more && in.peek() != ']') throw Odd{};
    in.skip();
    if (more) in.space();
  }
  all.end = in.at();
  return all;
}

bool read(const ReferenceCase& turn, EventLog& log, const TurnGrammar& grammar, bool also_json) {
  const auto read_calls = [&](const ReferenceCase& of, const CallOpener& opener, std::size_t at) {
    const std::string_view rest = of.text.substr(skip_space(of.text, at));
    const std::string_view inner = rest.substr(skip_space(rest, rest.starts_with('[') ? 1 : 0));
    const bool bracket = opener.text.ends_with('[') || opener.text == "{";
    if (opener.text == "{" || (also_json && inner.starts_with('{'))) {
      return read_json_calls(of, opener, bracket ? at - 1 : at, {});
    }
    try {
      return read_python_calls(of, opener, at);
    } catch (const Odd&) {
      return Reading{.what = What::no_opinion};
    }
  };
  return read_turn(turn, grammar, read_calls, log);
}

}  // namespace

bool pythonic(const ReferenceCase& turn, EventLog& log) {
  TurnGrammar grammar;
  grammar.call_open = {{.text = "[", .declared = true, .quotable = true},
                       {"<|python_start|>"},
                       {.text = "{", .first = true, .declared = true}};
  grammar.call_close = {"<|python_end|>"};
  grammar.tail = {"<|eot|>", "<|eom|>", "<|eot_id|>", "<|eom_id|>"};
  grammar.special = {"<|python_start|>", "<|python_end|>"};
  return read(turn, log, grammar, true);
}

bool sarashina(const ReferenceCase& turn, EventLog& log) {
  TurnGrammar grammar;
  grammar.call_open = {{"<|tool_calls|>"}, {.text = "[", .first = true, .declared = true}};
  grammar.tail = {"</s>", "<|end|>"};
  const auto read_calls = [&](const ReferenceCase& of, const CallOpener& opener, std::size_t at) {
    try {
      return read_dict_calls(of, opener, opener.declared ? at - 1 : at);
    } catch (const Odd&) {
      return Reading{.what = What::no_opinion};
    }
  };
  return read_turn(turn, grammar, read_calls, log);
}

bool lfm2(const ReferenceCase& turn, EventLog& log) {
  TurnGrammar grammar;
  grammar.call_open = {{"<|tool_call_start|>"}, {.text = "[", .declared = true, .line = true}};
  grammar.call_close = {"<|tool_call_end|>"};
  grammar.tail = {"<|im_end|>", "<|endoftext|>"};
  grammar.special = {"<|tool_call_start|>", "<|tool_call_end|>"};
  return read(turn, log, grammar, true);
}

bool olmo3(const ReferenceCase& turn, EventLog& log) {
  TurnGrammar grammar;
  grammar.call_open = {{"<function_calls>"}};
  grammar.call_close = {"</function_calls>"};
  grammar.tail = {"<|im_end|>", "<|endoftext|>"};
  grammar.empty_blocks = true;
  return read(turn, log, grammar, false);
}

}  // namespace callgate::dialect::reference
