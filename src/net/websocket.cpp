#include "net/websocket.h"

#include "base/base64.h"

namespace callgate::net {
namespace {

tl::unexpected<Error> over() { return fail(ErrorCode::unavailable, "the WebSocket is closed"); }

}  // namespace

std::optional<HandshakeFault> check_handshake(const RequestHead& head) {
  const auto value = [&](std::string_view name) { return head.headers.find(name).value_or(""); };
  if (head.method != "GET" || head.minor_version == 0) {
    return HandshakeFault{400, "a WebSocket begins with GET and HTTP/1.1"};
  }
  if (!has_token(value("upgrade"), "websocket") || !has_token(value("connection"), "upgrade")) {
    return HandshakeFault{426, "expected `upgrade: websocket` and `connection: upgrade`"};
  }
  if (value("sec-websocket-version") != "13") {
    return HandshakeFault{426, "expected `sec-websocket-version: 13`"};
  }
  const std::optional<std::string> key = base64::decode(value("sec-websocket-key"));
  if (!key || key->size() != 16 || head.headers.count("sec-websocket-key") != 1) {
    return HandshakeFault{400, "expected one `sec-websocket-key` of 16 bytes in base64"};
  }
  if (head.chunked || head.content_length.value_or(0) > 0) {
    return HandshakeFault{400, "a WebSocket begins without a body"};
  }
  return std::nullopt;
}

WebSocket::WebSocket(Exchange& exchange, Options options)
    : exchange_(exchange),
      options_(options),
      memory_(options.memory, MemoryUse::need),
      flushed_(exchange.loop()) {}

Task<Result<void>> WebSocket::accept(Headers headers) {
  const Headers& asked = exchange_.head().headers;
  deflated_ =
      options_.deflate && offers_deflate(asked.find("sec-websocket-extensions").value_or(""));
  headers.add("upgrade", "websocket");
  headers.add("sec-websocket-accept", accept_key(asked.find("sec-websocket-key").value_or("")));
  if (deflated_) {
    headers.add("sec-websocket-extensions",
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover");
  }
  reader_.emplace(options_.limits, deflated_);
  heard_at_ = exchange_.loop().now();
  co_return co_await exchange_.upgrade(headers);
}

Task<Result<std::optional<WebSocket::Message>>> WebSocket::read(Millis timeout) {
  while (received_.empty()) {
    if (is_over()) {
      answer_close();
      (void)co_await flush();
      co_return over();
    }
    const std::optional<Millis> wait = patience(timeout);
    if (!wait) {
      refuse(kClosePolicy, "a message arrives too slowly");
      continue;
    }
    auto bytes = co_await exchange_.read(*wait);
    if (!bytes) co_return tl::unexpected(bytes.error());
    if (!*bytes) {
      if (*wait == timeout) co_return std::nullopt;
      continue;
    }
    if ((*bytes)->empty()) co_return over();
    heard_at_ = exchange_.loop().now();
    reader_->push(**bytes, [this](const WebSocketMessage& message) { receive(message); });
    if (!reader_->in_message()) {
      began_at_ = 0;
    } else if (began_at_ == 0) {
      began_at_ = heard_at_;
    }
    if (!reserve()) {
      refuse(kCloseTryAgainLater, "the gateway has no memory for this message now");
    }
    if (!queued_.empty()) {
      auto sent = co_await flush();
      if (!sent) co_return tl::unexpected(sent.error());
    }
  }
  Message message = std::move(received_.front());
  received_.pop_front();
  received_bytes_ -= message.payload.size();
  (void)reserve();
  co_return std::optional<Message>(std::move(message));
}

// A little is part of what a connection costs: who sends it should not be closed because of others.
bool WebSocket::reserve() {
  constexpr std::size_t kLittle = 16 << 10;
  const std::size_t held = received_bytes_ + reader_->unfinished() + backlog();
  return memory_.fit(held > kLittle ? held : 0);
}

// What has come is let go at once.
void WebSocket::refuse(std::uint16_t code, std::string_view reason) {
  refused_ = WebSocketFault{code, reason};
  reader_.emplace(options_.limits, deflated_);
  received_.clear();
  received_bytes_ = 0;
  (void)reserve();
}

std::optional<Millis> WebSocket::patience(Millis timeout) const {
  if (began_at_ == 0 || options_.min_message_rate == 0) return timeout;
  const std::uint64_t earned = reader_->unfinished() * 1000 / options_.min_message_rate;
  const auto first = static_cast<std::uint64_t>(options_.message_timeout.count());
  const std::uint64_t limit = began_at_ + first + earned;
  const std::uint64_t now = exchange_.loop().now();
  if (now >= limit) return std::nullopt;
  const Millis left(limit - now);
  return timeout == kNever ? left : std::min(timeout, left);
}

void WebSocket::receive(const WebSocketMessage& message) {
  switch (message.opcode) {
    case Opcode::text:
    case Opcode::binary:
      received_.push_back({message.opcode, std::string(message.payload)});
      received_bytes_ += message.payload.size();
      began_at_ = 0;
      return;
    case Opcode::ping:
      if (!closing_) append_frame(queued_, Opcode::pong, message.payload);
      return;
    case Opcode::close:
      close_code_ = message.close_code;
      return;
    case Opcode::pong:
    case Opcode::continuation:
      return;
  }
}

// What came before the client's close is answered first.
void WebSocket::answer_close() {
  if (std::exchange(closing_, true)) return;
  const std::optional<WebSocketFault>& fault = refused_ ? refused_ : reader_->fault();
  if (fault) {
    append_close_frame(queued_, fault->code, fault->reason);
  } else if (close_code_ == 0) {
    append_frame(queued_, Opcode::close, {});
  } else {
    append_close_frame(queued_, close_code_, {});
  }
}

void WebSocket::queue(Opcode opcode, std::string_view payload) {
  if (closing_) return;
  if (deflated_) {
    append_deflated_frame(queued_, opcode, payload);
  } else {
    append_frame(queued_, opcode, payload);
  }
}

void WebSocket::queue_frame(std::string_view frame) {
  if (!closing_) queued_.append(frame);
}

void WebSocket::queue_close(std::uint16_t code, std::string_view reason) {
  if (std::exchange(closing_, true)) return;
  append_close_frame(queued_, code, reason);
}

Task<Result<void>> WebSocket::flush() {
  while (flushing_) (void)co_await flushed_.wait();
  flushing_ = true;
  Result<void> sent;
  while (!queued_.empty() && sent) {
    sending_.clear();
    sending_.swap(queued_);
    sent = co_await exchange_.write(sending_);
  }
  sending_.clear();
  flushing_ = false;
  flushed_.notify();
  co_return sent;
}

Task<> WebSocket::leave() {
  constexpr Millis kSilence{50};
  const std::uint64_t limit =
      exchange_.loop().now() + static_cast<std::uint64_t>(options_.close_timeout.count());
  while ((reader_->fault() || refused_) && exchange_.loop().now() < limit) {
    auto bytes = co_await exchange_.read(kSilence);
    if (!bytes || !*bytes || (*bytes)->empty()) break;
  }
  (void)co_await exchange_.end({});
}

Task<> WebSocket::close(std::uint16_t code, std::string_view reason) {
  queue_close(code, reason);
  Result<void> sent = co_await flush();
  const std::uint64_t limit =
      exchange_.loop().now() + static_cast<std::uint64_t>(options_.close_timeout.count());
  while (sent && !reader_->closed() && !reader_->fault() && exchange_.loop().now() < limit) {
    auto bytes = co_await exchange_.read(options_.close_timeout);
    if (!bytes || !*bytes || (*bytes)->empty()) break;
    reader_->push(**bytes, [](const WebSocketMessage&) {});
  }
  (void)co_await exchange_.end({});
}

}  // namespace callgate::net
