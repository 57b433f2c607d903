#include "dialect/family/tag_attributes.h"

#include <gtest/gtest.h>

namespace callgate::dialect::tag_attributes_test {
namespace {

TEST(TagAttributes, reads_keys_and_values) {
  EXPECT_EQ(attribute(R"( name="f" string='true')", "name"), "f");
  EXPECT_EQ(attribute(R"( name="f" string='true')", "string"), "true");
  EXPECT_EQ(attribute(R"(name = "f")", "name"), "f");
  EXPECT_EQ(attribute("name=f n=3", "n"), "3");
  EXPECT_EQ(attribute(R"(name="a>b")", "name"), "a>b");
  EXPECT_EQ(attribute(R"(name="")", "name"), "");
  EXPECT_EQ(attribute(R"(names="f")", "name"), std::nullopt);
  EXPECT_EQ(attribute("", "name"), std::nullopt);
}

TEST(TagAttributes, decodes_entities_once) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"a&amp;b", "a&b"},
      {"&lt;&gt;&quot;&apos;", "<>\"'"},
      {"&amp;lt;", "&lt;"},
      {"&#65;&#x42;", "AB"},
      {"&#x1F600;", "😀"},
      {"&", "&"},
      {"&;", "&;"},
      {"&nbsp;", "&nbsp;"},
      {"&#xD800;", "&#xD800;"},
      {"&#;", "&#;"},
      {"a & b; c", "a & b; c"},
      {"&#99999999;", "&#99999999;"},
  };
  for (const auto& [in, out] : cases) EXPECT_EQ(decode_entities(in), out) << in;
}

TEST(TagAttributes, tells_a_list_of_attributes_from_other_text) {
  const auto is_list = [](std::string_view text) {
    return for_each_attribute(text, [](std::string_view, const std::string&) {});
  };
  EXPECT_TRUE(is_list(""));
  EXPECT_TRUE(is_list(R"( a="1"  b='2' )"));
  EXPECT_FALSE(is_list("word"));
  EXPECT_FALSE(is_list(R"(a="1" word)"));
  EXPECT_FALSE(is_list(R"(a="1)"));
  EXPECT_FALSE(is_list("=1"));
}

TEST(AttributeScan, finds_the_end_outside_of_quotes) {
  const auto read = [](std::string_view text, std::string_view end) {
    AttributeScan scan;
    scan.begin(end);
    for (const char c : text) {
      const AttributeScan::State state = scan.push(c);
      if (state == AttributeScan::State::failed) return std::string("failed");
      if (state == AttributeScan::State::closed) return std::string(scan.text());
    }
    return std::string("open");
  };
  EXPECT_EQ(read(R"( a="x>y">)", ">"), R"( a="x>y")");
  EXPECT_EQ(read(R"( a='<'>)", ">"), R"( a='<')");
  EXPECT_EQ(read(" a=1<|sep|>", "<|sep|>"), " a=1");
  EXPECT_EQ(read(" a=1<|se>", "<|sep|>"), "failed");
  EXPECT_EQ(read(" a<b>", ">"), "failed");
  EXPECT_EQ(read(R"( a="x)", ">"), "open");
}

}  // namespace
}  // namespace callgate::dialect::tag_attributes_test
