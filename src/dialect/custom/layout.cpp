#include "dialect/custom/layout.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace callgate::dialect {
namespace {

bool has_slot(const Template& text, std::string_view slot) {
  return std::find(text.slots.begin(), text.slots.end(), slot) != text.slots.end();
}

Slot slot_of(std::string_view word) {
  if (word == "id") return Slot::id;
  return word == "arguments" ? Slot::arguments : Slot::name;
}

// "</k><v>" is the end of one tag and the start of the next, which begins as the first one did.
std::size_t second_tag(std::string_view text, char first) {
  const std::size_t blank = text.find_first_of(kSpace);
  if (blank != std::string_view::npos) return blank;
  const std::size_t at = text.rfind(first);
  return at == std::string_view::npos || at == 0 ? text.size() : at;
}

}  // namespace

Layout::Form form_of(const Template& call) {
  if (has_slot(call, "python")) return Layout::Form::python;
  if (has_slot(call, "parameters")) return Layout::Form::tagged;
  return has_slot(call, "name") ? Layout::Form::named : Layout::Form::json;
}

Layout::Layout(const Definition& definition) {
  const Template section = read_template(definition.section);
  if (section.slots.size() == 1) {
    add_marker(section_open, section.texts[0]);
    add_marker(section_close, section.texts[1]);
  }
  for (const std::string& text : definition.reasoning) {
    const Template envelope = read_template(text);
    if (envelope.slots.size() != 1) continue;
    reasoning.push_back({keep(envelope.texts[0]), keep(envelope.texts[1])});
  }
  for (const std::string& text : definition.end) add_marker(tail, text);
  for (const std::string& text : definition.name_member) name_keys.push_back(keep(text));
  for (const std::string& text : definition.arguments_member) argument_keys.push_back(keep(text));
  for (const std::string& text : definition.id_member) id_keys.push_back(keep(text));
  for (std::size_t i = 0; i < definition.call.size(); ++i) {
    const Template call = read_template(definition.call[i]);
    if (i == 0) form = form_of(call);
    if (form == Form::tagged) {
      take_tagged(call, definition);
    } else if (form == Form::named) {
      take_named(call);
    } else {
      take_call(call);
    }
  }
  if (definition.special_tokens) {
    for (const Opener& opener : open) add_marker(special, std::string(opener.text));
    for (const auto* list : {&close, &section_open, &section_close}) {
      for (const std::string_view text : *list) add_marker(special, std::string(text));
    }
  }
  keys = {.id = id_keys, .name = name_keys, .arguments = argument_keys};
  prose = {.reasoning = reasoning,
           .call_open = open,
           .call_close = close,
           .tail = tail,
           .special = special};
  // In a tagged dialect the section's markers are those of the grammar.
  if (form != Form::tagged) {
    prose.section_open = section_open;
    prose.section_close = section_close;
  }
}

std::string_view Layout::keep(std::string text) {
  return *kept_.emplace_back(std::make_unique<std::string>(std::move(text)));
}

void Layout::add_marker(std::vector<std::string_view>& list, const std::string& text) {
  if (text.empty() || std::find(list.begin(), list.end(), text) != list.end()) return;
  list.push_back(keep(text));
}

void Layout::add_opener(const std::string& text) {
  const bool known = std::any_of(open.begin(), open.end(),
                                 [&](const Opener& opener) { return opener.text == text; });
  if (!text.empty() && !known) open.push_back({keep(text)});
}

void Layout::take_call(const Template& call) {
  if (call.slots.size() != 1) return;
  add_opener(call.texts[0]);
  add_marker(close, call.texts[1]);
}

void Layout::take_named(const Template& call) {
  if (call.slots.empty() || call.slots.back() != "arguments") return;
  add_opener(call.texts.front());
  add_marker(close, call.texts.back());
  named = {.first = slot_of(call.slots.front()), .storage = NamedJson::Storage::dynamic};
  for (std::size_t i = 1; i < call.slots.size(); ++i) {
    fields.push_back({keep(call.texts[i]), slot_of(call.slots[i])});
  }
  named.fields = fields;
}

NameTag Layout::to_tag(const std::string& before, const std::string& after) {
  using Style = NameTag::Style;
  const bool quoted = before.ends_with("=\"") && after.starts_with('"');
  const std::size_t blank = before.find_last_of(kSpace);
  if (quoted && blank != std::string::npos) {
    const std::string attribute = before.substr(blank + 1, before.size() - blank - 3);
    return {.open = keep(std::string(trimmed(before.substr(0, blank)))),
            .style = Style::attribute,
            .end = keep(std::string(trimmed(after.substr(1)))),
            .key = keep(attribute)};
  }
  return {.open = keep(before),
          .style = before.ends_with('=') ? Style::equals : Style::text,
          .end = keep(after)};
}

void Layout::take_tagged(const Template& call, const Definition& definition) {
  const Template parameter = read_template(definition.parameter);
  const Template raw = read_template(definition.raw);
  if (call.slots.size() != 2 || parameter.slots.size() != 2) return;
  const std::string& before = parameter.texts[0];
  const std::string& middle = parameter.texts[1];
  const std::size_t split = before.empty() ? middle.size() : second_tag(middle, before.front());
  TaggedGrammar grammar{
      .lead = section_open,
      .call = to_tag(call.texts[0], call.texts[1]),
      .call_close = keep(call.texts[2]),
      .parameter = to_tag(before, middle.substr(0, split)),
      .value_open = keep(std::string(trimmed(std::string_view(middle).substr(split)))),
      .value_close = keep(parameter.texts[2]),
      .value_newline = definition.trim_newline ? "\n" : "",
      .unknown = definition.untyped == "json" ? TaggedGrammar::Unknown::json
                                              : TaggedGrammar::Unknown::text,
      .section_close = section_close,
      .tail = tail};
  if (raw.slots.size() == 1) {
    grammar.raw_open = keep(raw.texts[0]);
    grammar.raw_close = keep(raw.texts[1]);
  }
  for (const std::string_view text : section_open) add_opener(std::string(text));
  add_opener(std::string(grammar.call.open));
  close = section_close;
  tagged.push_back(grammar);
}

}  // namespace callgate::dialect
