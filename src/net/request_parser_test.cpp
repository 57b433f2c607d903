#include "net/request_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callgate::net::request_parser_test {
namespace {

using State = RequestParser::State;

struct Outcome {
  State state = State::head;
  int status = 0;
  std::string body;
  std::size_t taken = 0;
  bool operator==(const Outcome&) const = default;
};

// Pushes `bytes` in pieces of `step`, as far as the first request goes.
Outcome push_in_steps(const HttpLimits& limits, std::string_view bytes, std::size_t step) {
  RequestParser parser(limits);
  Outcome outcome;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, step);
    const std::size_t taken = parser.push(piece);
    outcome.taken += taken;
    if (taken < piece.size()) break;
    bytes.remove_prefix(taken);
  }
  outcome.state = parser.state();
  if (outcome.state == State::failed) {
    outcome.status = parser.fault().status;
    outcome.taken = 0;  // what precedes a fault is of no use to anyone
  } else {
    outcome.body = parser.body();
  }
  return outcome;
}

std::string post(std::string_view headers, std::string_view body) {
  return "POST /v1/x HTTP/1.1\r\nHost: a\r\n" + std::string(headers) + "\r\n" + std::string(body);
}

TEST(RequestParser, reads_a_head_and_a_counted_body) {
  const HttpLimits limits;
  RequestParser parser(limits);
  const std::string bytes =
      "POST /v1/chat/completions?beta=true&x HTTP/1.1\r\nHost: localhost:8080\r\nX-Key:  a b \t\r\n"
      "Content-Length: 4\r\n\r\nbodyGET";
  EXPECT_TRUE(parser.idle());
  EXPECT_EQ(parser.push(bytes), bytes.size() - 3);
  ASSERT_EQ(parser.state(), State::complete);
  EXPECT_EQ(parser.head().method, "POST");
  EXPECT_EQ(parser.head().target, "/v1/chat/completions?beta=true&x");
  EXPECT_EQ(parser.head().path, "/v1/chat/completions");
  EXPECT_EQ(parser.head().query, "beta=true&x");
  EXPECT_EQ(parser.head().headers.find("x-key"), "a b");
  EXPECT_EQ(parser.head().headers.size(), 3u);
  EXPECT_EQ(parser.head().content_length, 4u);
  EXPECT_TRUE(parser.head().keep_alive);
  EXPECT_EQ(parser.body(), "body");
}

TEST(RequestParser, joins_chunks_and_stops_at_the_end_of_the_request) {
  const HttpLimits limits;
  RequestParser parser(limits);
  const std::string bytes =
      post("Transfer-Encoding: Chunked\r\n",
           "2\r\nab\r\n3;name=\"v\"\r\ncde\r\n0\r\nX-Trailer: 1\r\n\r\nGET /");
  EXPECT_EQ(parser.push(bytes), bytes.size() - 5);
  ASSERT_EQ(parser.state(), State::complete);
  EXPECT_EQ(parser.body(), "abcde");
  EXPECT_FALSE(parser.head().headers.find("x-trailer"));
}

TEST(RequestParser, goes_on_with_the_next_request) {
  const HttpLimits limits;
  RequestParser parser(limits);
  std::string bytes = post("Transfer-Encoding: chunked\r\n", "1\r\na\r\n0\r\n\r\n") +
                      post("Content-Length: 1\r\n", "b") + "GET /c HTTP/1.1\r\nHost: a\r\n\r\n";
  std::vector<std::string> seen;
  while (!bytes.empty()) {
    bytes.erase(0, parser.push(bytes));
    ASSERT_EQ(parser.state(), State::complete);
    seen.push_back(std::string(parser.head().path) + parser.body());
    parser.next();
  }
  EXPECT_THAT(seen, testing::ElementsAre("/v1/xa", "/v1/xb", "/c"));
  EXPECT_TRUE(parser.idle());
}

TEST(RequestParser, knows_when_a_connection_is_kept) {
  struct Case {
    std::string_view version, header;
    bool kept;
  };
  for (const Case& c : std::vector<Case>{{"1.1", "", true},
                                         {"1.1", "Connection: close\r\n", false},
                                         {"1.1", "Connection: x, CLOSE\r\n", false},
                                         {"1.0", "", false},
                                         {"1.0", "Connection: Keep-Alive\r\n", true}}) {
    const HttpLimits limits;
    RequestParser parser(limits);
    parser.push("GET / HTTP/" + std::string(c.version) + "\r\nHost: a\r\n" + std::string(c.header) +
                "\r\n");
    ASSERT_EQ(parser.state(), State::complete) << c.header;
    EXPECT_EQ(parser.head().keep_alive, c.kept) << c.version << c.header;
  }
}

TEST(RequestParser, takes_the_path_out_of_an_absolute_target) {
  const HttpLimits limits;
  RequestParser parser(limits);
  parser.push("GET http://host:80/p?q HTTP/1.1\r\nHost: host\r\n\r\n");
  ASSERT_EQ(parser.state(), State::complete);
  EXPECT_EQ(parser.head().path, "/p");
  EXPECT_EQ(parser.head().query, "q");
}

struct Refusal {
  std::string name;
  std::string bytes;
  int status;
};

const std::vector<Refusal>& refusals() {
  static const std::string chunked = "Transfer-Encoding: chunked\r\n";
  static const std::vector<Refusal> rows = {
      {"length_and_coding", post("Content-Length: 3\r\n" + chunked, "0\r\n\r\n"), 400},
      {"coding_and_length", post(chunked + "Content-Length: 3\r\n", "0\r\n\r\n"), 400},
      {"two_lengths", post("Content-Length: 3\r\nContent-Length: 4\r\n", "abcd"), 400},
      {"same_length_twice", post("Content-Length: 3\r\nContent-Length: 3\r\n", "abc"), 400},
      {"length_list", post("Content-Length: 3, 3\r\n", "abc"), 400},
      {"signed_length", post("Content-Length: +3\r\n", "abc"), 400},
      {"negative_length", post("Content-Length: -3\r\n", "abc"), 400},
      {"hex_length", post("Content-Length: 0x3\r\n", "abc"), 400},
      {"empty_length", post("Content-Length:\r\n", "abc"), 400},
      {"spaced_length", post("Content-Length: 3 3\r\n", "abc"), 400},
      {"huge_length", post("Content-Length: 18446744073709551616\r\n", "abc"), 400},
      {"length_beyond_limit", post("Content-Length: 99999999999\r\n", "abc"), 413},
      {"unknown_coding", post("Transfer-Encoding: gzip\r\n", "abc"), 501},
      {"coding_list", post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), 501},
      {"chunked_twice", post("Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n"), 400},
      {"coding_twice", post(chunked + chunked, "0\r\n\r\n"), 400},
      {"vertical_tab_coding",
       post("Transfer-Encoding: \x0b"
            "chunked\r\n",
            "0\r\n\r\n"),
       400},
      {"quoted_coding", post("Transfer-Encoding: \"chunked\"\r\n", "0\r\n\r\n"), 501},
      {"suffixed_coding", post("Transfer-Encoding: chunkedx\r\n", "0\r\n\r\n"), 501},
      {"space_before_colon", post("Content-Length : 3\r\n", "abc"), 400},
      {"tab_before_colon", post("Content-Length\t: 3\r\n", "abc"), 400},
      {"folded_line", post("X-A: b\r\n c\r\n", ""), 400},
      {"fold_after_request_line", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400},
      {"bare_lf_lines", "GET / HTTP/1.1\nHost: a\n\n", 400},
      {"bare_lf_in_header", post("X-A: b\nX-C: d\r\n", ""), 400},
      {"bare_cr_in_header", post("X-A: b\rX-C: d\r\n", ""), 400},
      {"cr_cr_lf", post("X-A: b\r\r\n", ""), 400},
      {"nul_in_value", post(std::string("X-A: b\0c\r\n", 10), ""), 400},
      {"control_byte_in_value", post("X-A: b\x01\r\n", ""), 400},
      {"delete_in_value", post("X-A: b\x7f\r\n", ""), 400},
      {"control_byte_in_name", post("X\x01: b\r\n", ""), 400},
      {"space_in_name", post("X A: b\r\n", ""), 400},
      {"no_colon", post("Nonsense\r\n", ""), 400},
      {"empty_name", post(": b\r\n", ""), 400},
      {"no_host", "GET / HTTP/1.1\r\n\r\n", 400},
      {"two_hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400},
      {"host_with_path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
      {"host_list", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", 400},
      {"http2_preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"http_2", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
      {"http_12", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505},
      {"http_09", "GET /\r\n\r\n", 505},
      {"lower_case_version", "GET / http/1.1\r\nHost: a\r\n\r\n", 400},
      {"unknown_method", "BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"lower_case_method", "get / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"connect", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 501},
      {"tls_hello", std::string("\x16\x03\x01\x02\x00\x01", 6), 400},
      {"target_without_slash", "GET x HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"space_in_target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"control_byte_in_target", "GET /a\x01 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"long_target", "GET /" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n", 414},
      {"endless_target", "GET /" + std::string(100'000, 'a'), 414},
      {"endless_header", post("X-A: " + std::string(100'000, 'a'), ""), 431},
      {"many_headers",
       [] {
         std::string headers;
         for (int i = 0; i < 200; ++i) headers += "X-" + std::to_string(i) + ": b\r\n";
         return post(headers, "");
       }(),
       431},
      {"two_empty_lines_first", "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"other_expectation", post("Expect: 200-ok\r\nContent-Length: 1\r\n", "a"), 417},
      {"coding_in_http_10", "POST / HTTP/1.0\r\n" + chunked + "\r\n0\r\n\r\n", 400},
      {"bad_chunk_size", post(chunked, "xyz\r\n"), 400},
      {"empty_chunk_size", post(chunked, "\r\nab\r\n"), 400},
      {"signed_chunk_size", post(chunked, "+2\r\nab\r\n0\r\n\r\n"), 400},
      {"prefixed_chunk_size", post(chunked, "0x2\r\nab\r\n0\r\n\r\n"), 400},
      {"chunk_size_overflow", post(chunked, "fffffffffffffffff\r\nab\r\n"), 400},
      {"space_before_chunk_size", post(chunked, " 2\r\nab\r\n0\r\n\r\n"), 400},
      {"bare_lf_after_chunk_size", post(chunked, "2\nab\r\n0\r\n\r\n"), 400},
      {"bare_cr_after_chunk_size", post(chunked, "2\rab\r\n0\r\n\r\n"), 400},
      {"bare_lf_in_chunk_extension", post(chunked, "2;a\nb\r\nab\r\n0\r\n\r\n"), 400},
      {"bare_cr_in_chunk_extension", post(chunked, "2;a\rb\r\nab\r\n0\r\n\r\n"), 400},
      {"chunk_longer_than_its_size", post(chunked, "2\r\nabc\r\n0\r\n\r\n"), 400},
      {"bare_lf_after_chunk", post(chunked, "2\r\nab\n0\r\n\r\n"), 400},
      {"bare_lf_after_last_chunk", post(chunked, "2\r\nab\r\n0\n\n"), 400},
      {"bare_lf_in_trailers", post(chunked, "0\r\nX: a\nY: b\r\n\r\n"), 400},
      {"long_chunk_extension", post(chunked, "2;" + std::string(20'000, 'a')), 400},
      {"long_chunk_size", post(chunked, std::string(20'000, '0')), 400},
      {"long_trailers", post(chunked, "0\r\nX: " + std::string(20'000, 'a')), 400},
  };
  return rows;
}

TEST(RequestParser, refuses_what_others_might_read_differently) {
  const HttpLimits limits;
  for (const Refusal& row : refusals()) {
    const Outcome outcome = push_in_steps(limits, row.bytes, row.bytes.size());
    EXPECT_EQ(outcome.state, State::failed) << row.name;
    EXPECT_EQ(outcome.status, row.status) << row.name;
  }
}

TEST(RequestParser, gives_the_same_outcome_for_every_cut) {
  const HttpLimits limits;
  std::vector<std::string> inputs = {
      "\r\n" + post("Content-Length: 4\r\n", "bodyGET"),
      post("Transfer-Encoding: chunked\r\n", "2\r\nab\r\n3;n=\"v\"\r\ncde\r\n0\r\nX: 1\r\n\r\nGET"),
      post("Expect: 100-continue\r\nContent-Length: 2\r\n", "a")};
  for (const Refusal& row : refusals()) inputs.push_back(row.bytes);
  for (const std::string& input : inputs) {
    const Outcome whole = push_in_steps(limits, input, input.size());
    for (const std::size_t step : {1, 2, 3, 7, 64}) {
      EXPECT_EQ(push_in_steps(limits, input, step), whole) << step << " " << input.substr(0, 200);
    }
  }
}

TEST(RequestParser, limits_a_body_that_has_no_length) {
  HttpLimits limits;
  limits.body_bytes = 5;
  const std::string bytes = post("Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n3\r\ndef\r\n");
  EXPECT_EQ(push_in_steps(limits, bytes, bytes.size()).status, 413);
  EXPECT_EQ(push_in_steps(limits, bytes, 1).status, 413);
}

TEST(RequestParser, lowers_the_limit_of_one_request_only) {
  const HttpLimits limits;
  RequestParser parser(limits);
  const std::string bytes = post("Content-Length: 4\r\n", "body");
  parser.push(bytes);
  parser.next();
  parser.push(bytes.substr(0, bytes.size() - 2));
  parser.limit_body(3);
  ASSERT_EQ(parser.state(), State::failed);
  EXPECT_EQ(parser.fault().status, 413);
}

TEST(RequestParser, keeps_no_memory_for_a_length_that_is_only_promised) {
  const HttpLimits limits;
  RequestParser parser(limits);
  parser.push(post("Content-Length: 30000000\r\n", "a"));
  EXPECT_EQ(parser.state(), State::body);
  EXPECT_LE(parser.body().capacity(), 64u * 1024);
}

Outcome push_limited(const HttpLimits& limits, const std::string& bytes) {
  const Outcome whole = push_in_steps(limits, bytes, bytes.size());
  EXPECT_EQ(push_in_steps(limits, bytes, 1), whole);
  return whole;
}

TEST(RequestParser, takes_what_is_as_large_as_its_limits) {
  HttpLimits limits;
  limits.target_bytes = 10;
  const auto target = [&](std::size_t size) {
    return "GET /" + std::string(size - 1, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n";
  };
  EXPECT_EQ(push_limited(limits, target(10)).state, State::complete);
  EXPECT_EQ(push_limited(limits, target(11)).status, 414);

  limits = {};
  limits.header_count = 2;
  EXPECT_EQ(push_limited(limits, "GET / HTTP/1.1\r\nHost: a\r\nB: c\r\n\r\n").state,
            State::complete);
  EXPECT_EQ(push_limited(limits, "GET / HTTP/1.1\r\nHost: a\r\nB: c\r\nD: e\r\n\r\n").status, 431);

  limits = {};
  limits.body_bytes = 4;
  EXPECT_EQ(push_limited(limits, post("Content-Length: 4\r\n", "body")).body, "body");
  EXPECT_EQ(push_limited(limits, post("Content-Length: 5\r\n", "body!")).status, 413);
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  EXPECT_EQ(push_limited(limits, post(chunked, "2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n")).body, "body");
  EXPECT_EQ(push_limited(limits, post(chunked, "2\r\nbo\r\n3\r\ndy!\r\n0\r\n\r\n")).status, 413);
}

TEST(RequestParser, takes_a_head_as_large_as_its_limit) {
  HttpLimits limits;
  const std::string head = "GET / HTTP/1.1\r\nHost: a\r\nB: ";
  limits.head_bytes = head.size() + 10;
  // The line ends of the last line and the head do not count.
  EXPECT_EQ(push_limited(limits, head + std::string(10, 'c') + "\r\n\r\n").state, State::complete);
  EXPECT_EQ(push_limited(limits, head + std::string(11, 'c') + "\r\n\r\n").status, 431);
}

TEST(RequestParser, takes_chunk_extensions_and_trailers_up_to_their_limit) {
  HttpLimits limits;
  limits.chunk_line_bytes = 10;
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  // The first 16 bytes of a line are the size's.
  const auto extended = [&](std::size_t extra) {
    return post(chunked, "2;" + std::string(14 + extra, 'x') + "\r\nab\r\n0\r\n\r\n");
  };
  EXPECT_EQ(push_limited(limits, extended(10)).body, "ab");
  EXPECT_EQ(push_limited(limits, extended(11)).status, 400);
}

TEST(RequestParser, limits_the_body_of_a_request_to_the_byte) {
  const HttpLimits limits;
  for (const std::size_t most : {4u, 3u}) {
    RequestParser parser(limits);
    const std::string bytes = post("Content-Length: 4\r\n", "body");
    parser.push(bytes.substr(0, bytes.size() - 4));
    parser.limit_body(most);
    EXPECT_EQ(parser.state(), most == 4 ? State::body : State::failed);
  }
  for (const std::size_t most : {2u, 1u}) {
    RequestParser parser(limits);
    parser.push(post("Transfer-Encoding: chunked\r\n", "2\r\nab\r\n"));
    parser.limit_body(most);
    EXPECT_EQ(parser.state(), most == 2 ? State::body : State::failed);
  }
}

TEST(RequestParser, forgets_all_of_a_request_when_the_next_begins) {
  const HttpLimits limits;
  RequestParser parser(limits);
  parser.push(
      post("Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n", "1\r\na\r\n0\r\n\r\n"));
  ASSERT_EQ(parser.state(), State::complete);
  EXPECT_TRUE(parser.head().chunked);
  EXPECT_TRUE(parser.head().expects_continue);
  parser.next();
  parser.push("GET /y HTTP/1.1\r\nHost: b\r\n\r\n");
  ASSERT_EQ(parser.state(), State::complete);
  EXPECT_FALSE(parser.head().chunked);
  EXPECT_FALSE(parser.head().expects_continue);
  EXPECT_FALSE(parser.head().content_length);
  EXPECT_EQ(parser.head().headers.size(), 1u);
  EXPECT_EQ(parser.head().query, "");
  EXPECT_EQ(parser.body(), "");
}

TEST(RequestParser, an_old_client_expects_nothing_and_needs_no_host) {
  const HttpLimits limits;
  RequestParser parser(limits);
  parser.push("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n");
  ASSERT_EQ(parser.state(), State::body);
  EXPECT_FALSE(parser.head().expects_continue);
  EXPECT_EQ(parser.head().minor_version, 0);
}

TEST(RequestParser, an_absolute_target_without_a_path_is_the_root) {
  const HttpLimits limits;
  RequestParser parser(limits);
  parser.push("GET http://host HTTP/1.1\r\nHost: host\r\n\r\n");
  ASSERT_EQ(parser.state(), State::complete);
  EXPECT_EQ(parser.head().path, "/");
  parser.next();
  parser.push("OPTIONS * HTTP/1.1\r\nHost: host\r\n\r\n");
  ASSERT_EQ(parser.state(), State::complete);
  EXPECT_EQ(parser.head().path, "*");
}
}  // namespace
}  // namespace callgate::net::request_parser_test
