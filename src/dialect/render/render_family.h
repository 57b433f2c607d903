// The families of render.h: the literals of a dialect as data, and a function for each family that puts calls between
// them. Sections hold all calls of a turn; `between` stands between two calls.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "callgate/request.h"
#include "json/reader.h"

namespace callgate::dialect {

// {"name": "f", "arguments": {...}}
struct ObjectText {
  enum class Id : std::uint8_t { none, first, last };
  std::string_view section_open;
  std::string_view call_open;
  std::string_view header_close;  // behind the name, which then stands before the object as well
  std::string_view name = R"({"name": )";
  std::string_view arguments = R"(, "arguments": )";
  std::string_view object_close = "}";
  std::string_view call_close;
  std::string_view between;
  std::string_view section_close;
  std::string_view id_key;  // empty: no ids
  Id id = Id::none;
};

// f<marker>{...}
struct NamedText {
  enum class Id : std::uint8_t { none, before_name, after_name, is_name };
  std::string_view section_open;
  std::string_view call_open;
  std::string_view arguments_open;
  std::string_view call_close;
  std::string_view between;
  std::string_view section_close;
  Id id = Id::none;
  std::string_view id_marker;  // between id and name
};

// <f><k>v</k></f>, in many spellings
struct TaggedText {
  enum class Names : std::uint8_t { bare, attribute };
  enum class Types : std::uint8_t { none, string_or_not, type_name };
  std::string_view section_open;
  std::string_view address_open;  // before the call: the name of the tool between these two
  std::string_view address_close;
  std::string_view call_open;
  std::string_view index;  // behind the name: an attribute that counts the calls from 1
  std::string_view call_name_close;
  std::string_view key_open;
  Types types = Types::none;  // behind the key
  std::string_view value_open;
  std::string_view value_close;
  std::string_view call_close;
  std::string_view between;
  std::string_view section_close;
  Names names = Names::bare;
  std::string_view raw_open;  // around a value that holds markup
  std::string_view raw_close;
};

// <f><k>v</k></f>, the tag is the name
struct ElementText {
  std::string_view tag;  // of the call; empty: the tool's name
};

// Tags with a prefix, objects and arrays as tags inside tags.
struct PrefixedText {
  std::string_view prefix;
};

// f(k="v")
struct PythonText {
  std::string_view section_open;
  std::string_view between;
  std::string_view section_close;
};

// {'name': 'f', 'arguments': {'k': 'v'}}
struct DictText {
  std::string_view section_open;
  std::string_view section_close;
};

// call:f{k:<quote>v<quote>}
struct GemmaText {
  std::string_view call_open;
  std::string_view quote;
  std::string_view call_close;
};

// Each appends all calls. REQUIRES: arguments are empty or a JSON object.
void append_calls(const ObjectText& text, std::span<const CallRecord> calls, std::string& out);
void append_calls(const NamedText& text, std::span<const CallRecord> calls, std::string& out);
void append_calls(const TaggedText& text, std::span<const CallRecord> calls, std::string& out);
void append_calls(const ElementText& text, std::span<const CallRecord> calls, std::string& out);
void append_calls(const PrefixedText& text, std::span<const CallRecord> calls, std::string& out);
void append_calls(const PythonText& text, std::span<const CallRecord> calls, std::string& out);
void append_calls(const DictText& text, std::span<const CallRecord> calls, std::string& out);
void append_calls(const GemmaText& text, std::span<const CallRecord> calls, std::string& out);

// One JSON value as text.
struct RawValue {
  json::Kind kind = json::Kind::invalid;
  std::string_view json;

  // A string's own text; any other value as JSON.
  std::string text() const {
    if (kind != json::Kind::string) return std::string(json);
    json::Reader in(json);
    return std::string(in.string());
  }
};

inline RawValue read_value(json::Reader& in) {
  const json::Kind kind = in.peek();
  return {kind, in.raw()};
}

// Calls `each(key, value)` for every member of an object. REQUIRES: `object` is one, or empty.
template <class Each>
void for_each_member(std::string_view object, Each&& each) {
  if (object.empty()) return;
  json::Reader in(object);
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    each(std::string_view(name), read_value(in));
  }
}

template <class Each>
void for_each_element(std::string_view array, Each&& each) {
  json::Reader in(array);
  while (in.next_element()) each(read_value(in));
}

}  // namespace callgate::dialect
