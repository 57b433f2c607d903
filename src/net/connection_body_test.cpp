#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compress/content_encoder.h"
#include "net/net_testing.h"
#include "net/server.h"

namespace callgate::net::connection_body_test {
namespace {

using compress::Format;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

// Answers with the size of the body and its end, or with what is wrong with it.
Task<> measure(Exchange& exchange) {
  const Result<std::string_view> body = co_await exchange.body(std::size_t{8} << 20);
  if (!body) {
    const Error& error = body.error();
    const int status = error.code == ErrorCode::too_large ? 413 : 400;
    (void)co_await exchange.respond(status, "text/plain", error.message);
    co_return;
  }
  const std::string_view end = body->substr(body->size() - std::min<std::size_t>(4, body->size()));
  const std::string answer = std::to_string(body->size()) + " " + std::string(end);
  (void)co_await exchange.respond(200, "text/plain", answer);
}

std::string ask(ServerThread& server, std::string_view coding, std::string_view body) {
  RawSocket client = RawSocket::connect(server.port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Encoding: " +
              std::string(coding) + "\r\nContent-Length: " + std::to_string(body.size()) +
              "\r\n\r\n" + std::string(body));
  return client.receive_all();
}

// Text that grows less than 400 times.
std::string long_text(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; text.size() < size; ++i) text += std::to_string(i * 2654435761u) + ' ';
  text.resize(size - 4);
  return text + "last";
}

TEST(RequestBody, comes_without_its_content_codings) {
  ServerThread server(measure);
  const std::string text = long_text(3 << 20);
  for (const Format format :
       {Format::gzip, Format::deflate, Format::bare_deflate, Format::br, Format::zstd}) {
    const std::string answer = ask(server, compress::coding_name(format), encode(format, text));
    EXPECT_THAT(answer, EndsWith("\r\n\r\n3145728 last")) << compress::coding_name(format);
  }
  EXPECT_THAT(ask(server, "identity", "abcd"), EndsWith("\r\n\r\n4 abcd"));
  EXPECT_THAT(ask(server, "gzip, br", encode(Format::br, encode(Format::gzip, "abcd"))),
              EndsWith("\r\n\r\n4 abcd"));
  EXPECT_THAT(ask(server, "gzip", ""), EndsWith("\r\n\r\n0 "));
}

TEST(RequestBody, that_cannot_be_decoded_is_refused) {
  ServerThread server(measure);
  const std::string gzip = compress::encode(Format::gzip, "abcd");
  const std::string unknown = ask(server, "snappy", "abcd");
  EXPECT_THAT(unknown, StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(unknown, HasSubstr("the request has content-encoding \"snappy\", expected gzip"));
  const std::string damaged = ask(server, "gzip", "abcd");
  EXPECT_THAT(damaged, StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(damaged, EndsWith("the request's content (content-encoding: gzip) is damaged"));
  EXPECT_THAT(ask(server, "gzip", gzip.substr(0, gzip.size() - 3)), EndsWith("is cut short"));
}

TEST(RequestBody, counts_decoded_against_the_limit) {
  ServerThread server(measure);
  const std::string large = compress::encode(Format::zstd, long_text((8 << 20) + 1));
  EXPECT_LT(large.size(), std::size_t{8} << 20);
  EXPECT_THAT(ask(server, "zstd", large), StartsWith("HTTP/1.1 413 "));
  // What grows beyond measure is refused before it reaches the limit.
  const std::string dense = compress::encode(Format::gzip, std::string(7 << 20, 'x'));
  EXPECT_THAT(ask(server, "gzip", dense), HasSubstr("grows to more than 400 times its size"));
}

TEST(RequestBody, belongs_to_its_request) {
  ServerThread server(measure);
  RawSocket client = RawSocket::connect(server.port());
  const std::string gzip = compress::encode(Format::gzip, "first one");
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nContent-Length: " +
              std::to_string(gzip.size()) + "\r\n\r\n" + gzip);
  EXPECT_THAT(client.receive_until("9  one"), EndsWith("\r\n\r\n9  one"));
  client.send("POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc");
  EXPECT_THAT(client.receive_all(), EndsWith("\r\n\r\n3 abc"));
}

}  // namespace
}  // namespace callgate::net::connection_body_test
