// Values that are written as tags inside tags, read whole once they have ended:
//
//   <file><path>a.txt</path><line>3</line></file>      {"path":"a.txt","line":3}
//   <items><item>1</item><item>2</item></items>        [1,2]
//
// Where the schema wants text, tags are text. Tags of the same name side by side are an array.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/family/schema_types.h"

namespace callgate::dialect {

struct TagElement {
  std::string_view name;
  std::string_view attributes;
  std::string_view text;  // between the tags
};

// What stands before the `<` of each tag; empty for plain XML. With such a prefix tags are matched in pairs. Without
// one a close tag is the end of its element only when nothing or a tag that `parent` knows follows it, or any tag if that
// is never so; values are raw.
// False: the text is not a list of elements.
bool read_elements(std::string_view text, std::string_view prefix, const SchemaPlace& parent,
                   std::vector<TagElement>& elements);

// The elements as the members of a JSON object.
void append_members(std::string& out, const std::vector<TagElement>& elements,
                    std::string_view prefix, const SchemaPlace& parent, std::size_t depth = 0);

// The text of one element as JSON, as its place in the schema wants it.
void append_element(std::string& out, std::string_view text, std::string_view prefix,
                    const SchemaPlace& place, std::size_t depth = 0);

// A raw value as JSON: typed by `kinds`, a string where they are unknown or allow one.
void append_raw_value(std::string& out, std::string_view text, KindSet kinds);

bool is_tag_name_byte(char c);

}  // namespace callgate::dialect
