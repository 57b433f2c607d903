// The family whose every tag carries a prefix that occurs nowhere else; the tag of an argument is its name, and
// objects and arrays are tags inside tags:
//
//   ]<]minimax[>[<invoke name="order">]<]minimax[>[<city>Tokyo]<]minimax[>[</city>
//   ]<]minimax[>[<items>]<]minimax[>[<item>1]<]minimax[>[</item>]<]minimax[>[</items>]<]minimax[>[</invoke>
//
// A text argument streams; one that has tags inside is held back until it ends, and so are arguments whose tags lack the
// prefix.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "callgate/dialect.h"
#include "dialect/call_reader.h"
#include "dialect/family/nested_tags.h"
#include "dialect/family/schema_types.h"
#include "dialect/family/seen_keys.h"
#include "dialect/family/tagged_value.h"
#include "dialect/turn_parser.h"

namespace callgate::dialect {

// Data only, static storage. The openers of the Prose are the prefix, `<` and some of the tag's text.
struct PrefixedGrammar {
  std::string_view prefix;
  std::string_view section;        // tool_call
  std::string_view call;           // invoke
  std::string_view section_close;  // whole, with its prefix
};

class PrefixedTags final : public CallReader {
 public:
  PrefixedTags(const PrefixedGrammar& grammar, std::span<const Opener> openers,
               const DialectOptions& options)
      : grammar_(grammar),
        openers_(openers),
        schemas_(options.tools),
        limit_(std::max<std::size_t>(options.max_held_back, 1)) {}

  void open(std::size_t opener, Output& out) override;
  Step push(std::string_view bytes, Output& out) override;
  void finish(Output& out) override;
  bool overflow(Output& out) override;

 private:
  enum class At : std::uint8_t {
    lead,       // before the call's tag
    body,       // between arguments
    blank,      // at the start of a value of unknown kind, only white space so far
    value,      // in a value
    container,  // in a value that is made of tags
    plain,      // in arguments whose tags lack the prefix
  };

  std::size_t read_text(std::string_view bytes, Output& out);
  void expected_call(const Found& found, Output& out) const;
  bool read_marker(char c, Output& out);
  void take_text(std::string_view text, Output& out);
  void take_tag(std::string_view tag, Output& out);
  void take_tag_in_body(std::string_view tag, Output& out);
  bool is_shown(std::string_view tag);
  void take_tag_in_value(std::string_view tag, Output& out);
  void take_tag_in_container(std::string_view tag, Output& out);
  void take_tag_in_plain(std::string_view tag, Output& out);
  void no_marker(char c, Output& out);
  void begin_call(std::string_view tag, Output& out);
  void begin_value(std::string_view key);
  void write_key();
  void end_value();
  void end_container();
  bool append_wrapped();
  bool append_elements(std::string_view text, std::string_view prefix);
  bool is_own_close(std::string_view tag) const;
  void end_call(CallOutcome outcome, Output& out, std::string_view replay = {});
  bool is_call_tag(std::string_view tag) const;

  const PrefixedGrammar& grammar_;
  std::span<const Opener> openers_;
  ToolSchemas schemas_;
  std::size_t limit_;

  At at_ = At::lead;
  Step step_;
  bool byte_used_ = true;
  std::string marker_;      // the prefix and the tag behind it, so far
  std::size_t handed_ = 0;  // bytes of marker_ that the output has already
  std::string key_;
  SchemaPlace schema_;
  SchemaPlace place_;
  KindSet kinds_;
  TaggedValue value_;
  std::string raw_;        // of a container, or the white space before it
  std::size_t depth_ = 0;  // open tags in a container
  std::size_t shown_ = 0;  // open tags of calls that a text shows
  SeenKeys seen_;
  std::size_t arguments_ = 0;
  bool wraps_ = false;   // a container may be the arguments themselves
  bool broken_ = false;  // a value was not JSON and had left already
  std::string json_;
};

}  // namespace callgate::dialect
