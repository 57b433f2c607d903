#include "json/reader.h"

#include <gtest/gtest.h>

#include "json/test_documents.h"

namespace callgate::json::reader_test {
namespace {

// Reads a whole value through the typed calls.
void walk(Reader& in) {
  std::string_view key;
  switch (in.peek()) {
    case Kind::object:
      while (in.next_member(key)) walk(in);
      return;
    case Kind::array:
      while (in.next_element()) walk(in);
      return;
    case Kind::string:
      in.string();
      return;
    case Kind::number:
      in.number();
      return;
    case Kind::boolean:
      in.boolean();
      return;
    case Kind::null:
      in.null();
      return;
    case Kind::invalid:
      in.skip();
      return;
  }
}

std::string unescaped(std::string_view text) {
  Reader in(text);
  const std::string value(in.string());
  return in.finish() ? value : "fault: " + std::string(in.error().message);
}

TEST(Reader, agrees_with_the_table_when_it_skips_and_when_it_walks) {
  const std::vector<Document> documents = test_documents();
  EXPECT_GE(documents.size(), 200u);
  for (const Document& document : documents) {
    const bool valid = document.verdict == Verdict::valid;
    Reader skipping(document.text);
    skipping.skip();
    EXPECT_EQ(skipping.finish(), valid) << document.text;
    Reader walking(document.text);
    walk(walking);
    EXPECT_EQ(walking.finish(), valid) << document.text;
    EXPECT_EQ(walking.error().offset, skipping.error().offset) << document.text;
    EXPECT_LE(skipping.error().offset, document.text.size());
    EXPECT_EQ(skipping.error().message.empty(), valid) << document.text;
  }
}

TEST(Reader, gives_raw_text_without_the_white_space_around_it) {
  Reader in(R"({"a": [ 1, {"b":"]"} ] , "c":  -1.50e+3 })");
  std::string_view key;
  ASSERT_TRUE(in.next_member(key));
  EXPECT_EQ(in.raw(), R"([ 1, {"b":"]"} ])");
  ASSERT_TRUE(in.next_member(key));
  EXPECT_EQ(in.raw(), "-1.50e+3");
  EXPECT_FALSE(in.next_member(key));
  EXPECT_TRUE(in.finish());
}

TEST(Reader, pulls_the_text_out_of_a_typical_frame) {
  Reader in(
      R"({"id":"c-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":)"
      R"([{"index":0,"delta":{"content":"Hi \u00fc"},"finish_reason":null}],"usage":null})");
  std::string content;
  std::optional<std::int64_t> created;
  for (std::string_view key; in.next_member(key);) {
    if (key == "created") {
      created = in.integer();
    } else if (key == "choices") {
      while (in.next_element()) {
        while (in.next_member(key)) {
          if (key != "delta") {
            in.skip();
            continue;
          }
          while (in.next_member(key)) {
            if (key == "content") {
              content = in.string();
            } else {
              in.skip();
            }
          }
        }
      }
    } else {
      in.skip();
    }
  }
  EXPECT_TRUE(in.finish()) << in.error().message;
  EXPECT_EQ(content, "Hi ü");
  EXPECT_EQ(created, 1700000000);
}

TEST(Reader, unescapes_as_javascript_does) {
  EXPECT_EQ(unescaped(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(unescaped(R"("a\u00e9\u20AC\ud83d\ude00z")"), "aé€😀z");
  EXPECT_EQ(unescaped(R"("a\u0000b")"), std::string("a\0b", 3));
  EXPECT_EQ(unescaped(R"("\uD83D")"), "\uFFFD");
  EXPECT_EQ(unescaped(R"("\uDE00\uD83D")"), "\uFFFD\uFFFD");
  EXPECT_EQ(unescaped(R"("\uD83D\uD83D\uDE00")"), "\uFFFD😀");
  EXPECT_EQ(unescaped(R"("\uD83D\u0041")"), "\uFFFDA");
  EXPECT_EQ(unescaped(R"("\uD83D\n")"), "\uFFFD\n");
}

TEST(Reader, borrows_strings_without_escapes_and_reuses_scratch_for_the_others) {
  const std::string_view text = R"(["plain", "esc\n", "aped\t"])";
  Reader in(text);
  ASSERT_TRUE(in.next_element());
  EXPECT_EQ(in.string().data(), text.data() + 2);
  ASSERT_TRUE(in.next_element());
  EXPECT_EQ(in.string(), "esc\n");
  ASSERT_TRUE(in.next_element());
  EXPECT_EQ(in.string(), "aped\t");
  EXPECT_FALSE(in.next_element());
  EXPECT_TRUE(in.finish());
}

TEST(Reader, keeps_numbers_as_text) {
  Reader in("[12345678901234567890, 1E400, -0.10]");
  std::vector<std::string> numbers;
  while (in.next_element()) numbers.emplace_back(in.number());
  EXPECT_EQ(numbers, (std::vector<std::string>{"12345678901234567890", "1E400", "-0.10"}));
  EXPECT_TRUE(in.finish());
}

TEST(Reader, reads_integers_in_every_spelling) {
  struct Row {
    std::string_view text;
    std::optional<std::int64_t> value;
  };
  const Row rows[] = {
      {"0", 0},
      {"-0", 0},
      {"-0.0e5", 0},
      {"7", 7},
      {"5.0", 5},
      {"-5.00", -5},
      {"70e-1", 7},
      {"1.5e1", 15},
      {"12e2", 1200},
      {"0.001e3", 1},
      {"0e99999999999999999999", 0},
      {"9223372036854775807", INT64_MAX},
      {"-9223372036854775808", INT64_MIN},
      {"9223372036854775807.0", INT64_MAX},
      {"-9.223372036854775808e18", INT64_MIN},
      {"9223372036854775808", std::nullopt},
      {"-9223372036854775809", std::nullopt},
      {"9.223372036854775808e18", std::nullopt},
      {"-9.223372036854775809e18", std::nullopt},
      {"18446744073709551617.0", std::nullopt},
      {"1e19", std::nullopt},
      {"1e99999999999999999999", std::nullopt},
      {"1e-99999999999999999999", std::nullopt},
      {"1.5", std::nullopt},
      {"15e-1", std::nullopt},
      {"0.1", std::nullopt},
  };
  for (const Row& row : rows) {
    Reader in(row.text);
    EXPECT_EQ(in.integer(), row.value) << row.text;
    EXPECT_TRUE(in.finish()) << row.text;
  }
}

TEST(Reader, tells_the_kind_and_consumes_nothing) {
  const std::pair<std::string_view, Kind> rows[] = {
      {" {", Kind::object},   {"[", Kind::array},  {"\n\"", Kind::string}, {"-", Kind::number},
      {"0", Kind::number},    {"9", Kind::number}, {"t", Kind::boolean},   {"f", Kind::boolean},
      {"n", Kind::null},      {"", Kind::invalid}, {"x", Kind::invalid},   {"]", Kind::invalid},
      {"\xEF", Kind::invalid}};
  for (const auto& [text, kind] : rows) {
    Reader in(text);
    EXPECT_EQ(in.peek(), kind) << text;
    EXPECT_EQ(in.peek(), kind) << text;
    EXPECT_FALSE(in.failed());
  }
}

TEST(Reader, treats_a_value_of_the_wrong_kind_as_a_fault) {
  const auto fault = [](std::string_view text, auto read) {
    Reader in(text);
    read(in);
    EXPECT_FALSE(in.finish()) << text;
    return std::string(in.error().message);
  };
  std::string_view key;
  EXPECT_EQ(fault("1", [](Reader& in) { EXPECT_EQ(in.string(), ""); }), "expected a string");
  EXPECT_EQ(fault("\"1\"", [](Reader& in) { EXPECT_EQ(in.number(), ""); }), "expected a number");
  EXPECT_EQ(fault("null", [](Reader& in) { EXPECT_FALSE(in.integer()); }), "expected a number");
  EXPECT_EQ(fault("0", [](Reader& in) { EXPECT_FALSE(in.boolean()); }), "expected true or false");
  EXPECT_EQ(fault("[]", [&](Reader& in) { EXPECT_FALSE(in.next_member(key)); }),
            "expected an object");
  EXPECT_EQ(fault("{}", [](Reader& in) { EXPECT_FALSE(in.next_element()); }), "expected an array");
}

TEST(Reader, ends_every_loop_after_a_fault_and_keeps_the_first_one) {
  Reader in(R"({"a":[1,2,x],"b":{}})");
  std::string_view key;
  ASSERT_TRUE(in.next_member(key));
  int elements = 0;
  for (; in.next_element(); ++elements) in.number();
  EXPECT_EQ(elements, 3);
  EXPECT_FALSE(in.next_member(key));
  EXPECT_FALSE(in.next_element());
  EXPECT_EQ(in.raw(), "");
  in.skip();
  in.fail("another");
  EXPECT_FALSE(in.finish());
  EXPECT_EQ(in.error().offset, 10u);
  EXPECT_EQ(in.error().message, "expected a number");
}

TEST(Reader, refuses_calls_that_do_not_fit_the_place) {
  std::string_view key;
  Reader second("1 2");
  second.number();
  second.number();
  EXPECT_TRUE(second.failed());
  Reader member("[1,\"a\":2]");
  ASSERT_TRUE(member.next_element());
  member.number();
  EXPECT_FALSE(member.next_member(key));
  EXPECT_TRUE(member.failed());
  Reader element("{\"a\":1,2}");
  ASSERT_TRUE(element.next_member(key));
  element.number();
  EXPECT_FALSE(element.next_element());
  EXPECT_TRUE(element.failed());
}

TEST(Reader, reports_a_fault_that_the_caller_found) {
  Reader in(R"({"role": "robot"})");
  std::string_view key;
  ASSERT_TRUE(in.next_member(key));
  in.string();
  in.fail("expected system, user, assistant or tool");
  EXPECT_FALSE(in.finish());
  EXPECT_EQ(in.error().offset, 16u);
  EXPECT_EQ(in.error().message, "expected system, user, assistant or tool");
}

TEST(Reader, points_at_the_byte_that_is_wrong) {
  const std::pair<std::string_view, std::size_t> rows[] = {
      {"{\"a\":1 \"b\":2}", 7}, {"[1,]", 3},     {"{} x", 3},
      {"\"ab\xFF\"", 3},        {"\"a\nb\"", 2}, {"\"\\x\"", 2},
      {"\"\\u12g4\"", 5},       {"[1.]", 3},     {"[tru]", 1},
      {"{\"a\":1,}", 7}};
  for (const auto& [text, offset] : rows) {
    Reader in(text);
    in.skip();
    EXPECT_FALSE(in.finish());
    EXPECT_EQ(in.error().offset, offset) << text;
  }
}

TEST(Reader, starts_again_after_reset) {
  Reader in("[x");
  in.skip();
  EXPECT_FALSE(in.finish());
  in.reset("[1]");
  EXPECT_FALSE(in.failed());
  in.skip();
  EXPECT_TRUE(in.finish());
  EXPECT_TRUE(in.error().message.empty());
}

TEST(Reader, reads_names_of_any_length) {
  const auto read = [](const std::string& name, std::string_view colon) {
    const std::string text =
        "{\"" + name + "\"" + std::string(colon) + "1,\"more\":\"of the same\"}";
    Reader in(text);
    std::string_view key;
    const bool found = in.next_member(key) && in.integer() == 1;
    return found ? std::string(key) : "fault at " + std::to_string(in.error().offset);
  };
  for (std::size_t size = 0; size < 50; ++size) {
    const std::string name(size, 'n');
    for (const std::string_view colon : {":", " :", ": "}) EXPECT_EQ(read(name, colon), name);
    for (std::size_t at = 0; at <= size; ++at) {
      EXPECT_EQ(read(std::string(name).insert(at, "\u00e9"), ":"),
                std::string(name).insert(at, "\u00e9"));
      EXPECT_EQ(read(std::string(name).insert(at, "\\n"), ":"), std::string(name).insert(at, "\n"));
      EXPECT_EQ(read(std::string(name).insert(at, "\xff"), ":"),
                "fault at " + std::to_string(at + 2));
    }
  }
}

}  // namespace
}  // namespace callgate::json::reader_test
