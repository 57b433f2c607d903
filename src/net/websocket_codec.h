// WebSocket frames as RFC 6455 and RFC 7692 write them, without sockets. A masked frame that says "Hi":
//   81 82  37 fa 21 3d  7f 93
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/function_ref.h"

namespace callgate::net {

enum class Opcode : std::uint8_t {
  continuation = 0,
  text = 1,
  binary = 2,
  close = 8,
  ping = 9,
  pong = 10,
};

// Codes of close frames that callgate sends.
inline constexpr std::uint16_t kCloseNormal = 1000;
inline constexpr std::uint16_t kCloseGoingAway = 1001;
inline constexpr std::uint16_t kCloseProtocolError = 1002;
inline constexpr std::uint16_t kCloseInvalidText = 1007;
inline constexpr std::uint16_t kClosePolicy = 1008;
inline constexpr std::uint16_t kCloseTooBig = 1009;
inline constexpr std::uint16_t kCloseTryAgainLater = 1013;

struct WebSocketLimits {
  std::size_t frame = std::size_t{1} << 20;
  std::size_t message = std::size_t{4} << 20;  // also after it is inflated
};

// A whole message, or a control frame. Valid during the call that gives it.
struct WebSocketMessage {
  Opcode opcode = Opcode::text;
  std::string_view payload;
  std::uint16_t close_code = 0;  // of a close frame; 0: it has none
};

struct WebSocketFault {
  std::uint16_t code = kCloseProtocolError;  // to close with
  std::string_view reason;
};

// Reads what a client sends, cut anywhere.
class WebSocketReader {
 public:
  // `deflate`: permessage-deflate was agreed on, without context takeover.
  WebSocketReader(WebSocketLimits limits, bool deflate);
  ~WebSocketReader();
  WebSocketReader(WebSocketReader&&) noexcept;
  WebSocketReader& operator=(WebSocketReader&&) noexcept;

  using OnMessage = FunctionRef<void(const WebSocketMessage&)>;
  // Bytes behind a fault or a close frame are left alone.
  void push(std::string_view bytes, OnMessage on_message);
  const std::optional<WebSocketFault>& fault() const { return fault_; }
  bool closed() const { return closed_; }
  // Bytes of a message that has begun and not ended.
  std::size_t unfinished() const { return message_.size(); }
  bool in_message() const { return message_opcode_.has_value() || in_payload_ || head_bytes_ > 0; }

 private:
  struct Inflater;

  void fail(std::uint16_t code, std::string_view reason);
  // Bytes of the head that the ones so far ask for.
  std::size_t head_size() const;
  void begin_frame();
  void take_payload(std::string_view bytes);
  void end_frame(OnMessage on_message);
  void end_control(OnMessage on_message);
  void end_message(OnMessage on_message);
  bool check_text(bool at_end);

  WebSocketLimits limits_;
  bool deflate_ = false;
  std::unique_ptr<Inflater> inflater_;

  std::array<unsigned char, 14> head_{};
  std::size_t head_bytes_ = 0;
  std::size_t left_ = 0;     // of the frame's payload
  std::size_t mask_at_ = 0;  // position within the mask
  bool in_payload_ = false;
  bool final_ = false;
  Opcode frame_opcode_ = Opcode::text;

  std::optional<Opcode> message_opcode_;  // of the message in progress
  bool compressed_ = false;
  std::string message_;
  std::size_t checked_ = 0;  // bytes of text that are known to be UTF-8
  std::string control_;

  std::optional<WebSocketFault> fault_;
  bool closed_ = false;
};

// Appends one frame, not masked, as servers write them.
void append_frame(std::string& out, Opcode opcode, std::string_view payload);
// Appends a data message deflated, where that makes it shorter.
void append_deflated_frame(std::string& out, Opcode opcode, std::string_view payload);
void append_close_frame(std::string& out, std::uint16_t code, std::string_view reason);

// The answer to a Sec-WebSocket-Key.
std::string accept_key(std::string_view key);

// Whether a Sec-WebSocket-Extensions header offers permessage-deflate in a form that callgate takes.
bool offers_deflate(std::string_view extensions);

}  // namespace callgate::net
