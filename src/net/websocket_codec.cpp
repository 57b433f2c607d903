#include "net/websocket_codec.h"

#include <openssl/sha.h>
#include <zlib.h>

#include <algorithm>
#include <vector>

#include "base/base64.h"
#include "base/check.h"
#include "base/text.h"
#include "base/utf8.h"

namespace callgate::net {
namespace {

constexpr std::size_t kLongestControl = 125;
constexpr std::string_view kTail("\x00\x00\xff\xff", 4);  // what a deflated message leaves out
constexpr std::size_t kShortestDeflated = 256;            // shorter ones gain nothing

bool is_control(Opcode opcode) { return static_cast<std::uint8_t>(opcode) >= 8; }

bool is_known(std::uint8_t opcode) { return opcode <= 2 || (opcode >= 8 && opcode <= 10); }

bool is_valid_close_code(std::uint16_t code) {
  if (code >= 3000 && code <= 4999) return true;
  return code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006;
}

}  // namespace

struct WebSocketReader::Inflater {
  z_stream stream{};
  Inflater() { CALLGATE_CHECK(inflateInit2(&stream, -MAX_WBITS) == Z_OK); }
  ~Inflater() { inflateEnd(&stream); }

  // False: not deflated data. Stops as soon as `out` is longer than `limit`.
  bool run(std::string_view bytes, std::string& out, std::size_t limit) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    std::array<char, 16384> buffer;
    do {
      stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
      stream.avail_out = buffer.size();
      const int status = inflate(&stream, Z_SYNC_FLUSH);
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) return false;
      out.append(buffer.data(), buffer.size() - stream.avail_out);
      if (status == Z_STREAM_END) {
        // A final block may stand within the message: what follows is a new one.
        if (inflateReset(&stream) != Z_OK) return false;
      } else if (status == Z_BUF_ERROR) {
        return true;
      }
    } while (out.size() <= limit && (stream.avail_in > 0 || stream.avail_out == 0));
    return true;
  }
};

WebSocketReader::WebSocketReader(WebSocketLimits limits, bool deflate)
    : limits_(limits), deflate_(deflate) {}
WebSocketReader::~WebSocketReader() = default;
WebSocketReader::WebSocketReader(WebSocketReader&&) noexcept = default;
WebSocketReader& WebSocketReader::operator=(WebSocketReader&&) noexcept = default;

void WebSocketReader::fail(std::uint16_t code, std::string_view reason) {
  fault_ = WebSocketFault{code, reason};
}

std::size_t WebSocketReader::head_size() const {
  if (head_bytes_ < 2) return 2;
  const unsigned length = head_[1] & 0x7F;
  return 2 + (length == 126 ? 2 : length == 127 ? 8 : 0) + 4;
}

void WebSocketReader::push(std::string_view bytes, OnMessage on_message) {
  while (!fault_ && !closed_) {
    if (!in_payload_) {
      if (bytes.empty()) return;
      head_[head_bytes_++] = static_cast<unsigned char>(bytes.front());
      bytes.remove_prefix(1);
      if (head_bytes_ == 2 && (head_[1] & 0x80) == 0) {
        return fail(kCloseProtocolError, "frames of a client must be masked");
      }
      if (head_bytes_ < head_size()) continue;
      begin_frame();
      continue;
    }
    const std::string_view part = bytes.substr(0, left_);
    bytes.remove_prefix(part.size());
    take_payload(part);
    if (fault_) return;
    if (left_ > 0) return;
    end_frame(on_message);
  }
}

void WebSocketReader::begin_frame() {
  const std::uint8_t opcode = head_[0] & 0x0F;
  const bool compressed = (head_[0] & 0x40) != 0;
  final_ = (head_[0] & 0x80) != 0;
  if (!is_known(opcode)) return fail(kCloseProtocolError, "unknown opcode");
  frame_opcode_ = static_cast<Opcode>(opcode);
  const unsigned length = head_[1] & 0x7F;
  std::uint64_t size = length;
  if (length >= 126) {
    const std::size_t digits = length == 126 ? 2 : 8;
    size = 0;
    for (std::size_t i = 0; i < digits; ++i) size = size << 8 | head_[2 + i];
    if ((length == 126 && size < 126) || (length == 127 && size < 65536)) {
      return fail(kCloseProtocolError, "a length is not written in its shortest form");
    }
  }
  const bool starts = frame_opcode_ == Opcode::text || frame_opcode_ == Opcode::binary;
  if ((head_[0] & 0x30) != 0 || (compressed && !(deflate_ && starts))) {
    return fail(kCloseProtocolError, "reserved bits are set");
  }
  if (is_control(frame_opcode_)) {
    if (!final_) return fail(kCloseProtocolError, "a control frame is fragmented");
    if (size > kLongestControl) return fail(kCloseProtocolError, "a control frame is too long");
  } else {
    if (starts == message_opcode_.has_value()) {
      return fail(kCloseProtocolError,
                  starts ? "a message is not finished" : "nothing to continue");
    }
    if (size > limits_.frame) return fail(kCloseTooBig, "a frame is too long");
    if (starts) {
      message_opcode_ = frame_opcode_;
      compressed_ = compressed;
      if (compressed) inflater_ = std::make_unique<Inflater>();
    }
    if (!compressed_ && size > limits_.message - message_.size()) {
      return fail(kCloseTooBig, "a message is too long");
    }
  }
  left_ = static_cast<std::size_t>(size);
  mask_at_ = 0;
  in_payload_ = true;
}

void WebSocketReader::take_payload(std::string_view bytes) {
  if (bytes.empty()) return;
  left_ -= bytes.size();
  const unsigned char* const mask = head_.data() + head_bytes_ - 4;
  std::string plain;
  std::string& into = is_control(frame_opcode_) ? control_ : compressed_ ? plain : message_;
  const std::size_t at = into.size();
  into.append(bytes);
  for (std::size_t i = at; i < into.size(); ++i) {
    into[i] = static_cast<char>(static_cast<unsigned char>(into[i]) ^ mask[mask_at_++ & 3]);
  }
  if (is_control(frame_opcode_)) return;
  if (compressed_ && !inflater_->run(plain, message_, limits_.message)) {
    return fail(kCloseInvalidText, "a message is not deflated data");
  }
  if (message_.size() > limits_.message) return fail(kCloseTooBig, "a message is too long");
  if (message_opcode_ == Opcode::text && !check_text(false)) {
    fail(kCloseInvalidText, "a text is not UTF-8");
  }
}

// Only what is new is looked at, so that a message costs linear time.
bool WebSocketReader::check_text(bool at_end) {
  const std::string_view rest = std::string_view(message_).substr(checked_);
  const std::size_t tail = at_end ? 0 : utf8::incomplete_tail(rest);
  const std::string_view whole = rest.substr(0, rest.size() - tail);
  if (!utf8::is_valid(whole)) return false;
  checked_ += whole.size();
  return true;
}

void WebSocketReader::end_frame(OnMessage on_message) {
  in_payload_ = false;
  head_bytes_ = 0;
  if (is_control(frame_opcode_)) {
    end_control(on_message);
  } else if (final_) {
    end_message(on_message);
  }
}

void WebSocketReader::end_control(OnMessage on_message) {
  WebSocketMessage message{.opcode = frame_opcode_, .payload = control_};
  if (frame_opcode_ == Opcode::close) {
    closed_ = true;
    if (control_.size() == 1) return fail(kCloseProtocolError, "half a close code");
    if (control_.size() >= 2) {
      const auto high = static_cast<unsigned char>(control_[0]);
      const auto low = static_cast<unsigned char>(control_[1]);
      message.close_code = static_cast<std::uint16_t>(high << 8 | low);
      message.payload = std::string_view(control_).substr(2);
      if (!is_valid_close_code(message.close_code)) {
        return fail(kCloseProtocolError, "not a close code");
      }
      if (!utf8::is_valid(message.payload)) {
        return fail(kCloseInvalidText, "a close reason is not UTF-8");
      }
    }
  }
  on_message(message);
  control_.clear();
}

void WebSocketReader::end_message(OnMessage on_message) {
  if (compressed_) {
    if (!inflater_->run(kTail, message_, limits_.message)) {
      return fail(kCloseInvalidText, "a message is not deflated data");
    }
    if (message_.size() > limits_.message) return fail(kCloseTooBig, "a message is too long");
    inflater_.reset();
  }
  if (message_opcode_ == Opcode::text && !check_text(true)) {
    return fail(kCloseInvalidText, "a text is not UTF-8");
  }
  const WebSocketMessage message{.opcode = *message_opcode_, .payload = message_};
  on_message(message);
  message_opcode_.reset();
  compressed_ = false;
  message_.clear();
  checked_ = 0;
}

namespace {

void append_head(std::string& out, std::uint8_t first, std::size_t size) {
  out.push_back(static_cast<char>(first));
  if (size < 126) {
    out.push_back(static_cast<char>(size));
    return;
  }
  const int digits = size < 65536 ? 2 : 8;
  out.push_back(digits == 2 ? 126 : 127);
  for (int i = digits - 1; i >= 0; --i) {
    out.push_back(static_cast<char>(static_cast<std::uint64_t>(size) >> (8 * i) & 0xFF));
  }
}

}  // namespace

void append_frame(std::string& out, Opcode opcode, std::string_view payload) {
  CALLGATE_CHECK(!is_control(opcode) || payload.size() <= kLongestControl);
  append_head(out, static_cast<std::uint8_t>(0x80 | static_cast<std::uint8_t>(opcode)),
              payload.size());
  out.append(payload);
}

void append_deflated_frame(std::string& out, Opcode opcode, std::string_view payload) {
  if (payload.size() < kShortestDeflated) return append_frame(out, opcode, payload);
  z_stream stream{};
  CALLGATE_CHECK(deflateInit2(&stream, 1, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::vector<char> buffer(deflateBound(&stream, payload.size()) + 16);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(payload.data()));
  stream.avail_in = static_cast<uInt>(payload.size());
  stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
  stream.avail_out = static_cast<uInt>(buffer.size());
  const int status = deflate(&stream, Z_SYNC_FLUSH);
  std::string_view deflated(buffer.data(), buffer.size() - stream.avail_out);
  deflateEnd(&stream);
  CALLGATE_CHECK(status == Z_OK && deflated.ends_with(kTail));
  deflated.remove_suffix(kTail.size());
  if (deflated.size() >= payload.size()) return append_frame(out, opcode, payload);
  append_head(out, static_cast<std::uint8_t>(0xC0 | static_cast<std::uint8_t>(opcode)),
              deflated.size());
  out.append(deflated);
}

void append_close_frame(std::string& out, std::uint16_t code, std::string_view reason) {
  std::string payload{static_cast<char>(code >> 8), static_cast<char>(code & 0xFF)};
  reason = reason.substr(0, kLongestControl - 2);
  reason.remove_suffix(utf8::incomplete_tail(reason));
  append_frame(out, Opcode::close, payload.append(reason));
}

std::string accept_key(std::string_view key) {
  const std::string text = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest;
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::string out;
  base64::append_encoded(out, {reinterpret_cast<const char*>(digest.data()), digest.size()});
  return out;
}

namespace {

// Takes the text up to `separator` from the front.
std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = trimmed_value(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

}  // namespace

// A smaller window for our side cannot be promised: what asks for one is passed over.
bool offers_deflate(std::string_view extensions) {
  while (!extensions.empty()) {
    std::string_view offer = take(extensions, ',');
    if (take(offer, ';') != "permessage-deflate") continue;
    bool usable = true;
    while (!offer.empty()) {
      std::string_view parameter = take(offer, ';');
      const std::string_view name = take(parameter, '=');
      usable =
          usable && (name == "client_max_window_bits" || name == "server_no_context_takeover" ||
                     name == "client_no_context_takeover");
    }
    if (usable) return true;
  }
  return false;
}

}  // namespace callgate::net
