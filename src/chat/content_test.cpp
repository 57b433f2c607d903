#include "chat/content.h"

#include <gtest/gtest.h>

namespace callgate::content_test {
namespace {

using Kind = ContentPart::Kind;

TEST(Content, a_string_is_one_text_part_and_nothing_is_none) {
  const auto parts = parts_of({R"("a\nb")"});
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].kind, Kind::text);
  EXPECT_EQ(parts[0].text, "a\nb");
  EXPECT_EQ(parts[0].json, R"("a\nb")");
  for (const char* none : {"", "null", "\"\"", "[]", "{}", "1"}) {
    EXPECT_TRUE(parts_of({none}).empty()) << none;
  }
}

TEST(Content, tells_images_that_are_here_from_those_elsewhere) {
  const auto parts = parts_of(
      {R"([{"type":"image_url","image_url":{"detail":"low","url":"data:image/png;base64,AA=="}},)"
       R"({"type":"input_image","image_url":"https://host/x.png"},)"
       R"({"type":"image_url","image_url":{"url":"data:text/plain,hi"}},)"
       R"({"type":"image_url","image_url":{"url":"x;base64,AA=="}},)"
       R"({"type":"image_url","image_url":{"url":7}},{"type":"image_url","image_url":7}])"});
  ASSERT_EQ(parts.size(), 6u);
  for (const ContentPart& part : parts) EXPECT_EQ(part.kind, Kind::image) << part.json;
  EXPECT_EQ(parts[0].media_type, "image/png");
  EXPECT_EQ(parts[0].data, "AA==");
  EXPECT_EQ(parts[0].url, "");
  EXPECT_EQ(parts[1].url, "https://host/x.png");
  EXPECT_EQ(parts[1].data, "");
  EXPECT_EQ(parts[2].url, "data:text/plain,hi");
  EXPECT_EQ(parts[3].url, "x;base64,AA==");
  EXPECT_EQ(parts[4].url, "");
  EXPECT_EQ(parts[5].url, "");
}

TEST(Content, a_part_keeps_its_json_and_other_kinds_are_other) {
  const auto parts = parts_of(
      {R"([{"type":"input_audio","input_audio":{}}, {"text":"untyped"},{"type":1,"text":2}])"});
  ASSERT_EQ(parts.size(), 3u);
  for (const ContentPart& part : parts) EXPECT_EQ(part.kind, Kind::other) << part.json;
  EXPECT_EQ(parts[0].json, R"({"type":"input_audio","input_audio":{}})");
  EXPECT_EQ(parts[1].text, "untyped");
  EXPECT_EQ(parts[2].text, "");
}

TEST(Content, joins_text_parts_by_lines) {
  EXPECT_EQ(text_of({R"([{"type":"text","text":"a"},{"type":"image_url","image_url":"u"},)"
                     R"({"type":"input_text","text":""},{"type":"output_text","text":"b"},)"
                     R"({"type":"refusal","refusal":"no"}])"}),
            "a\n\nb\nno");
  EXPECT_EQ(text_of({R"("a")"}), "a");
  EXPECT_EQ(text_of({}), "");
}

TEST(Content, text_becomes_content_and_is_read_back) {
  EXPECT_EQ(text_content("a\"\n").text, R"("a\"\n")");
  EXPECT_EQ(text_of(text_content("a\"\n")), "a\"\n");
}

TEST(Content, roles_have_names_and_are_found_by_them) {
  for (const Role role : {Role::system, Role::developer, Role::user, Role::assistant, Role::tool}) {
    EXPECT_EQ(find_role(role_name(role)), role);
  }
  EXPECT_EQ(role_name(Role::developer), "developer");
  EXPECT_EQ(plain_role_name(Role::developer), "system");
  EXPECT_EQ(plain_role_name(Role::tool), "tool");
  EXPECT_EQ(find_role("function"), std::nullopt);
  EXPECT_EQ(find_role(""), std::nullopt);
}

TEST(Content, both_roles_of_a_system_prompt_are_prompts) {
  EXPECT_TRUE(is_prompt({.role = Role::system}));
  EXPECT_TRUE(is_prompt({.role = Role::developer}));
  EXPECT_FALSE(is_prompt({.role = Role::user}));
  EXPECT_FALSE(is_prompt({.role = Role::assistant}));
  EXPECT_FALSE(is_prompt({.role = Role::tool}));
}

TEST(Content, a_field_is_the_first_of_its_name_and_null_is_not_given) {
  const std::vector<ExtraField> fields = {{"user", {R"("u\n")"}},
                                          {"stop", {"null"}},
                                          {"stop", {"1"}},
                                          {"seed", {"7"}},
                                          {"seed", {"8"}}};
  EXPECT_EQ(find_field(fields, "user"), R"("u\n")");
  EXPECT_EQ(find_field(fields, "stop"), "");
  EXPECT_EQ(find_field(fields, "seed"), "7");
  EXPECT_EQ(find_field(fields, "top_p"), "");
  EXPECT_EQ(field_text(fields, "user"), "u\n");
  EXPECT_EQ(field_text(fields, "stop"), "");
  EXPECT_EQ(field_text(fields, "seed"), "7");
  EXPECT_EQ(field_text(fields, "top_p"), "");
}

}  // namespace
}  // namespace callgate::content_test
