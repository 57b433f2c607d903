// WebSocket: messages over one upgraded connection. Control frames are answered by themselves. Used on its loop only.
//
//   WebSocket socket(exchange, {});
//   if (!co_await socket.accept({})) co_return;
//   socket.queue(Opcode::text, "hello");
//   (void)co_await socket.flush();
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/memory_budget.h"
#include "callgate/result.h"
#include "net/server.h"
#include "net/websocket_codec.h"

namespace callgate::net {

// What makes a request an opening handshake; else which status it gets and why.
struct HandshakeFault {
  int status = 400;
  std::string_view message;
};
std::optional<HandshakeFault> check_handshake(const RequestHead& head);

class WebSocket {
 public:
  struct Options {
    WebSocketLimits limits;
    bool deflate = true;  // where the client offers it
    Millis close_timeout{2'000};
    // What messages are reserved from, and what waits to be sent; nullptr: nothing limits all of them.
    MemoryBudget* memory = nullptr;
    // A message that has begun must go on: as long as `message_timeout`, and then at so many bytes a second; 0: any.
    Millis message_timeout{30'000};
    std::uint64_t min_message_rate = 0;
  };
  // REQUIRES: the exchange outlives the socket, and check_handshake() found nothing.
  WebSocket(Exchange& exchange, Options options);
  WebSocket(const WebSocket&) = delete;
  WebSocket& operator=(const WebSocket&) = delete;

  // `headers` are added to the answer.
  Task<Result<void>> accept(Headers headers);

  struct Message {
    Opcode opcode = Opcode::text;  // text or binary
    std::string payload;
  };
  // The next message; nothing when `timeout` comes first. Fails when the connection is over: also where there is no memory for
  // the message, or it comes too slowly.
  Task<Result<std::optional<Message>>> read(Millis timeout);

  // Puts a message behind those that wait to be sent.
  void queue(Opcode opcode, std::string_view payload);
  // The same with a message that is a frame already, made by append_frame() or, if deflates(), append_deflated_frame().
  void queue_frame(std::string_view frame);
  void queue_ping() { append_frame(queued_, Opcode::ping, {}); }
  // Goodbye, behind what waits. Nothing is queued after it; read() goes on until the client says so, too.
  void queue_close(std::uint16_t code, std::string_view reason);
  bool deflates() const { return deflated_; }
  // Sends all that is queued. While one flush() runs another one waits for it. REQUIRES: two tasks at most.
  Task<Result<void>> flush();
  // Bytes that wait, and those that are on their way.
  std::size_t backlog() const { return queued_.size() + sending_.size(); }

  // Says goodbye, and waits for the client to do so.
  Task<> close(std::uint16_t code, std::string_view reason);
  // Ends the connection after read() has failed. What the client still sends is passed over for a moment, since a close
  // with bytes unread would take the last frames away from it.
  Task<> leave();
  // Milliseconds of the loop's clock when the client was heard last.
  std::uint64_t heard_at() const { return heard_at_; }

 private:
  void receive(const WebSocketMessage& message);
  void answer_close();
  // Reserves what is held. False: there is no memory for it.
  bool reserve();
  void refuse(std::uint16_t code, std::string_view reason);
  // How long the next bytes may take, at most `timeout`; nothing: a message that has begun has taken too long.
  std::optional<Millis> patience(Millis timeout) const;
  bool is_over() const { return reader_->closed() || reader_->fault() || refused_; }

  Exchange& exchange_;
  Options options_;
  std::optional<WebSocketReader> reader_;
  bool deflated_ = false;
  std::deque<Message> received_;
  std::size_t received_bytes_ = 0;
  std::uint64_t began_at_ = 0;  // the message that has begun; 0: none has
  std::optional<WebSocketFault>
      refused_;  // why the connection ends, where the client wrote nothing wrong
  Reservation memory_;
  std::string queued_;
  std::string sending_;
  bool flushing_ = false;
  Signal flushed_;
  std::uint16_t close_code_ = 0;  // the client's
  bool closing_ = false;          // our close frame is queued or sent
  std::uint64_t heard_at_ = 0;
};

}  // namespace callgate::net
