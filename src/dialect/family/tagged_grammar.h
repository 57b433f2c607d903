// The markers of a tagged dialect, as data, and where each of them may stand.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace callgate::dialect {

// A tag that carries a name.
struct NameTag {
  enum class Style : std::uint8_t {
    equals,     // <function=NAME>
    attribute,  // <invoke name="NAME">
    text,       // <tool_call>NAME or <arg_key>NAME</arg_key>
  };
  std::string_view open;
  Style style = Style::equals;
  std::string_view end = ">";     // style text: empty means up to the next marker or white space
  std::string_view key = "name";  // style attribute
};

// Data only. Spans must have static storage. No marker is a prefix of another one that may stand at the same place,
// and all that may stand in a value begin with the same byte.
struct TaggedGrammar {
  std::span<const std::string_view> lead;  // before the call's tag: section openers and the like
  NameTag call;
  std::string_view call_close;
  NameTag parameter;
  std::string_view value_open;  // behind a parameter's tag; empty: none
  std::string_view value_close;
  std::string_view value_newline;  // structure at both ends of a value
  std::string_view
      type_attribute;  // the kind of a value: true or false for "is a string", or a type's name
  // What a value is when neither its tag nor the schema says so: a text, or JSON if it reads as such.
  enum class Unknown : std::uint8_t { text, json };
  Unknown unknown = Unknown::text;
  std::string_view raw_open;  // at the start of a value: all is data up to raw_close
  std::string_view raw_close;
  std::span<const std::string_view> filler;  // structure between parameters
  bool hides_cut_tag = false;  // a call's tag that the turn ends in, behind its name, is hidden
  std::span<const std::string_view>
      section_close;                       // ends a call whose own close marker is missing, too
  std::span<const std::string_view> tail;  // the same, at the end of a turn
};

struct TagToken {
  enum class Kind : std::uint8_t {
    lead,
    call_open,
    call_close,
    parameter_open,
    value_open,
    value_close,
    raw_open,
    raw_close,
    filler,
    section_close,
    outside,  // stands behind the call: left to the turn
  };
  std::string_view text;
  Kind kind;
};

enum class TagPlace : std::uint8_t {
  lead,          // before the call's tag
  body,          // between parameters
  before_value,  // between key and value_open
  value,
  raw_value,  // between raw_open and raw_close
  missing,    // in a value, behind a close marker of the call or section
};

// The markers by place.
class TagTokens {
 public:
  enum class Match : std::uint8_t { none, partial, whole };

  // REQUIRES: `grammar` outlives this.
  void use(const TaggedGrammar& grammar);
  // How `text` begins a marker that may stand at `place`; `found` is the one that it is. REQUIRES: it is not empty.
  Match match(TagPlace place, std::string_view text, const TagToken*& found) const;
  // The same text in static storage. REQUIRES: it begins a marker.
  std::string_view kept(TagPlace place, std::string_view text) const;
  // What breaks the rule of TaggedGrammar; empty: nothing does.
  std::string conflict() const;

 private:
  void add(TagPlace place, TagToken::Kind kind, std::span<const std::string_view> texts);
  void add(TagPlace place, TagToken::Kind kind, std::string_view text);
  const std::vector<TagToken>& at(TagPlace place) const {
    return tokens_[static_cast<std::size_t>(place)];
  }

  std::array<std::vector<TagToken>, 6> tokens_;
};

}  // namespace callgate::dialect
