#include "dialect/family/nested_tags.h"

#include <gtest/gtest.h>

namespace callgate::dialect::nested_tags_test {
namespace {

const SchemaTree& schema() {
  static const SchemaTree tree(R"({"properties": {
    "s": {"type": "string"}, "n": {"type": "integer"}, "maybe": {"type": ["string", "null"]},
    "o": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}},
    "l": {"type": "array", "items": {"type": "integer"}}, "free": {}}})");
  return tree;
}

// The elements as members, or "none" when the text is not a list of elements.
std::string members(std::string_view text, std::string_view prefix = {}) {
  std::vector<TagElement> elements;
  if (!read_elements(text, prefix, schema().root(), elements)) return "none";
  std::string out;
  append_members(out, elements, prefix, schema().root());
  return out;
}

TEST(NestedTags, are_typed_by_the_schema) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "{}"},
      {"<s>x</s>", R"({"s":"x"})"},
      {"\n<s>x</s>\n<n>3</n>\n", R"({"s":"x","n":3})"},
      {"<s> x\n</s>", R"({"s":" x\n"})"},
      {"<s>3</s>", R"({"s":"3"})"},
      {"<s></s>", R"({"s":""})"},
      {"<s/>", R"({"s":""})"},
      {"<s><b>x</b></s>", R"({"s":"<b>x</b>"})"},
      {"<s>a &lt; b</s>", R"({"s":"a &lt; b"})"},
      {"<maybe>null</maybe>", R"({"maybe":null})"},
      {"<n>three</n>", R"({"n":"three"})"},
      {"<o><a>1</a><b>2</b></o>", R"({"o":{"a":1,"b":"2"}})"},
      {"<o>{\"a\": 1}</o>", R"({"o":{"a": 1}})"},
      {"<o>text</o>", R"({"o":"text"})"},
      {"<l><x>1</x><x>2</x></l>", R"({"l":[1,2]})"},
      {"<l>[1, 2]</l>", R"({"l":[1, 2]})"},
      {"<l>1</l><l>2</l>", R"({"l":[1,2]})"},
      {"<s>a</s><s>b</s>", R"({"s":["a","b"]})"},
      {"<free><a>1</a></free>", R"({"free":"<a>1</a>"})"},
      {"<s>see </s> here</s>", R"({"s":"see </s> here"})"},
      {"<s>a</s><n>1</n> b</s>", "none"},
      {"<s>a </n> b</s><n>1</n>", R"({"s":"a </n> b","n":1})"},
      {"<s>a</s> tail", "none"},
      {"text", "none"},
      {"<s>a", "none"},
      {"<s>a</n>", "none"},
      {"< s>a</s>", "none"},
      {"<s a=\"1\">x</s>", R"({"s":"x"})"},
      {"<s a>x</s>", "none"},
  };
  for (const auto& [in, out] : cases) EXPECT_EQ(members(in), out) << in;
}

TEST(NestedTags, are_matched_in_pairs_behind_a_prefix) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"#<s>x#</s>", R"({"s":"x"})"},
      {"#<s><s>#</s>", R"({"s":"<s>"})"},
      {"#<free>#<free>x#</free>#</free>", R"({"free":{"free":"x"}})"},
      {"#<free>#<item>1#</item>#<item>2#</item>#</free>", R"({"free":["1","2"]})"},
      {"#<o>\n#<a>1#</a>\n#</o>", R"({"o":{"a":1}})"},
      {"#<s>x</s>", "none"},
  };
  for (const auto& [in, out] : cases) EXPECT_EQ(members(in, "#"), out) << in;
}

}  // namespace
}  // namespace callgate::dialect::nested_tags_test
