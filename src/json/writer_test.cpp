#include "json/writer.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "base/utf8.h"
#include "json/reader.h"

namespace callgate::json::writer_test {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  append_escaped(out, text);
  return out;
}

TEST(Writer, escapes_what_json_asks_for_and_nothing_else) {
  EXPECT_EQ(escaped(""), "");
  EXPECT_EQ(escaped("plain / text"), "plain / text");
  EXPECT_EQ(escaped("\"\\"), R"(\"\\)");
  EXPECT_EQ(escaped("\b\f\n\r\t"), R"(\b\f\n\r\t)");
  EXPECT_EQ(escaped(std::string_view("\0\x01\x0B\x1F", 4)), R"(\u0000\u0001\u000b\u001f)");
  EXPECT_EQ(escaped("\x7F\u2028\u2029 é€😀"), "\x7F\u2028\u2029 é€😀");
}

TEST(Writer, finds_a_special_byte_at_every_place_of_every_length) {
  for (std::size_t length = 1; length <= 50; ++length) {
    for (std::size_t place = 0; place < length; ++place) {
      std::string text(length, 'a');
      text[place] = '"';
      const std::string want =
          std::string(place, 'a') + "\\\"" + std::string(length - place - 1, 'a');
      EXPECT_EQ(escaped(text), want);
      text[place] = '\xFF';
      EXPECT_EQ(escaped(text),
                std::string(place, 'a') + "\uFFFD" + std::string(length - place - 1, 'a'));
    }
  }
}

// The rule, one character at a time.
std::string escaped_slowly(std::string_view text) {
  std::string clean;
  utf8::append_sanitized(clean, text);
  std::string out;
  for (const char c : clean) {
    const std::size_t letter = std::string_view("\"\\\b\f\n\r\t").find(c);
    if (letter != std::string_view::npos) {
      out += {'\\', "\"\\bfnrt"[letter]};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char hex[7];
      std::snprintf(hex, sizeof hex, "\\u%04x", static_cast<unsigned>(c));
      out += hex;
    } else {
      out += c;
    }
  }
  return out;
}

TEST(Writer, escapes_random_text_as_the_slow_rule_does) {
  constexpr std::string_view kAlphabet = "aaaaaaaaaaaa\"\"\\\n\x01\xC3\xBC\xE2\x82\xAC\xFF";
  std::mt19937_64 random(7);
  for (int round = 0; round < 3000; ++round) {
    const std::size_t crowd = 1 + random() % kAlphabet.size();
    std::string text(random() % 700, 'x');
    for (char& c : text) {
      if (random() % crowd == 0) c = kAlphabet[random() % kAlphabet.size()];
    }
    EXPECT_EQ(escaped(text), escaped_slowly(text));
  }
}

TEST(Writer, treats_each_byte_value_as_a_reader_expects) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text(3, static_cast<char>(byte));
    std::string json;
    append_string(json, text);
    std::string want;
    utf8::append_sanitized(want, text);
    Reader in(json);
    EXPECT_EQ(in.string(), want) << byte;
    EXPECT_TRUE(in.finish()) << byte;
  }
}

TEST(Writer, replaces_each_maximal_invalid_part_once) {
  EXPECT_EQ(escaped("a\xE2\x82\"z"), "a\uFFFD\\\"z");
  EXPECT_EQ(escaped("\xF0\x9F\x98"), "\uFFFD");
  EXPECT_EQ(escaped("\xC0\xAF\n"), "\uFFFD\uFFFD\\n");
}

TEST(Writer, writes_integers_to_their_limits) {
  std::string out;
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-7}, INT64_MAX, INT64_MIN}) {
    append_integer(out, value);
    out.push_back(' ');
  }
  EXPECT_EQ(out, "0 -7 9223372036854775807 -9223372036854775808 ");
}

TEST(Writer, writes_an_object_member_by_member) {
  std::string out = "data: ";
  ObjectWriter object(out);
  object.string("id", "a\"b");
  object.integer("n", -3);
  object.boolean("yes", true);
  object.boolean("no", false);
  object.null("nothing");
  object.raw("list", "[1]");
  object.raw_escaped("odd\n", "{}");
  object.key("last") += "[]";
  object.close();
  EXPECT_EQ(out, R"(data: {"id":"a\"b","n":-3,"yes":true,"no":false,"nothing":null,"list":[1],)"
                 R"("odd\n":{},"last":[]})");
}

TEST(Writer, writes_an_escaped_name_first_without_a_comma) {
  std::string out;
  ObjectWriter object(out);
  object.raw_escaped("\"", "1");
  object.null("b");
  object.close();
  EXPECT_EQ(out, R"({"\"":1,"b":null})");
}

TEST(Writer, writes_an_empty_object) {
  std::string out;
  ObjectWriter(out).close();
  EXPECT_EQ(out, "{}");
}

TEST(Writer, takes_the_white_space_out_of_a_value_and_nothing_else) {
  std::string out;
  append_compact(
      out, " { \"a b\\\" c\" : [ 1 ,\r\n 12345678901234567890 , 1.50e+3 ] ,\t\"\\\\\":\" \" } ");
  EXPECT_EQ(out, "{\"a b\\\" c\":[1,12345678901234567890,1.50e+3],\"\\\\\":\" \"}");
}

}  // namespace
}  // namespace callgate::json::writer_test
