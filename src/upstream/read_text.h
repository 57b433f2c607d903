// Reading a string or a count of a document into fields that are used again for the next one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "json/reader.h"
#include "upstream/openai_chat/openai_answer.h"

namespace callgate::upstream {

// Anything but a string reads as an empty one. `document` is what `in` reads.
inline void read_text(json::Reader& in, std::string_view document, Text& text) {
  text.clear();
  if (in.peek() != json::Kind::string) return in.skip();
  const std::string_view value = in.string();
  const std::less<const char*> before;
  const bool inside = !before(value.data(), document.data()) &&
                      before(value.data(), document.data() + document.size());
  if (inside) {
    text = value;
  } else {
    text.copy(value);
  }
}

// The inside of a string, escapes as they are. REQUIRES: a string comes next.
inline std::string_view read_escaped(json::Reader& in) {
  const std::string_view quoted = in.raw();
  return quoted.empty() ? quoted : quoted.substr(1, quoted.size() - 2);
}

// A piece of what the model writes. One may end with half a surrogate pair and the next begin with the other half: halves
// stay, for a SurrogateJoiner. A number is its text, anything else as in read_text().
inline void read_fragment(json::Reader& in, Text& text) {
  text.clear();
  if (in.peek() == json::Kind::number) {
    text.copy(in.number());
    return;
  }
  if (in.peek() != json::Kind::string) return in.skip();
  const std::string_view escaped = read_escaped(in);
  if (escaped.find('\\') == std::string_view::npos) {
    text = escaped;
  } else {
    text.append_unescaped(escaped);
  }
}

// Adds a text, an object that holds it, or a list of such: {"type":"text","text":{"value":"Hi"}}.
inline void append_text(json::Reader& in, Text& text) {
  switch (in.peek()) {
    case json::Kind::string:
      return text.append_unescaped(read_escaped(in));
    case json::Kind::array:
      while (in.next_element()) append_text(in, text);
      return;
    case json::Kind::object:
      for (std::string_view key; in.next_member(key);) {
        if (key == "text" || key == "value" || key == "content") {
          append_text(in, text);
        } else {
          in.skip();
        }
      }
      return;
    case json::Kind::number:
      return text.append_unescaped(in.number());
    case json::Kind::boolean:
    case json::Kind::null:
    case json::Kind::invalid:
      return in.skip();
  }
}

// As read_fragment(), and of an object or a list the texts in it.
inline void read_texts(json::Reader& in, Text& text) {
  if (in.peek() != json::Kind::object && in.peek() != json::Kind::array) {
    return read_fragment(in, text);
  }
  text.clear();
  append_text(in, text);
}

// The names that servers give to the arguments of a call.
inline bool is_arguments_key(std::string_view key) {
  return key == "arguments" || key == "parameters" || key == "input" || key == "args" ||
         key == "params" || key == "kwargs";
}

// Larger ones are nonsense, and their sums would not fit.
inline std::optional<std::int64_t> read_count(json::Reader& in) {
  constexpr std::int64_t kMax = std::int64_t{1} << 60;
  if (in.peek() != json::Kind::number) {
    in.skip();
    return std::nullopt;
  }
  const std::optional<std::int64_t> value = in.integer();
  return value && *value >= 0 && *value <= kMax ? value : std::nullopt;
}

// JSON of an error, empty where it is neither an object nor a text.
inline std::string_view read_error(json::Reader& in) {
  const json::Kind kind = in.peek();
  const std::string_view error = in.raw();
  const bool given = kind == json::Kind::object || kind == json::Kind::string;
  return given ? error : std::string_view();
}

// True: an object comes next. False: whatever came is skipped.
inline bool enter_object(json::Reader& in) {
  if (in.peek() == json::Kind::object) return true;
  in.skip();
  return false;
}

}  // namespace callgate::upstream
