#include "client/openai_responses/freeform_input.h"

#include <gtest/gtest.h>

#include <array>

namespace callgate::client::freeform_input_test {
namespace {

struct Case {
  std::string_view arguments;
  std::string_view input;
};

constexpr std::array<Case, 14> kCases = {{
    {R"({"input":"ls -l"})", "ls -l"},
    {"  {\n \"input\" : \"a\" }", "a"},
    {R"({"input":"a\nb\t\"c\" \\ \/"})", "a\nb\t\"c\" \\ /"},
    {R"({"input":"\u00e9 \uD83D\uDE00!"})", "\xC3\xA9 \xF0\x9F\x98\x80!"},
    {R"({"input":"a}","other":1})", "a}"},
    {R"({"input":""})", ""},
    {R"({})", ""},
    {"", ""},
    {R"({"patch":"*** Begin"})", "*** Begin"},         // the only string
    {R"({"a":1,"input":"x"})", "x"},                   // in another order
    {R"({"a":"1","b":"2"})", R"({"a":"1","b":"2"})"},  // nobody can say which
    {"*** Begin Patch", "*** Begin Patch"},            // no JSON
    {R"({"input":"cut off)", "cut off"},
    {R"({"input":"\d+\.x"})", "\\d+\\.x"},  // escapes that JSON does not have
}};

std::string unwrapped(std::string_view arguments, std::size_t cut) {
  FreeformInput input;
  std::string out;
  input.push(arguments.substr(0, cut), out);
  input.push(arguments.substr(cut), out);
  input.finish(out);
  return out;
}

TEST(FreeformInput, is_the_same_wherever_the_arguments_are_cut) {
  for (const Case& each : kCases) {
    for (std::size_t cut = 0; cut <= each.arguments.size(); ++cut) {
      EXPECT_EQ(unwrapped(each.arguments, cut), each.input) << each.arguments << " cut at " << cut;
    }
    FreeformInput by_byte;
    std::string out;
    for (const char c : each.arguments) by_byte.push({&c, 1}, out);
    by_byte.finish(out);
    EXPECT_EQ(out, each.input) << each.arguments;
  }
}

TEST(FreeformInput, leaves_while_it_is_written) {
  FreeformInput input;
  std::string out;
  input.push(R"({"input":"*** Beg)", out);
  EXPECT_EQ(out, "*** Beg");
  input.push(R"(in\)", out);
  EXPECT_EQ(out, "*** Begin");  // half an escape waits
  input.push(R"(nx\uD83D)", out);
  EXPECT_EQ(out, "*** Begin\nx");  // and half a pair
}

TEST(FreeformInput, can_be_used_again) {
  FreeformInput input;
  std::string out;
  input.push(R"({"input":"a)", out);
  input.reset();
  out.clear();
  input.push(R"({"input":"b"})", out);
  input.finish(out);
  EXPECT_EQ(out, "b");
}

}  // namespace
}  // namespace callgate::client::freeform_input_test
