#include "net/http.h"

#include <gtest/gtest.h>

#include "net/url.h"

namespace callgate::net::http_test {
namespace {

TEST(Headers, finds_names_without_case) {
  const Headers headers{{"Content-Type", "a"}, {"x", ""}, {"content-type", "b"}};
  EXPECT_EQ(headers.find("CONTENT-TYPE"), "a");
  EXPECT_EQ(headers.find("x"), "");
  EXPECT_FALSE(headers.find("y"));
  EXPECT_EQ(headers.count("content-type"), 2u);
  EXPECT_EQ(headers[2].value, "b");
}

TEST(Http, finds_tokens_in_lists) {
  EXPECT_TRUE(has_token("keep-alive, Close", "close"));
  EXPECT_TRUE(has_token("close", "close"));
  EXPECT_FALSE(has_token("closed, not close", "close"));
  EXPECT_FALSE(has_token("", "close"));
}

TEST(Http, writes_dates) { EXPECT_EQ(http_date(784111777), "Sun, 06 Nov 1994 08:49:37 GMT"); }

TEST(Url, parses_targets) {
  const Result<Target> target = parse_url("https://[::1]:8443/v1/");
  ASSERT_TRUE(target);
  EXPECT_TRUE(target->tls);
  EXPECT_EQ(target->host, "::1");
  EXPECT_EQ(target->port, 8443);
  EXPECT_EQ(target->path_prefix, "/v1");
  EXPECT_EQ(to_text(*target), "[::1]:8443");
  EXPECT_EQ(parse_url("http://host")->port, 80);
  EXPECT_EQ(parse_url("https://host")->port, 443);
  EXPECT_EQ(parse_url("unix:/a/b")->unix_path, "/a/b");
}

TEST(Url, refuses_what_is_no_target) {
  for (const char* text :
       {"", "host", "ftp://host", "http://", "http://host:0", "http://host:x", "http://host:70000",
        "http://u:p@host", "http://host/?q", "http://host/#f", "http://ho st", "http://[::1",
        "http://[::1]x", "http://a:1:2", "unix:"}) {
    EXPECT_FALSE(parse_url(text)) << text;
  }
  EXPECT_EQ(parse_url("http://u:secret@host").error().message.find("secret"), std::string::npos);
}

TEST(Url, parses_endpoints) {
  EXPECT_EQ(parse_endpoint("127.0.0.1:8080")->port, 8080);
  EXPECT_EQ(parse_endpoint("[::1]:0")->host, "::1");
  EXPECT_EQ(to_text(*parse_endpoint("[::1]:80")), "[::1]:80");
  EXPECT_EQ(to_text(*parse_endpoint("unix:/run/x")), "unix:/run/x");
  for (const char* text : {"", "8080", "host", ":80", "host:", "host:99999", "unix:"}) {
    EXPECT_FALSE(parse_endpoint(text)) << text;
  }
}

TEST(Http, trims_tokens_and_reads_to_the_end_of_the_list) {
  EXPECT_TRUE(has_token("a,\t b \t,c", "B"));
  EXPECT_TRUE(has_token("a,b,c", "c"));
  EXPECT_FALSE(has_token("a,,", "b"));
  EXPECT_FALSE(has_token("ab", "a"));
}

TEST(Http, sends_only_tokens_and_values_without_control_bytes) {
  const auto sendable = [](std::string_view name, std::string_view value) {
    return is_sendable({name, value});
  };
  EXPECT_TRUE(sendable("azAZ09!#$%&'*+-.^_`|~", " a\tb~\x80\xFF"));
  EXPECT_TRUE(sendable("a", ""));
  EXPECT_FALSE(sendable("", "a"));
  for (const char c : std::string_view("\0 \"(),/:;<=>?@[\\]{}\x7f\x80\xff", 21)) {
    EXPECT_FALSE(sendable(std::string(1, c), "a")) << static_cast<int>(c);
  }
  for (const char c : std::string_view("\0\r\n\x01\x1f\x7f", 6)) {
    EXPECT_FALSE(sendable("a", std::string(1, c))) << static_cast<int>(c);
  }
}

// Blocks of bytes are looked at together: no place in them may be left out.
TEST(Http, looks_at_every_byte_of_texts_of_every_length) {
  for (std::size_t size = 1; size <= 40; ++size) {
    const std::string good(size, 'a');
    for (std::size_t at = 0; at < size; ++at) {
      for (int c = 0; c < 256; ++c) {
        std::string text = good;
        text[at] = static_cast<char>(c);
        const auto single = std::string(1, static_cast<char>(c));
        ASSERT_EQ(is_sendable({text, ""}), is_sendable({single, ""}))
            << size << " " << at << " " << c;
        ASSERT_EQ(is_sendable({"a", text}), is_sendable({"a", single}))
            << size << " " << at << " " << c;
      }
    }
  }
}

TEST(Http, names_statuses) {
  EXPECT_EQ(reason_phrase(200), "OK");
  EXPECT_EQ(reason_phrase(431), "Request Header Fields Too Large");
  EXPECT_EQ(reason_phrase(529), "Overloaded");
  EXPECT_EQ(reason_phrase(299), "Unknown");
}

TEST(Url, knows_the_first_and_the_last_port) {
  EXPECT_EQ(parse_url("http://host:1")->port, 1);
  EXPECT_EQ(parse_url("http://host:65535")->port, 65535);
  EXPECT_FALSE(parse_url("http://host:65536"));
  EXPECT_EQ(parse_endpoint("host:65535")->port, 65535);
  EXPECT_FALSE(parse_endpoint("host:65536"));
  EXPECT_EQ(parse_endpoint("host:0")->port, 0);
}
}  // namespace
}  // namespace callgate::net::http_test
