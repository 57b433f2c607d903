#include "dialect/custom/definition.h"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <utility>

#include "base/quoted.h"
#include "base/text.h"
#include "base/utf8.h"
#include "callgate/dialect.h"
#include "dialect/custom/layout.h"

namespace callgate::dialect {
namespace {

using Words = std::initializer_list<std::string_view>;
using Form = Layout::Form;

bool is_slot_name(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '-' ||
         c == '.';
}

std::string in_braces(Words words) {
  std::string text;
  for (const std::string_view word : words) {
    text.append(text.empty() ? "{" : ", {").append(word).append("}");
  }
  return text;
}

std::string slots_of(const Template& text) {
  std::string all;
  for (const std::string& slot : text.slots) {
    all.append(all.empty() ? "{" : ", {").append(slot).append("}");
  }
  return all.empty() ? "none" : all;
}

class FlawFinder {
 public:
  explicit FlawFinder(const Definition& definition)
      : definition_(definition), layout_(definition) {}

  std::vector<Flaw> run() {
    check_name();
    check_lists();
    check_calls();
    check_parameters();
    check_envelopes();
    check_words();
    // What follows is said of markers that are in order by themselves.
    if (!flaws_.empty()) return std::move(flaws_);
    check_differences();
    check_places();
    return std::move(flaws_);
  }

 private:
  void wrong(std::string_view key, std::string message) {
    flaws_.push_back({std::string(key), std::move(message)});
  }
  void check_name();
  void check_list(std::string_view key, const std::vector<std::string>& list);
  void check_lists();
  void check_marker(std::string_view key, std::string_view text, std::string_view what,
                    std::size_t least = 2);
  bool has_slots(std::string_view key, const Template& text, Words wanted);
  void check_call(const std::string& text);
  void check_calls();
  void check_tag(std::string_view key, const NameTag& tag, bool may_be_open);
  void check_parameters();
  void check_envelopes();
  void check_words();
  void check_differences();
  void check_places();

  const Definition& definition_;
  Layout layout_;
  std::vector<Flaw> flaws_;
};

void FlawFinder::check_name() {
  const std::string& name = definition_.name;
  if (name.empty()) return;  // reported with the other tables that lack one
  if (name.size() > kMaxMarker || !std::all_of(name.begin(), name.end(), is_name_byte)) {
    wrong("name", "name: expected up to " + std::to_string(kMaxMarker) +
                      " letters, digits, `_`, `-` and `.`, got " + in_quotes(name));
  } else if (find(name) != nullptr || name == "all") {
    wrong("name", "name: " + in_quotes(name) +
                      " is a built-in dialect; choose another name, such as " +
                      in_quotes("my_" + name));
  }
}

void FlawFinder::check_list(std::string_view key, const std::vector<std::string>& list) {
  if (list.size() > kMaxDefinitionList) {
    wrong(key, std::string(key) + ": expected at most " + std::to_string(kMaxDefinitionList) +
                   ", got " + std::to_string(list.size()));
  }
  for (const std::string& text : list) {
    if (text.empty()) wrong(key, std::string(key) + ": an empty text means nothing; leave it out");
    if (text.size() > 8 * kMaxMarker) {
      wrong(key, std::string(key) + ": " + in_quotes(text) + " is longer than " +
                     std::to_string(8 * kMaxMarker) + " bytes");
    }
  }
}

void FlawFinder::check_lists() {
  check_list("models", definition_.models);
  check_list("call", definition_.call);
  check_list("reasoning", definition_.reasoning);
  check_list("end", definition_.end);
  check_list("name_member", definition_.name_member);
  check_list("arguments_member", definition_.arguments_member);
  check_list("id_member", definition_.id_member);
  for (const std::string& text : definition_.end) check_marker("end", text, "the token");
}

void FlawFinder::check_marker(std::string_view key, std::string_view text, std::string_view what,
                              std::size_t least) {
  const std::string where = std::string(key) + ": " + std::string(what) + " ";
  if (text.size() < least || text.size() > kMaxMarker) {
    wrong(key, where + in_quotes(text) + " has " + std::to_string(text.size()) +
                   " bytes, expected " + std::to_string(least) + " to " +
                   std::to_string(kMaxMarker));
  } else if (!utf8::is_valid(text)) {
    wrong(key, where + "is not UTF-8");
  } else if (is_space(text.front()) || is_space(text.back())) {
    wrong(key, where + in_quotes(text) + " has white space around it");
  }
}

bool FlawFinder::has_slots(std::string_view key, const Template& text, Words wanted) {
  if (std::equal(text.slots.begin(), text.slots.end(), wanted.begin(), wanted.end())) return true;
  wrong(key, std::string(key) + ": expected " + in_braces(wanted) + " in this order, got " +
                 slots_of(text));
  return false;
}

void FlawFinder::check_call(const std::string& text) {
  const Template call = read_template(text);
  const Form form = form_of(call);
  if (form == Form::named) {
    const bool id_last = call.slots.size() == 3 && call.slots[0] == "name";
    const bool known = call.slots.size() == 2 ? has_slots("call", call, {"name", "arguments"})
                       : id_last              ? has_slots("call", call, {"name", "id", "arguments"})
                                 : has_slots("call", call, {"id", "name", "arguments"});
    if (!known) return;
  } else if (form == Form::tagged) {
    if (!has_slots("call", call, {"name", "parameters"})) return;
  } else if (call.slots.size() != 1 || (call.slots[0] != "json" && call.slots[0] != "python")) {
    return wrong("call",
                 "call: expected a text with {json}, {python}, {name} and {arguments}, or {name} "
                 "and {parameters}, got " +
                     in_quotes(text));
  }
  if (form != layout_.form) {
    return wrong("call", "call: all of them must have the same {words}, and " + in_quotes(text) +
                             " differs from the first");
  }
  check_marker("call", call.texts.front(), "the text before {" + call.slots.front() + "}");
  if (!call.texts.back().empty() || form == Form::tagged) {
    check_marker("call", call.texts.back(), "the text after {" + call.slots.back() + "}");
  }
  if (form != Form::named) return;
  for (std::size_t i = 1; i + 1 < call.texts.size(); ++i) {
    check_marker("call", call.texts[i], "the text before {" + call.slots[i] + "}", 1);
    if (call.texts[i].starts_with('{')) {
      wrong("call", "call: the text before {" + call.slots[i] + "} must not begin with a brace");
    }
  }
}

void FlawFinder::check_calls() {
  if (definition_.call.empty()) {
    return wrong("call", "call is missing: show one, such as \"<call>{json}</call>\"");
  }
  for (const std::string& text : definition_.call) check_call(text);
  const bool several = layout_.form == Form::json || layout_.form == Form::python;
  if (!several && definition_.call.size() > 1) {
    wrong("call", "call: several ways are for {json} and {python}, got " +
                      std::to_string(definition_.call.size()));
  }
}

void FlawFinder::check_tag(std::string_view key, const NameTag& tag, bool may_be_open) {
  if (tag.open.size() < 2 || !tag.open.starts_with('<')) {
    wrong(key, std::string(key) + ": a tag must begin with \"<\", got " + in_quotes(tag.open));
  }
  if (tag.end.empty() && !may_be_open) {
    wrong(key,
          std::string(key) + ": nothing stands behind the name, expected something like \">\"");
  }
}

void FlawFinder::check_parameters() {
  if (layout_.form != Form::tagged) {
    for (const auto& [key, value] :
         {std::pair<std::string_view, std::string_view>("parameter", definition_.parameter),
          {"raw", definition_.raw}}) {
      if (value.empty()) continue;
      wrong(key, std::string(key) + " is for calls with {parameters}, and `call` has none");
    }
    return;
  }
  if (!has_slots("parameter", read_template(definition_.parameter), {"key", "value"})) return;
  if (layout_.tagged.empty()) return;
  const TaggedGrammar& grammar = layout_.tagged.front();
  check_tag("call", grammar.call, grammar.call.style == NameTag::Style::text);
  check_tag("parameter", grammar.parameter, false);
  check_marker("parameter", grammar.value_close, "the text after {value}");
  const bool raw =
      definition_.raw.empty() || has_slots("raw", read_template(definition_.raw), {"value"});
  if (raw && !definition_.raw.empty()) {
    check_marker("raw", grammar.raw_open, "the text before {value}");
    check_marker("raw", grammar.raw_close, "the text after {value}");
  }
}

void FlawFinder::check_envelopes() {
  for (const std::string& text : definition_.reasoning) {
    const Template envelope = read_template(text);
    if (!has_slots("reasoning", envelope, {"text"})) continue;
    if (!envelope.texts[0].empty()) {
      check_marker("reasoning", envelope.texts[0], "the text before {text}");
    }
    check_marker("reasoning", envelope.texts[1], "the text after {text}");
  }
  if (definition_.section.empty()) return;
  const Template section = read_template(definition_.section);
  if (!has_slots("section", section, {"calls"})) return;
  check_marker("section", section.texts[0], "the text before {calls}");
  check_marker("section", section.texts[1], "the text after {calls}");
}

void FlawFinder::check_words() {
  const auto word = [&](std::string_view key, std::string_view value, std::string_view a,
                        std::string_view b) {
    if (value == a || value == b) return;
    wrong(key, std::string(key) + " must be " + std::string(a) + " or " + std::string(b) +
                   ", got " + in_quotes(value));
  };
  word("untyped", definition_.untyped, "text", "json");
  word("commit", definition_.commit, "eager", "whole_call");
  const bool json = layout_.form == Form::json;
  for (const auto& [key, list] : {std::pair("name_member", &definition_.name_member),
                                  std::pair("arguments_member", &definition_.arguments_member),
                                  std::pair("id_member", &definition_.id_member)}) {
    if (!json && !list->empty()) {
      wrong(key, std::string(key) + " is for calls with {json}, and `call` has none");
    }
  }
  for (const std::string& name : definition_.name_member) {
    const auto& other = definition_.arguments_member;
    if (std::find(other.begin(), other.end(), name) == other.end()) continue;
    wrong("arguments_member", "arguments_member: " + in_quotes(name) + " is also a name_member");
  }
}

// A marker has one meaning.
void FlawFinder::check_differences() {
  std::set<std::string_view> seen;
  const auto add = [&](std::string_view key, std::string_view text) {
    if (text.empty() || seen.insert(text).second) return;
    wrong(key, std::string(key) + ": " + in_quotes(text) + " is a marker with another meaning");
  };
  for (const Opener& opener : layout_.open) add("call", opener.text);
  for (const std::string_view text : layout_.close) add("call", text);
  for (const Field& field : layout_.fields) add("call", field.marker);
  for (const std::string_view text : layout_.prose.section_open) add("section", text);
  for (const std::string_view text : layout_.prose.section_close) add("section", text);
  for (const Envelope& envelope : layout_.reasoning) {
    add("reasoning", envelope.open);
    add("reasoning", envelope.close);
  }
  for (const std::string_view text : layout_.tail) add("end", text);
}

void FlawFinder::check_places() {
  if (layout_.tagged.empty()) return;
  TagTokens tokens;
  tokens.use(layout_.tagged.front());
  if (const std::string conflict = tokens.conflict(); !conflict.empty()) wrong("call", conflict);
}

}  // namespace

Template read_template(std::string_view text) {
  Template read;
  std::string plain;
  const auto close = [&] { read.texts.emplace_back(trimmed(std::exchange(plain, {}))); };
  while (!text.empty()) {
    const std::size_t end = text.find('}');
    if (text.front() == '{' && end != std::string_view::npos &&
        is_slot_name(text.substr(1, end - 1))) {
      close();
      read.slots.emplace_back(text.substr(1, end - 1));
      text.remove_prefix(end + 1);
      continue;
    }
    plain.push_back(text.front());
    text.remove_prefix(1);
  }
  close();
  return read;
}

std::vector<Flaw> find_flaws(const Definition& definition) { return FlawFinder(definition).run(); }

}  // namespace callgate::dialect
