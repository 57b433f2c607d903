// Stream: bytes over one connected socket, plain or TLS, without blocking.
// Reads and writes try once and say what to wait for; whoever waits holds no buffer meanwhile.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "callgate/result.h"
#include "net/descriptor.h"
#include "net/tls.h"

namespace callgate::net {

// What is still to be sent, in up to five pieces. Borrows them.
class Gather {
 public:
  void add(std::string_view bytes);
  bool empty() const { return first_ == count_; }
  std::span<const iovec> pieces() const { return {pieces_.data() + first_, count_ - first_}; }
  void advance(std::size_t bytes);

 private:
  std::array<iovec, 5> pieces_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

enum class IoStatus : std::uint8_t {
  done,        // at least one byte moved
  want_read,   // wait until readable, then try again
  want_write,  // wait until writable, then try again
  end,         // the peer closed its side in order
  failed,      // reset, or nonsense instead of TLS
};

struct IoResult {
  IoStatus status;
  std::size_t bytes = 0;
};

class Stream {
 public:
  Stream(Loop& loop, int fd) : descriptor_(loop, fd) {}
  // Says goodbye to a TLS peer as far as that needs no waiting.
  ~Stream() { close(); }

  // All later bytes go through `session`.
  void start_tls(TlsSession session);
  bool tls() const { return tls_ != nullptr; }
  // Bytes that came and were not read, though nothing will report them: they are inside OpenSSL.
  bool holds_bytes() const;
  // One step of the handshake: done, want_* or failed.
  IoStatus handshake();
  // What the next handshake with the same server can go on from; nullptr when there is nothing yet.
  TlsTicket ticket() const;
  // Why the last TLS step failed, in words.
  const std::string& tls_fault() const { return tls_fault_; }

  IoResult read(std::span<char> buffer);
  // Sends from the front of `out` and advances it; done when `out` is empty.
  IoStatus write(Gather& out);

  // For a want_* status. REQUIRES: one waiter per direction.
  Descriptor::Wait wait(IoStatus status, Millis timeout);
  void watch(Descriptor::Callback callback, void* context) { descriptor_.watch(callback, context); }
  void unwatch() { descriptor_.unwatch(); }

  // Ends our side only; the peer may go on sending.
  void shut_down_writing();
  void close();
  bool closed() const { return descriptor_.closed(); }
  int fd() const { return descriptor_.fd(); }

  // True every so many calls without a wait: let others run then, with loop.sleep(0).
  bool must_yield();

 private:
  IoResult read_tls(std::span<char> buffer);
  IoStatus write_tls(Gather& out);
  IoStatus tls_status(int result);

  Descriptor descriptor_;
  TlsSession tls_;
  std::string tls_fault_;
  std::uint32_t tls_sent_ = 0;  // bytes, as far as it matters
  std::uint8_t streak_ = 0;
};

}  // namespace callgate::net
