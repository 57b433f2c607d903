// A tag that carries a name: <function=f>, <invoke name="f">, <arg_key>f</arg_key>, or the bare f behind <tool_call>.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace callgate::dialect::reference::tagged {

struct Tag {
  enum class Style { equals, attribute, text, bare };
  std::string open;
  Style style = Style::equals;
  std::string end = ">";
  std::string key = "name";  // style attribute
};

struct TagRead {
  enum class State { whole, ends, bad, no_opinion };  // ends: with the turn
  State state = State::no_opinion;
  std::size_t end = 0;  // behind the tag, or where it is bad
  std::string name;
  std::map<std::string, std::string, std::less<>> attributes;
  bool self_closing = false;
};

// `at` is behind the tag's opener.
TagRead read_tag(const Tag& tag, std::string_view text, std::size_t at);

// `key="value" ...`, entities decoded; nothing: no opinion.
std::optional<std::map<std::string, std::string, std::less<>>> read_attributes(
    std::string_view text);

}  // namespace callgate::dialect::reference::tagged
