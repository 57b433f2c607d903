#include "upstream/call_arguments.h"

#include <gtest/gtest.h>

namespace callgate::upstream::call_arguments_test {
namespace {

struct Read {
  std::string bytes;
  CallOutcome outcome;
  RepairCounts repairs{};
};

// Fragments of `size` bytes, each of which leaves as soon as it may.
Read read(std::string_view arguments, std::size_t size) {
  Read read;
  CallArguments taken;
  for (std::size_t at = 0; at < arguments.size(); at += size) {
    const std::string_view fragment = arguments.substr(at, size);
    if (taken.push(fragment, taken.held() == 0, read.repairs)) {
      read.bytes += fragment;
    } else {
      read.bytes += taken.ready();
      taken.remove_ready();
    }
  }
  read.outcome = taken.finish();
  read.bytes += taken.held_back();
  read.bytes += taken.trailing();
  return read;
}

TEST(CallArguments, takes_off_what_stands_around_the_value) {
  struct Row {
    std::string_view in;
    std::string_view out;
    CallOutcome outcome = CallOutcome::complete;
  };
  using enum CallOutcome;
  for (const Row& row : {
           Row{R"({"a":1})", R"({"a":1})"},
           Row{R"({"a":1} )", R"({"a":1} )"},
           Row{R"({"a":1}}] })", R"({"a":1})"},
           Row{R"({"a":1}} x)", R"({"a":1}} x)", malformed},
           Row{R"({"a":1}{"a":1})", R"({"a":1})"},
           Row{"{\"a\":1}\n{\"a\":1}", R"({"a":1})"},
           Row{R"({"a":1}{"a":2})", R"({"a":1}{"a":2})", malformed},
           Row{R"("{\"a\":1}")", R"({"a":1})"},
           Row{R"("\"{\\\"a\\\":1}\"")", R"({"a":1})"},
           Row{R"("{\"a\":1}}")", R"({"a":1})"},
           Row{R"("text")", R"("text")"},
           Row{R"("{\"a\":)", R"("{\"a\":)", truncated},
           Row{R"("{\q)", R"("{\q)", malformed},
           Row{"{}", "{}"},
           Row{"null", "{}"},
           Row{"[]", "{}"},
           Row{"[ ]", "{}"},
           Row{"[1]", "[1]"},
           Row{"[1", "[1", truncated},
           Row{"\"\"", "{}"},
           Row{R"(["{}"])", R"(["{}"])"},
       }) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{3}, row.in.size()}) {
      const Read taken = read(row.in, size);
      EXPECT_EQ(taken.bytes, row.out) << row.in << " by " << size;
      EXPECT_EQ(taken.outcome, row.outcome) << row.in << " by " << size;
    }
  }
}

TEST(CallArguments, lets_arguments_take_the_place_of_an_empty_value) {
  for (const std::string_view empty : {"{}", "{ }", "null", "[]", "\"\"", " {} \n", "{}{}{}"}) {
    CallArguments taken;
    RepairCounts repairs{};
    EXPECT_FALSE(taken.push(empty, true, repairs));
    EXPECT_TRUE(taken.is_placeholder()) << empty;
    EXPECT_EQ(taken.ready(), "");
    taken.push(R"({"a":1})", true, repairs);
    EXPECT_EQ(taken.finish(), CallOutcome::complete);
    EXPECT_EQ(taken.held_back(), R"({"a":1})") << empty;
    EXPECT_GE(repairs[static_cast<std::size_t>(Repair::arguments_prefilled)], 1u);
  }
}

TEST(CallArguments, escapes_control_characters_in_strings) {
  CallArguments taken;
  RepairCounts repairs{};
  taken.push_unescaped("{\n\"a\":\"b\t", repairs);
  taken.push_unescaped("\n\"}", repairs);
  EXPECT_EQ(taken.held_back(), "{\n\"a\":\"b\\t\\n\"}");
  EXPECT_EQ(taken.finish(), CallOutcome::complete);
}

TEST(CallArguments, stays_linear_after_the_value) {
  CallArguments taken;
  RepairCounts repairs{};
  taken.push(R"({"a":1})", false, repairs);
  for (int i = 0; i < 1'000'000; ++i) taken.push("}", false, repairs);
  EXPECT_EQ(taken.trailing(), "");
  EXPECT_EQ(repairs[static_cast<std::size_t>(Repair::arguments_surplus)], 1u);
}

}  // namespace
}  // namespace callgate::upstream::call_arguments_test
