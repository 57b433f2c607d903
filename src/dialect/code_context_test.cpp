#include "dialect/code_context.h"

#include <gtest/gtest.h>

#include <string>

namespace callgate::dialect::code_context_test {
namespace {

// What is said of the place after `text`: `line` start, `quoted`, or `prose`.
std::string_view place(std::string_view text) {
  CodeContext context;
  context.push(text);
  if (context.quoted()) return "quoted";
  return context.line_start() ? "line" : "prose";
}

// Words become long enough to be skipped in one step.
std::string stretched(std::string_view text) {
  std::string out;
  for (const char c : text) out.append(c >= 'a' && c <= 'z' ? 20 : 1, c);
  return out;
}

TEST(CodeContext, knows_where_it_is) {
  struct Row {
    std::string_view text;
    std::string_view place;
  };
  constexpr Row kRows[] = {
      {"", "line"},
      {"a", "prose"},
      {"a\n", "line"},
      {"a\r\n", "line"},
      {"   ", "line"},
      {"    ", "quoted"},
      {"\t", "quoted"},
      {"- ", "prose"},
      {"`", "quoted"},
      {"`a", "quoted"},
      {"`a`", "prose"},
      {"`a` b", "prose"},
      {"``a`", "quoted"},
      {"``a``", "prose"},
      {"`a\n", "line"},
      {"\\`a", "prose"},
      {"\\\\`a", "quoted"},
      {"\\ `a", "quoted"},
      {"```\n", "quoted"},
      {"```json\nx\n", "quoted"},
      {"```\nx\n```\n", "line"},
      {"```\nx\n```` \n", "line"},
      {"```\nx\n``` y\n", "quoted"},
      {"````\nx\n```\n", "quoted"},
      {"```\nx\n~~~\n", "quoted"},
      {"~~~\nx\n~~~\n", "line"},
      {"~~~ `a\nx\n", "quoted"},
      {"```a``` b", "prose"},
      {"```a```\n", "line"},
      {"  ```\n", "quoted"},
      {"      ```\nx\n      ```\n", "line"},
      {"```\nx\n      ```\n", "quoted"},
      {"> ", "quoted"},
      {"> ```\n", "line"},
      {">\n", "line"},
      {"a > b", "prose"},
      // An indented line is code up to its end.
      {"    a", "quoted"},
      {"\ta b", "quoted"},
      {"    a\n", "line"},
      {"> a\n", "line"},
      {">> ", "quoted"},
      // Fences and quotes in lists.
      {"- ```\n", "quoted"},
      {"- ```\n  a\n  ```\n", "line"},
      {"10. ```\n    a\n    ```\n", "line"},
      {"1) ~~~\n", "quoted"},
      {"1a ```\n", "line"},
      {"-```\n", "line"},
      {"```\n- ```\n", "quoted"},
      {"- > ", "quoted"},
      {"- - > ", "quoted"},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(place(row.text), row.place) << row.text;
    EXPECT_EQ(place(stretched(row.text)), row.place) << row.text;
  }
}

TEST(CodeContext, tells_inline_code_from_fences) {
  const auto inline_code = [](std::string_view text) {
    CodeContext context;
    context.push(text);
    return context.in_inline_code();
  };
  for (const std::string_view text : {"`", "a `b", "``a`", "a ```b", "```a```b ` c", "``"}) {
    EXPECT_TRUE(inline_code(text)) << text;
  }
  for (const std::string_view text :
       {"", "a", "`a`", "`a\n", "```", "```json", "```\n", "```\na `", "> `", "    a"}) {
    EXPECT_FALSE(inline_code(text)) << text;
  }
}

TEST(CodeContext, does_not_depend_on_cuts) {
  const std::string text = stretched("a `b` c\n```x\n<f>\n```\n> q\n\\` `` d");
  CodeContext whole;
  CodeContext cut;
  for (std::size_t size = 0; size < text.size(); ++size) {
    cut.push(std::string_view(text).substr(size, 1));
    whole.reset();
    whole.push(std::string_view(text).substr(0, size + 1));
    EXPECT_EQ(cut.quoted(), whole.quoted()) << size;
    EXPECT_EQ(cut.line_start(), whole.line_start()) << size;
  }
}

}  // namespace
}  // namespace callgate::dialect::code_context_test
