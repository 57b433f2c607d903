#include "net/stream.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "net/tls_bio.h"

namespace callgate::net {

namespace {

constexpr std::uint8_t kStreak = 32;
constexpr std::size_t kTlsRecord = 16 * 1024;
// A record is read when all of it is there: while the connection is slow to start, small ones are read sooner.
constexpr std::size_t kFirstRecord = 4 * 1024;
constexpr std::uint32_t kFirstBytes = 64 * 1024;

}  // namespace

void Gather::add(std::string_view bytes) {
  if (bytes.empty()) return;
  CALLGATE_CHECK(count_ < pieces_.size());
  pieces_[count_++] = {const_cast<char*>(bytes.data()), bytes.size()};
}

void Gather::advance(std::size_t bytes) {
  while (bytes > 0) {
    iovec& piece = pieces_[first_];
    const std::size_t taken = std::min(bytes, piece.iov_len);
    piece.iov_base = static_cast<char*>(piece.iov_base) + taken;
    piece.iov_len -= taken;
    bytes -= taken;
    if (piece.iov_len == 0) ++first_;
  }
}

void Stream::start_tls(TlsSession session) {
  tls_ = std::move(session);
  if (tls_) run_on(*tls_, descriptor_);
}

bool Stream::holds_bytes() const { return tls_ && SSL_has_pending(tls_.get()) == 1; }

IoStatus Stream::handshake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(tls_.get());
  return result == 1 ? IoStatus::done : tls_status(result);
}

IoResult Stream::read(std::span<char> buffer) {
  if (closed()) return {IoStatus::failed};
  if (tls_) return read_tls(buffer);
  if (!descriptor_.readable()) return {IoStatus::want_read};
  while (true) {
    const ssize_t got = ::recv(fd(), buffer.data(), buffer.size(), 0);
    if (got > 0) {
      if (static_cast<std::size_t>(got) < buffer.size()) descriptor_.drained();
      return {IoStatus::done, static_cast<std::size_t>(got)};
    }
    if (got == 0) return {IoStatus::end};
    if (is_again(errno)) {
      descriptor_.drained();
      return {IoStatus::want_read};
    }
    if (errno != EINTR) return {IoStatus::failed};
  }
}

IoResult Stream::read_tls(std::span<char> buffer) {
  ERR_clear_error();
  std::size_t got = 0;
  const int result = SSL_read_ex(tls_.get(), buffer.data(), buffer.size(), &got);
  if (result == 1) return {IoStatus::done, got};
  return {tls_status(result)};
}

IoStatus Stream::write(Gather& out) {
  if (closed()) return IoStatus::failed;
  if (tls_) return write_tls(out);
  while (!out.empty()) {
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(out.pieces().data());
    message.msg_iovlen = out.pieces().size();
    const ssize_t sent = ::sendmsg(fd(), &message, MSG_NOSIGNAL);
    if (sent >= 0) {
      out.advance(static_cast<std::size_t>(sent));
    } else if (is_again(errno)) {
      return IoStatus::want_write;
    } else if (errno != EINTR) {
      return IoStatus::failed;
    }
  }
  return IoStatus::done;
}

// TLS takes one piece at a time: small ones are joined into a record. A retry joins the same bytes.
IoStatus Stream::write_tls(Gather& out) {
  std::array<char, kTlsRecord> record;
  while (!out.empty()) {
    const std::size_t most = tls_sent_ < kFirstBytes ? kFirstRecord : record.size();
    std::size_t size = 0;
    for (const iovec& piece : out.pieces()) {
      const std::size_t taken = std::min(piece.iov_len, most - size);
      std::memcpy(record.data() + size, piece.iov_base, taken);
      size += taken;
    }
    ERR_clear_error();
    std::size_t sent = 0;
    const int result = SSL_write_ex(tls_.get(), record.data(), size, &sent);
    if (result != 1) return tls_status(result);
    out.advance(sent);
    if (tls_sent_ < kFirstBytes) tls_sent_ += static_cast<std::uint32_t>(sent);
  }
  return IoStatus::done;
}

TlsTicket Stream::ticket() const {
  TlsTicket ticket(tls_ ? SSL_get1_session(tls_.get()) : nullptr);
  if (ticket && SSL_SESSION_is_resumable(ticket.get()) != 1) ticket.reset();
  return ticket;
}

IoStatus Stream::tls_status(int result) {
  switch (SSL_get_error(tls_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return IoStatus::want_read;
    case SSL_ERROR_WANT_WRITE:
      return IoStatus::want_write;
    case SSL_ERROR_ZERO_RETURN:
      return IoStatus::end;
    default:
      tls_fault_ = tls_error_text(tls_.get());
      // A broken session must not be shut down: OpenSSL forbids it.
      SSL_set_quiet_shutdown(tls_.get(), 1);
      return IoStatus::failed;
  }
}

Descriptor::Wait Stream::wait(IoStatus status, Millis timeout) {
  streak_ = 0;
  return descriptor_.wait(status == IoStatus::want_write ? Direction::write : Direction::read,
                          timeout);
}

void Stream::shut_down_writing() {
  if (closed()) return;
  if (tls_ && SSL_is_init_finished(tls_.get())) SSL_shutdown(tls_.get());
  ::shutdown(fd(), SHUT_WR);
}

void Stream::close() {
  if (closed()) return;
  if (tls_ && SSL_is_init_finished(tls_.get())) SSL_shutdown(tls_.get());
  descriptor_.close();
}

bool Stream::must_yield() {
  if (++streak_ < kStreak) return false;
  streak_ = 0;
  return true;
}

}  // namespace callgate::net
