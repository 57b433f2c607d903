// Rooms over WebSocket: the handshake, what a client may say, and what it hears.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gateway/gateway_client_testing.h"

namespace callgate::server::room_socket_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view kUpgrade =
    "Host: localhost\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: "
    "13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

// A frame of a client, masked with zeros.
std::string frame(char opcode, std::string_view payload) {
  std::string out{static_cast<char>(0x80 | opcode)};
  if (payload.size() < 126) {
    out += static_cast<char>(0x80 | payload.size());
  } else {
    out += static_cast<char>(0x80 | 126);
    out += static_cast<char>(payload.size() >> 8);
    out += static_cast<char>(payload.size() & 0xFF);
  }
  return out.append(4, '\0').append(payload);
}
std::string text(std::string_view payload) { return frame(1, payload); }
const std::string kClose = frame(8, "\x03\xE8");

class RoomSocketTest : public testing::Test {
 protected:
  std::string config(std::string_view more = {}) const {
    return std::string(more) + "[[upstream]]\nname = \"a\"\nurl = \"" + server_.url() +
           "\"\n[[model]]\nname = \"m\"\nupstream = \"a\"\nretries = 0\n";
  }
  static std::string join(std::string_view path, std::string_view headers = kUpgrade) {
    return "GET /v1/rooms/" + std::string(path) + " HTTP/1.1\r\n" + std::string(headers) + "\r\n";
  }
  // All that a client hears who says something, waits for these words and leaves.
  std::string talk(TestGateway& gateway, const std::string& said, const std::string& until) {
    std::string heard;
    net::Signal done(loop_);
    std::thread client([&] {
      net::RawSocket socket = net::RawSocket::connect(gateway.target().port);
      socket.send(join("lobby?model=m") + said);
      heard = socket.receive_until(until);
      socket.send(kClose);
      heard += socket.receive_all();
      loop_.post([&] { done.notify(); });
    });
    const auto run = [&]() -> net::Task<> { (void)co_await done.wait(net::Millis(30'000)); };
    gateway.run(run());
    client.join();
    return heard;
  }

  net::Loop loop_;
  FakeServer server_{loop_};
};

TEST_F(RoomSocketTest, says_what_is_wrong_with_a_handshake) {
  TestGateway gateway(loop_, config());
  const std::string plain =
      exchange_raw(gateway, join("lobby", "Host: localhost\r\nConnection: close\r\n"));
  EXPECT_THAT(plain, StartsWith("HTTP/1.1 426 "));
  EXPECT_THAT(plain, HasSubstr("upgrade: websocket\r\n"));
  EXPECT_THAT(plain, HasSubstr("sec-websocket-version: 13\r\n"));
  EXPECT_THAT(plain, HasSubstr("\"type\":\"invalid_request_error\""));
  EXPECT_THAT(plain, HasSubstr("expected `upgrade: websocket` and `connection: upgrade`"));
  const std::string keyless = exchange_raw(
      gateway, join("lobby",
                    "Host: localhost\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n"
                    "Sec-WebSocket-Version: 13\r\n"));
  EXPECT_THAT(keyless, StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(keyless, Not(HasSubstr("sec-websocket-version: 13\r\n")));
}

TEST_F(RoomSocketTest, opens_its_internal_routes_to_nobody_where_it_shares_no_rooms) {
  TestGateway gateway(loop_, config());
  for (const char* path : {"/v1/relay/rooms", "/v1/relay/rooms/lobby?key="}) {
    const std::string answer =
        exchange_raw(gateway, "GET " + std::string(path) +
                                  " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                                  "Authorization: Bearer \r\n\r\n");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 403 ")) << path;
  }
}
TEST_F(RoomSocketTest, lets_nobody_in_while_it_drains) {
  TestGateway gateway(loop_, config());
  gateway.world().draining = true;
  const std::string answer = exchange_raw(gateway, join("lobby"));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(answer, HasSubstr("retry-after: 5\r\n"));
  EXPECT_THAT(answer, HasSubstr("the gateway is shutting down"));
}

TEST_F(RoomSocketTest, lets_no_foreign_page_in) {
  TestGateway gateway(loop_, config());
  const std::string answer = exchange_raw(
      gateway, join("lobby", std::string(kUpgrade) + "Origin: https://evil.example\r\n"));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(answer, HasSubstr("pages of \\\"https://evil.example\\\" may not call this gateway"));
}

TEST_F(RoomSocketTest, says_what_is_wrong_with_the_address_of_a_room) {
  TestGateway gateway(loop_, config());
  const std::pair<std::string, std::string> cases[] = {
      {"a%20b", "room: expected 1 to 128 of [A-Za-z0-9._:-]"},
      {"a?last_seq=x", "last_seq: expected a number"},
      {"a?last_seq=", "last_seq: expected a number"},
      {"a?last_seq=1x", "last_seq: expected a number"},
      {"a?split=words", "split: expected sentences"},
      {"a?token=t", "keys do not belong into URLs"},
      {"a?key=t", "keys do not belong into URLs"},
      {"a?sound=1", "sound: not known; expected model, conversation, last_seq or split"},
      {"a?model=nothing", "nothing"},
  };
  for (const auto& [path, words] : cases) {
    const std::string answer = exchange_raw(gateway, join(path));
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 4")) << path;
    EXPECT_THAT(answer, HasSubstr(words)) << path;
  }
}

TEST_F(RoomSocketTest, takes_the_key_of_a_browser_from_its_subprotocols) {
  TestGateway gateway(loop_, config() + "[[key]]\nname = \"ann\"\nsecret = \"ann/secret\"\n");
  const auto come = [&](std::string_view protocols) {
    return exchange_raw(gateway,
                        join("lobby?model=m", std::string(kUpgrade) + "Sec-WebSocket-Protocol: " +
                                                  std::string(protocols) + "\r\n") +
                            kClose);
  };
  const std::string joined = come("callgate, callgate-key.ann%2Fsecret");
  EXPECT_THAT(joined, StartsWith("HTTP/1.1 101 "));
  EXPECT_THAT(joined, HasSubstr("sec-websocket-protocol: callgate\r\n"));
  EXPECT_THAT(joined, HasSubstr("x-request-id: "));
  EXPECT_THAT(joined, HasSubstr("\"type\":\"snapshot\""));
  EXPECT_THAT(come("callgate-key.ann%2Fsecret"), Not(HasSubstr("sec-websocket-protocol")));
}

TEST_F(RoomSocketTest, answers_what_it_cannot_do_with_an_error) {
  TestGateway gateway(loop_, config());
  const std::pair<std::string, std::string> cases[] = {
      {text(R"({"type":"cancel"})"), "no_running_turn"},
      {text(R"({"type":"inject","text":"x"})"), "no turn is running in this room"},
      {text(R"({"type":"jump"})"), "expected user_message, cancel, inject, approve or deny"},
      {text(R"({"type":"user_message","text":"hi","model":"nothing"})"), "nothing"},
      {text(R"({"type":"user_message","text":"hi","callgate":{"loop":false}})"),
       "callgate.loop: a room always runs the loop"},
      {frame(2, "{}"), "expected a text frame with a JSON object"},
  };
  for (const auto& [said, words] : cases) {
    EXPECT_THAT(talk(gateway, said, words), HasSubstr(R"({"type":"error","error":{)")) << words;
  }
  EXPECT_THAT(talk(gateway, text(R"({"type":"cancel","id":"x1"})"), "no_running_turn"),
              HasSubstr(R"({"type":"error","reply_to":"x1","error":{)"));
  EXPECT_EQ(server_.asked().size(), 0u);
}

TEST_F(RoomSocketTest, runs_a_turn_that_its_log_knows) {
  TestGateway gateway(loop_, config("store.url = \"sqlite::memory:\"\n"));
  server_.then(
      {.pieces = {"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello.\"}}]}\n\n",
                  "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}"
                  "\n\ndata: [DONE]\n\n"}});
  const std::string heard =
      talk(gateway, text(R"({"type":"user_message","text":"hi","id":"q1"})"), "stream_end");
  EXPECT_THAT(heard, HasSubstr("\"reply_to\":\"q1\""));
  EXPECT_THAT(heard, HasSubstr("Hello."));
  ASSERT_EQ(gateway.log().rows().size(), 1u);
  const store::RequestRow& row = gateway.log().rows().front();
  EXPECT_EQ(row.record.protocol, "room");
  EXPECT_EQ(row.record.session, "room:lobby");
  EXPECT_THAT(row.record.id, StartsWith("req_"));
  EXPECT_THAT(row.record.client_address, StartsWith("127.0.0.1"));
  EXPECT_THAT(row.record.received,
              HasSubstr("\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"));
  EXPECT_EQ(row.outcome.bytes_in, static_cast<std::int64_t>(row.record.received.size()));
  EXPECT_THAT(gateway.world().metrics.render(),
              HasSubstr("callgate_requests_total{model=\"m\",status=\"2xx\"} 1\n"));
}

TEST_F(RoomSocketTest, is_counted) {
  TestGateway gateway(loop_, config());
  talk(gateway, "", "snapshot");
  const std::string page = fetch(gateway, "GET", "/metrics").body;
  EXPECT_THAT(page, HasSubstr("\ncallgate_rooms 1\n"));
  EXPECT_THAT(page, HasSubstr("\ncallgate_room_subscribers 0\n"));
  EXPECT_THAT(page, HasSubstr("\ncallgate_room_frames_total "));
  EXPECT_THAT(page, HasSubstr("\ncallgate_room_subscribers_dropped_total "));
}

}  // namespace
}  // namespace callgate::server::room_socket_test
