#include "net/websocket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "net/net_testing.h"

namespace callgate::net::websocket_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kOpening =
    "GET /room HTTP/1.1\r\nHost: a\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

std::string masked(std::uint8_t first, std::string_view payload) {
  std::string frame{static_cast<char>(first), static_cast<char>(0x80 | payload.size())};
  frame.append("\0\0\0\0", 4);
  return frame.append(payload);
}

// Sends every message back; says goodbye when asked to.
Task<> echo(Exchange& exchange) {
  if (const auto fault = check_handshake(exchange.head()); fault) {
    (void)co_await exchange.respond(fault->status, "text/plain", fault->message);
    co_return;
  }
  WebSocket socket(exchange, {});
  Headers headers;
  headers.add("x-room", "1");
  auto accepted = co_await socket.accept(std::move(headers));
  if (!accepted) co_return;
  for (;;) {
    auto message = co_await socket.read(Millis(5000));
    if (!message) break;
    if (!*message || (*message)->payload == "bye") {
      co_await socket.close(kCloseGoingAway, "bye");
      co_return;
    }
    socket.queue((*message)->opcode, (*message)->payload);
    auto sent = co_await socket.flush();
    if (!sent) break;
  }
  (void)co_await exchange.end({});
}

class Client {
 public:
  explicit Client(const ServerThread& server) : socket_(RawSocket::connect(server.port())) {}
  std::string exchange(std::string_view bytes) {
    socket_.send(bytes);
    return socket_.receive_all();
  }

 private:
  RawSocket socket_;
};

std::string_view body_of(const std::string& answer) {
  return std::string_view(answer).substr(answer.find("\r\n\r\n") + 4);
}

TEST(WebSocket, opens_echoes_and_closes) {
  ServerThread server(echo);
  const std::string answer =
      Client(server).exchange(std::string(kOpening) + masked(0x81, "one") + masked(0x89, "p") +
                              masked(0x01, "t") + masked(0x80, "wo") + masked(0x88, "\x03\xE8"));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 101 Switching Protocols\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nconnection: upgrade\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nx-room: 1\r\n"));
  const std::string_view body = body_of(answer);
  EXPECT_THAT(body, HasSubstr("\x81\x03one"));
  EXPECT_THAT(body, HasSubstr("\x8A\x01p"));
  EXPECT_TRUE(body.ends_with("\x81\x03two\x88\x02\x03\xE8")) << testing::PrintToString(body);
}

TEST(WebSocket, says_why_it_closes) {
  ServerThread server(echo);
  const std::string answer = Client(server).exchange(std::string(kOpening) + masked(0x83, "x"));
  EXPECT_THAT(std::string(body_of(answer)), StartsWith("\x88\x10\x03\xEAunknown opcode"));
  const std::string bye =
      Client(server).exchange(std::string(kOpening) + masked(0x81, "bye") + masked(0x88, ""));
  EXPECT_THAT(std::string(body_of(bye)), StartsWith("\x88\x05\x03\xE9"
                                                    "bye"));
}

TEST(WebSocket, refuses_what_is_no_handshake) {
  ServerThread server(echo);
  struct Case {
    std::string_view part;
    std::string_view instead;
    std::string_view status;
  };
  for (const Case& each :
       {Case{"Upgrade: WebSocket", "X: y", "426"}, Case{"keep-alive, Upgrade", "keep-alive", "426"},
        Case{"Version: 13", "Version: 8", "426"}, Case{"GET", "POST", "400"},
        Case{"dGhlIHNhbXBsZSBub25jZQ==", "c2hvcnQ=", "400"}}) {
    std::string request(kOpening);
    request.replace(request.find(each.part), each.part.size(), each.instead);
    request.insert(request.size() - 2, "Content-Length: 0\r\n");
    RawSocket socket = RawSocket::connect(server.port());
    socket.send(request);
    EXPECT_THAT(socket.receive_until("\r\n\r\n"),
                StartsWith("HTTP/1.1 " + std::string(each.status)))
        << each.part;
  }
}

std::string with_deflate() {
  std::string opening(kOpening);
  opening.insert(opening.size() - 2, "Sec-WebSocket-Extensions: permessage-deflate\r\n");
  return opening;
}

TEST(WebSocket, sends_and_reads_deflated_messages_to_a_client_that_offers_it) {
  ServerThread server(echo);
  const std::string text(500, 'a');
  std::string frame;
  append_deflated_frame(frame, Opcode::text, text);
  ASSERT_LT(frame.size(), 120u);
  const std::string answer =
      Client(server).exchange(with_deflate() + masked(0xC1, std::string_view(frame).substr(2)) +
                              masked(0x81, "plain") + masked(0x88, ""));
  EXPECT_THAT(answer, HasSubstr("\r\nsec-websocket-extensions: permessage-deflate; "
                                "server_no_context_takeover; client_no_context_takeover\r\n"));
  std::string expected = frame;
  append_deflated_frame(expected, Opcode::text, "plain");
  append_frame(expected, Opcode::close, {});
  EXPECT_EQ(body_of(answer), expected);
}

TEST(WebSocket, deflates_for_nobody_when_it_is_told_not_to) {
  ServerThread server([](Exchange& exchange) -> Task<> {
    WebSocket socket(exchange, {.deflate = false});
    auto accepted = co_await socket.accept({});
    EXPECT_TRUE(accepted);
    EXPECT_FALSE(socket.deflates());
    socket.queue(Opcode::binary, "x");
    co_await socket.close(kCloseNormal, "");
  });
  const std::string answer = Client(server).exchange(with_deflate() + masked(0x88, ""));
  EXPECT_EQ(answer.find("extensions"), std::string::npos);
  EXPECT_THAT(std::string(body_of(answer)), StartsWith("\x82\x01x\x88\x02\x03\xE8"));
}

TEST(WebSocket, a_reset_ends_a_read_at_once) {
  std::promise<bool> read;
  ServerThread server([&](Exchange& exchange) -> Task<> {
    WebSocket socket(exchange, {});
    (void)co_await socket.accept({});
    const auto message = co_await socket.read(Millis(60'000));
    read.set_value(message.has_value());
  });
  RawSocket client = RawSocket::connect(server.port());
  client.send(kOpening);
  client.receive_until("\r\n\r\n");
  client.reset();
  std::future<bool> result = read.get_future();
  ASSERT_EQ(result.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  EXPECT_FALSE(result.get());
}

TEST(WebSocket, a_read_gives_nothing_when_its_time_is_over) {
  std::promise<bool> nothing;
  ServerThread server([&](Exchange& exchange) -> Task<> {
    WebSocket socket(exchange, {});
    (void)co_await socket.accept({});
    const auto message = co_await socket.read(Millis(1));
    nothing.set_value(message && !*message);
  });
  RawSocket client = RawSocket::connect(server.port());
  client.send(kOpening);
  EXPECT_TRUE(nothing.get_future().get());
}

TEST(WebSocket, queues_nothing_after_its_close_frame) {
  ServerThread server([](Exchange& exchange) -> Task<> {
    WebSocket socket(exchange, {});
    (void)co_await socket.accept({});
    socket.queue(Opcode::text, "a");
    socket.queue_close(kCloseTryAgainLater, "slow");
    socket.queue_close(kCloseNormal, "");
    socket.queue(Opcode::text, "b");
    socket.queue_frame("c");
    EXPECT_EQ(socket.backlog(), 3u + 8u);
    (void)co_await socket.flush();
    EXPECT_EQ(socket.backlog(), 0u);
    const auto over = co_await socket.read(Millis(5000));
    EXPECT_FALSE(over);
    co_await socket.leave();
  });
  const std::string answer =
      Client(server).exchange(std::string(kOpening) + masked(0x89, "p") + masked(0x88, ""));
  EXPECT_EQ(body_of(answer),
            "\x81\x01"
            "a\x88\x06\x03\xF5slow");
}
// The beginning of a text message of `size` bytes: what follows it is its content.
std::string begun(std::uint16_t size) {
  std::string head{'\x81', '\xFE', static_cast<char>(size >> 8), static_cast<char>(size & 0xFF)};
  return head.append("\0\0\0\0", 4);
}

TEST(WebSocket, takes_no_more_than_there_is_memory_for) {
  MemoryBudget budget(32 << 10);
  ServerThread server([&budget](Exchange& exchange) -> Task<> {
    WebSocket socket(exchange, {.memory = &budget});
    auto accepted = co_await socket.accept({});
    if (!accepted) co_return;
    auto message = co_await socket.read(Millis(5000));
    EXPECT_FALSE(message);
    EXPECT_EQ(budget.used(), 0u);
    co_await socket.leave();
  });
  const std::string bytes = std::string(kOpening) + begun(65'000) + std::string(65'000, 'x');
  const std::string answer = Client(server).exchange(bytes);
  EXPECT_THAT(answer, HasSubstr("\x03\xF5"
                                "the gateway has no memory"));
}

TEST(WebSocket, reserves_what_has_come_of_a_message) {
  MemoryBudget budget(1 << 20);
  std::promise<std::uint64_t> held;
  ServerThread server([&](Exchange& exchange) -> Task<> {
    WebSocket socket(exchange, {.memory = &budget});
    auto accepted = co_await socket.accept({});
    if (!accepted) co_return;
    auto message = co_await socket.read(Millis(1000));
    EXPECT_TRUE(message && !*message) << "half a message is none";
    held.set_value(budget.used());
  });
  RawSocket socket = RawSocket::connect(server.port());
  socket.send(std::string(kOpening) + begun(60'000) + std::string(50'000, 'x'));
  EXPECT_GE(held.get_future().get(), 50'000u);
}

TEST(WebSocket, closes_when_a_message_drips) {
  ServerThread server([](Exchange& exchange) -> Task<> {
    WebSocket socket(exchange, {.message_timeout = Millis(200), .min_message_rate = 1000});
    auto accepted = co_await socket.accept({});
    if (!accepted) co_return;
    auto message = co_await socket.read(kNever);
    EXPECT_FALSE(message);
    co_await socket.leave();
  });
  RawSocket socket = RawSocket::connect(server.port());
  socket.send(std::string(kOpening) + begun(1000) + "x");
  const std::string answer = socket.receive_all();
  EXPECT_THAT(answer, HasSubstr("\x03\xF0"
                                "a message arrives too slowly"));
}

}  // namespace
}  // namespace callgate::net::websocket_test
