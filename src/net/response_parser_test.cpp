#include "net/response_parser.h"

#include <gtest/gtest.h>

namespace callgate::net::response_parser_test {
namespace {

using State = ResponseParser::State;

struct Outcome {
  State state = State::head;
  std::string body;
  bool keep_alive = false;
  bool operator==(const Outcome&) const = default;
};

Outcome push_in_steps(std::string bytes, std::size_t step, bool closed = false) {
  ResponseParser parser(4096, 16, false);
  Outcome outcome;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    const std::size_t size = std::min(step, bytes.size() - at);
    outcome.body += parser.push({bytes.data() + at, size});
  }
  if (closed) parser.finish();
  outcome.state = parser.state();
  if (outcome.state == State::complete) outcome.keep_alive = parser.keep_alive();
  return outcome;
}

TEST(ResponseParser, reads_the_sample_for_every_cut) {
  const std::string sample =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
      "e\r\ndata: [DONE]\n\n\r\n5\r\nabcde\r\n0\r\nX: y\r\n\r\n";
  const Outcome expected{State::complete, "data: [DONE]\n\nabcde", true};
  for (std::size_t step = 1; step <= sample.size(); ++step) {
    EXPECT_EQ(push_in_steps(sample, step), expected) << step;
  }
}

TEST(ResponseParser, gives_status_and_headers) {
  ResponseParser parser(4096, 16, false);
  std::string bytes =
      "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 3\r\nContent-Length: 0\r\n\r\n";
  parser.push(bytes);
  EXPECT_EQ(parser.state(), State::complete);
  EXPECT_EQ(parser.status(), 429);
  EXPECT_EQ(parser.headers().find("retry-after"), "3");
}

TEST(ResponseParser, skips_interim_responses) {
  const std::string bytes =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  for (const std::size_t step : {std::size_t{1}, bytes.size()}) {
    EXPECT_EQ(push_in_steps(bytes, step), (Outcome{State::complete, "ok", true}));
  }
}

TEST(ResponseParser, ends_a_body_without_length_at_the_close) {
  const std::string bytes = "HTTP/1.0 200 OK\r\n\r\nsome text";
  EXPECT_EQ(push_in_steps(bytes, 3).state, State::body);
  EXPECT_EQ(push_in_steps(bytes, 3, true), (Outcome{State::complete, "some text", false}));
}

TEST(ResponseParser, calls_a_short_body_truncated) {
  for (const std::string bytes :
       {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        "HTTP/1.1 200 OK\r\nCont"}) {
    EXPECT_EQ(push_in_steps(bytes, 100, true).state, State::failed) << bytes;
  }
}

TEST(ResponseParser, refuses_nonsense) {
  for (const std::string& bytes : std::vector<std::string>{
           "SSH-2.0-OpenSSH\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "HTTP/1.1 200 OK\r\n: x\r\n\r\n",
           "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
           "HTTP/1.1 101 Switching\r\n\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
           "HTTP/1.1 200 OK\r\nX: " + std::string(5000, 'a')}) {
    EXPECT_EQ(push_in_steps(bytes, bytes.size()).state, State::failed) << bytes.substr(0, 80);
    EXPECT_EQ(push_in_steps(bytes, 1).state, State::failed) << bytes.substr(0, 80);
  }
}

TEST(ResponseParser, does_not_reuse_a_connection_with_surplus_bytes) {
  EXPECT_FALSE(push_in_steps("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab", 100).keep_alive);
  EXPECT_FALSE(push_in_steps("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab", 1).keep_alive);
  EXPECT_FALSE(push_in_steps("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nx", 100)
                   .keep_alive);
}

TEST(ResponseParser, expects_no_body_after_head_and_204) {
  ResponseParser parser(4096, 16, true);
  std::string bytes = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n";
  parser.push(bytes);
  EXPECT_EQ(parser.state(), State::complete);
  EXPECT_EQ(push_in_steps("HTTP/1.1 204 No Content\r\n\r\n", 100).state, State::complete);
}

bool keeps(std::string_view version, std::string_view connection) {
  std::string bytes = "HTTP/" + std::string(version) + " 200 OK\r\nContent-Length: 0\r\n";
  if (!connection.empty()) bytes += "Connection: " + std::string(connection) + "\r\n";
  return push_in_steps(bytes + "\r\n", 1000).keep_alive;
}

TEST(ResponseParser, knows_when_a_connection_is_kept) {
  EXPECT_TRUE(keeps("1.1", ""));
  EXPECT_TRUE(keeps("1.1", "keep-alive"));
  EXPECT_TRUE(keeps("1.1", "Keep-Alive, x-closed"));
  EXPECT_FALSE(keeps("1.1", "close"));
  EXPECT_FALSE(keeps("1.1", "x, Close"));
  EXPECT_FALSE(keeps("1.0", ""));
  EXPECT_TRUE(keeps("1.0", "keep-alive"));
  EXPECT_FALSE(keeps("1.0", "close"));
}

Outcome push_limited(std::size_t head_bytes, std::size_t header_count, std::string bytes) {
  ResponseParser parser(head_bytes, header_count, false);
  Outcome outcome;
  outcome.body = parser.push(bytes);
  outcome.state = parser.state();
  return outcome;
}

TEST(ResponseParser, a_head_may_be_as_large_as_the_limits) {
  const std::string head = "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 2\r\n\r\n";
  EXPECT_EQ(push_limited(head.size(), 2, head + "ok"), (Outcome{State::complete, "ok"}));
  EXPECT_EQ(push_limited(head.size() - 1, 2, head + "ok").state, State::failed);
  EXPECT_EQ(push_limited(head.size(), 1, head + "ok").state, State::failed);
}

TEST(ResponseParser, skips_as_many_interim_responses_as_allowed) {
  std::string bytes = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  for (int i = 0; i < 16; ++i) bytes = "HTTP/1.1 100 Continue\r\n\r\n" + bytes;
  EXPECT_EQ(push_in_steps(bytes, bytes.size()).state, State::complete);
  bytes = "HTTP/1.1 100 Continue\r\n\r\n" + bytes;
  EXPECT_EQ(push_in_steps(bytes, bytes.size()).state, State::failed);
}

TEST(ResponseParser, refuses_a_head_with_bare_line_feeds_where_it_ends) {
  const std::string head = "HTTP/1.1 200 OK\nContent-Length: 2\n\n";
  for (const std::size_t step : {1, 2, 3, 1000}) {
    EXPECT_EQ(push_in_steps(head, step).state, State::failed) << step;
    EXPECT_EQ(push_in_steps(head.substr(0, head.size() - 1), step).state, State::head) << step;
  }
}

TEST(ResponseParser, expects_no_body_after_304_either) {
  EXPECT_EQ(push_in_steps("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 100),
            (Outcome{State::complete, "", true}));
}
}  // namespace
}  // namespace callgate::net::response_parser_test
