#include "dialect/family/tagged_value.h"

#include <gtest/gtest.h>

namespace callgate::dialect::tagged_value_test {
namespace {

using enum ValueKind;

constexpr std::size_t kLimit = 1000;
constexpr KindSet kAllButString = {null, integer, number, boolean, object, array};

struct ValueCase {
  KindSet kinds;
  std::string_view in;
  std::string_view out;
};

// What the pieces give, one push for each.
std::string converted(KindSet kinds, const std::vector<std::string_view>& pieces) {
  TaggedValue value;
  std::string out;
  value.begin(kinds, kLimit, out);
  for (const std::string_view piece : pieces) value.push(piece, out);
  EXPECT_TRUE(value.end(out));
  return out;
}

void expect_at_every_cut(KindSet kinds, std::string_view in, std::string_view out) {
  EXPECT_EQ(converted(kinds, {in}), out) << in;
  for (std::size_t cut = 0; cut <= in.size(); ++cut) {
    EXPECT_EQ(converted(kinds, {in.substr(0, cut), in.substr(cut)}), out) << in << " at " << cut;
  }
  std::vector<std::string_view> bytes;
  for (std::size_t i = 0; i < in.size(); ++i) bytes.push_back(in.substr(i, 1));
  EXPECT_EQ(converted(kinds, bytes), out) << in << " byte by byte";
}

TEST(TaggedValue, is_typed_by_its_kinds_at_every_cut) {
  const ValueCase cases[] = {
      {{}, "Paris", R"("Paris")"},
      {{}, "", R"("")"},
      {{}, "42", R"("42")"},
      {{}, "true", R"("true")"},
      {{}, "null", R"("null")"},
      {{}, "{\"a\":1}", R"("{\"a\":1}")"},
      {{}, "  a\tb\n", R"("  a\tb\n")"},
      {{}, "a\\b\"c/\b\f\r\x01", R"("a\\b\"c/\b\f\r\u0001")"},
      {{}, "Zürich 東京 😀", R"("Zürich 東京 😀")"},
      {{string}, "02134", R"("02134")"},
      {{string}, "true", R"("true")"},
      {{string}, "null", R"("null")"},
      {{string}, "None", R"("None")"},
      {{string}, "[1]", R"("[1]")"},
      {{string}, " x ", R"(" x ")"},
      {{string, integer}, "5", R"("5")"},
      {{string, object}, "{}", R"("{}")"},
      {{object}, "{'a': True}", R"({"a":true})"},
      {{object}, "{'a', 'b'}", R"("{'a', 'b'}")"},
      {{array}, "['a', None]", R"(["a",null])"},
      {{array}, "(1, 2)", "[1,2]"},
      {{array}, "[word]", R"("[word]")"},
      {{string, null}, "null", "null"},
      {{string, null}, "nul", R"("nul")"},
      {{string, null}, "nullx", R"("nullx")"},
      {{string, null}, " null", R"(" null")"},
      {{string, null}, "None", R"("None")"},
      {{string, null}, "", R"("")"},
      {{string, null, integer}, "5", R"("5")"},
      {{integer}, "5", "5"},
      {{integer}, "-5", "-5"},
      {{integer}, "0", "0"},
      {{integer}, " 5\n", "5"},
      {{integer}, "5.0", "5.0"},
      {{integer}, "5.00", "5.00"},
      {{integer}, "5e3", "5e3"},
      {{integer}, "5.5", R"("5.5")"},
      {{integer}, "5e-3", R"("5e-3")"},
      {{integer}, "007", R"("007")"},
      {{integer}, "+5", R"("+5")"},
      {{integer}, "0x10", R"("0x10")"},
      {{integer}, "1_000", R"("1_000")"},
      {{integer}, "five", R"("five")"},
      {{integer}, "", R"("")"},
      {{integer}, "true", R"("true")"},
      {{integer}, "null", R"("null")"},
      {{integer}, "123456789012345678901234567890", "123456789012345678901234567890"},
      {{number}, "3.14", "3.14"},
      {{number}, "-0.5", "-0.5"},
      {{number}, "1e-7", "1e-7"},
      {{number}, "1E+400", "1E+400"},
      {{number}, "42", "42"},
      {{number}, ".5", R"(".5")"},
      {{number}, "5.", R"("5.")"},
      {{number}, "-", R"("-")"},
      {{number}, "1e", R"("1e")"},
      {{number}, "NaN", R"("NaN")"},
      {{number}, "Infinity", R"("Infinity")"},
      {{number}, "1,5", R"("1,5")"},
      {{number}, "1 2", R"("1 2")"},
      {{boolean}, "true", "true"},
      {{boolean}, "false", "false"},
      {{boolean}, "True", "true"},
      {{boolean}, "FALSE", "false"},
      {{boolean}, " true ", "true"},
      {{boolean}, "yes", R"("yes")"},
      {{boolean}, "1", R"("1")"},
      {{boolean}, "truex", R"("truex")"},
      {{null}, "null", "null"},
      {{null}, "None", "null"},
      {{null}, "nil", R"("nil")"},
      {{integer, null}, "null", "null"},
      {{integer, null}, "None", "null"},
      {{integer, null}, "7", "7"},
      {{integer, boolean}, "true", "true"},
      {{integer, boolean}, "1", "1"},
      {{object}, "{}", "{}"},
      {{object}, R"({"a": [1, {"b": null}]})", R"({"a": [1, {"b": null}]})"},
      {{object}, " {\"a\":1}\n", R"({"a":1})"},
      {{object}, R"({"a":1)", R"("{\"a\":1")"},
      {{object}, R"({"a":1}x)", R"("{\"a\":1}x")"},
      {{object}, R"({'a':1})", R"({"a":1})"},
      {{object}, R"({a:1})", R"("{a:1}")"},
      {{object}, "[1]", R"("[1]")"},
      {{object}, "{\"a\":\"x\ny\"}", R"({"a":"x\ny"})"},
      {{object}, "{\"a\":\"\\\"\t\"}", R"({"a":"\"\t"})"},
      {{array}, "[]", "[]"},
      {{array}, R"(["a", 2])", R"(["a", 2])"},
      {{array}, "{}", R"("{}")"},
      {{array}, "a, b", R"("a, b")"},
      {{array}, "[1,]", "[1]"},
      {{object, array}, "[{}]", "[{}]"},
      {kAllButString, "12", "12"},
      {kAllButString, "x", R"("x")"},
  };
  for (const ValueCase& test : cases) expect_at_every_cut(test.kinds, test.in, test.out);
}

TEST(TaggedValue, passes_a_value_that_says_it_is_json) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"3", "3"},
      {R"("x")", R"("x")"},
      {"true", "true"},
      {"True", "true"},
      {"None", "null"},
      {"[1, 2]", "[1, 2]"},
      {R"({"a": 1})", R"({"a": 1})"},
      {"x", R"("x")"},
      {" 3 ", "3"},
      {R"("x)", R"("\"x")"},
      {"", R"("")"},
  };
  for (const auto& [in, out] : cases) {
    for (std::size_t cut = 0; cut <= in.size(); ++cut) {
      TaggedValue value;
      std::string json;
      value.begin_json(kLimit, json);
      value.push(in.substr(0, cut), json);
      value.push(in.substr(cut), json);
      EXPECT_TRUE(value.end(json));
      EXPECT_EQ(json, out) << in << " at " << cut;
    }
  }
}

TEST(TaggedValue, streams_a_string_while_it_is_written) {
  TaggedValue value;
  std::string out;
  value.begin({string}, kLimit, out);
  value.push("ab", out);
  EXPECT_EQ(out, "\"ab");
  value.push("\xE6\x9D", out);
  EXPECT_EQ(out, "\"ab");
  value.push("\xB1", out);
  EXPECT_EQ(out, "\"ab\xE6\x9D\xB1");
}

TEST(TaggedValue, replaces_invalid_bytes_the_same_at_every_cut) {
  for (const std::string_view in : {"a\xFFz", "\xE6\x9Dz", "\xED\xA0\x80", "\xF0\x9F\x98"}) {
    const std::string whole = converted({}, {in});
    for (std::size_t cut = 0; cut <= in.size(); ++cut) {
      EXPECT_EQ(converted({}, {in.substr(0, cut), in.substr(cut)}), whole);
    }
  }
}

TEST(TaggedValue, lets_go_of_what_is_too_long_to_be_held_back) {
  for (const bool good : {true, false}) {
    TaggedValue value;
    std::string out;
    value.begin({object}, 4, out);
    value.push("{\"a\":", out);
    EXPECT_EQ(out, "{\"a\":");
    value.push(good ? "1}" : "oops", out);
    EXPECT_EQ(value.end(out), good);
  }
  TaggedValue value;
  std::string out;
  value.begin({integer}, 4, out);
  value.push("123456", out);
  EXPECT_TRUE(value.end(out));
  EXPECT_EQ(out, "\"123456\"");
}

TEST(TaggedValue, leaves_a_cut_value_open) {
  const std::pair<KindSet, std::string_view> cases[] = {
      {{string}, "\"ab"}, {{integer}, "ab"}, {{string, null}, "\"ab"}};
  for (const auto& [kinds, expected] : cases) {
    TaggedValue value;
    std::string out;
    value.begin(kinds, kLimit, out);
    value.push("ab", out);
    value.cut(out);
    EXPECT_EQ(out, expected);
  }
}

}  // namespace
}  // namespace callgate::dialect::tagged_value_test
