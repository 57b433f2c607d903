#include "dialect/reference/tagged_tag.h"

#include <algorithm>
#include <utility>

#include "dialect/reference/tagged_schema.h"
#include "dialect/reference/tagged_turn.h"

namespace callgate::dialect::reference::tagged {
namespace {

using State = TagRead::State;

bool is_space(char c) { return std::string_view(" \t\r\n").find(c) != std::string_view::npos; }

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 0x80 ||
         std::string_view("_-.:/@$").find(c) != std::string_view::npos;
}

std::string decoded(std::string text) {
  constexpr std::pair<std::string_view, std::string_view> kEntities[] = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}, {"&amp;", "&"}};
  for (const auto& [entity, plain] : kEntities) {
    for (std::size_t at = 0; (at = text.find(entity, at)) != std::string::npos; ++at) {
      text.replace(at, entity.size(), plain);
    }
  }
  return text;
}

TagRead read_equals(std::string_view text, std::size_t at) {
  const std::size_t end = text.find_first_of("<>\n", at);
  if (end == std::string_view::npos) return {.state = State::ends};
  if (text[end] != '>') return {.state = State::bad, .end = end};
  const std::string name(trim(text.substr(at, end - at)));
  if (name.find_first_of("\"'") != std::string::npos) return {};
  return {.state = State::whole, .end = end + 1, .name = name};
}

TagRead read_text(const Tag& tag, std::string_view text, std::size_t at) {
  const std::size_t end = text.find('<', at);
  const bool cut = end != std::string_view::npos && text.size() - end < tag.end.size() &&
                   tag.end.starts_with(text.substr(end));
  if (end == std::string_view::npos || cut) {
    return {.state = State::ends};
  }
  if (!stands_at(text, end, tag.end)) return {.state = State::bad, .end = end};
  return {.state = State::whole,
          .end = end + tag.end.size(),
          .name = std::string(trim(text.substr(at, end - at)))};
}

TagRead read_bare(std::string_view text, std::size_t at) {
  at = skip_space(text, at);
  std::size_t end = at;
  while (end < text.size() && is_name_byte(text[end])) ++end;
  if (end == text.size()) return {.state = State::ends};
  const bool ends = text[end] == '<' || text[end] == '{' || text[end] == '(' || is_space(text[end]);
  const bool whole = end > at && ends;
  if (!whole) return {.state = State::bad, .end = end};
  return {.state = State::whole, .end = end, .name = std::string(text.substr(at, end - at))};
}

TagRead read_attribute(const Tag& tag, std::string_view text, std::size_t at) {
  if (at == text.size()) return {.state = State::ends};
  const bool begins = is_space(text[at]) || text[at] == '/' || text[at] == tag.end[0];
  if (!begins) return {.state = State::bad, .end = at};
  char quote = 0;
  for (std::size_t end = at; end < text.size(); ++end) {
    if (quote != 0) {
      quote = text[end] == quote ? '\0' : quote;
    } else if (text[end] == '"' || text[end] == '\'') {
      quote = text[end];
    } else if (stands_at(text, end, tag.end)) {
      std::string_view inside = text.substr(at, end - at);
      const bool self_closing = inside.ends_with('/');
      if (self_closing) inside.remove_suffix(1);
      auto attributes = read_attributes(inside);
      if (!attributes) return {};
      TagRead read{.state = State::whole, .end = end + tag.end.size()};
      if (const auto name = attributes->find(tag.key); name != attributes->end()) {
        read.name = trim(name->second);
      }
      read.attributes = std::move(*attributes);
      read.self_closing = self_closing;
      return read;
    } else if (text[end] == '<') {
      return {};
    }
  }
  return {.state = State::ends};
}

}  // namespace

std::optional<std::map<std::string, std::string, std::less<>>> read_attributes(
    std::string_view text) {
  std::map<std::string, std::string, std::less<>> attributes;
  for (std::size_t at = skip_space(text, 0); at < text.size(); at = skip_space(text, at)) {
    const std::size_t equals = text.find('=', at);
    if (equals == std::string_view::npos || equals + 1 == text.size()) return std::nullopt;
    const char quote = text[equals + 1];
    const std::size_t end = text.find(quote, equals + 2);
    if ((quote != '"' && quote != '\'') || end == std::string_view::npos) return std::nullopt;
    const std::string key(text.substr(at, equals - at));
    const std::string value(text.substr(equals + 2, end - equals - 2));
    const bool name = !key.empty() && std::all_of(key.begin(), key.end(), is_name_byte);
    if (!name) return std::nullopt;
    if (value.find("&#") != std::string::npos) return std::nullopt;
    attributes[key] = decoded(value);
    at = end + 1;
  }
  return attributes;
}

TagRead read_tag(const Tag& tag, std::string_view text, std::size_t at) {
  switch (tag.style) {
    case Tag::Style::equals:
      return read_equals(text, at);
    case Tag::Style::attribute:
      return read_attribute(tag, text, at);
    case Tag::Style::text:
      return read_text(tag, text, at);
    case Tag::Style::bare:
      return read_bare(text, at);
  }
  return {};
}

}  // namespace callgate::dialect::reference::tagged
