// The name in a tag, fed the bytes behind the tag's opener:
//
//   get_weather>      name="get_weather" string="true">      city</arg_key>
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "dialect/family/tag_attributes.h"
#include "dialect/family/tagged_grammar.h"
#include "dialect/output.h"

namespace callgate::dialect {

class TagName {
 public:
  enum class State : std::uint8_t {
    open,
    whole,   // the byte was used, the tag is over
    before,  // the name is over; the byte was not used
    bad,     // this is not such a tag; the byte was not used
  };

  // REQUIRES: `tag` has static storage.
  void begin(const NameTag& tag);
  // The tag was read elsewhere.
  void be(const NameTag& tag, std::string_view name);
  // One more byte. What is used is handed to `out`, but for the beginning of the tag's end.
  State push(char c, Output& out);
  // What was read of the tag's end and not handed over.
  std::string_view end_so_far() const { return tag_->end.substr(0, matched_); }

  std::string_view name() const { return name_; }
  // Style attribute: the other attributes, and whether the tag closes itself.
  std::string_view attributes() const { return attribute_text_; }
  std::string_view attributes_so_far() const { return scan_.text(); }
  bool self_closing() const { return self_closing_; }

 private:
  State push_equals(char c, Output& out);
  State push_attribute(char c, Output& out);
  State push_text(char c, Output& out);
  State push_bare(char c, Output& out);

  const NameTag* tag_ = nullptr;
  std::size_t matched_ = 0;  // of the tag's end
  std::string name_;
  AttributeScan scan_;
  std::string_view attribute_text_;
  bool self_closing_ = false;
};

}  // namespace callgate::dialect
