#include "gateway/form_field.h"

#include <gtest/gtest.h>

namespace callgate::server::form_field_test {
namespace {

constexpr std::string_view kType = "Multipart/Form-Data; charset=utf-8; boundary=\"x y\"";

std::string form(const std::vector<std::pair<std::string, std::string>>& parts) {
  std::string body;
  for (const auto& [head, value] : parts) body += "--x y\r\n" + head + "\r\n\r\n" + value + "\r\n";
  return body + "--x y--\r\n";
}

TEST(FormField, is_found_among_files_whatever_they_hold) {
  const std::string fake = "name=\"model\"\r\n\r\nfake\r\n--x\r\n";
  const std::string body =
      form({{"Content-Disposition: form-data; name=\"file\"; filename=\"a;name=model.wav\"", fake},
            {"content-type: text/plain\r\ncontent-disposition: form-data; name=model", "whisper"},
            {"content-disposition: form-data; name=\"empty\"", ""}});
  const auto model = find_form_field(kType, body, "model");
  ASSERT_TRUE(model);
  EXPECT_EQ(*model, "whisper");
  EXPECT_EQ(*find_form_field(kType, body, "empty"), "");
  EXPECT_FALSE(*find_form_field(kType, body, "other"));
}

TEST(FormField, is_refused_where_nobody_can_say_what_it_is) {
  const std::string model = "content-disposition: form-data; name=\"model\"";
  EXPECT_FALSE(find_form_field(kType, form({{model, "a"}, {model, "b"}}), "model"));
  EXPECT_FALSE(find_form_field("multipart/form-data", form({{model, "a"}}), "model"));
  EXPECT_FALSE(find_form_field(kType, "hello" + form({{model, "a"}}), "model"));
  EXPECT_FALSE(find_form_field(kType, form({{model, "a"}}).substr(0, 60), "model"));
  EXPECT_FALSE(find_form_field(kType, "", "model"));
}

TEST(FormField, is_of_one_type_only) {
  EXPECT_TRUE(is_form(kType));
  EXPECT_FALSE(is_form("application/json"));
  EXPECT_FALSE(is_form("multipart/mixed"));
}

}  // namespace
}  // namespace callgate::server::form_field_test
