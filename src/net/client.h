// HttpClient: calls upstreams from one loop, over kept-alive connections.
//   ClientExchange exchange(client, target, timeouts);
//   if (auto sent = co_await exchange.send(request); !sent) ...
//   while (true) { auto bytes = co_await exchange.read(); if (!bytes || bytes->empty()) break; ... }
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "callgate/result.h"
#include "net/http.h"
#include "net/loop.h"
#include "net/task.h"
#include "net/url.h"

namespace callgate::net {

struct Address;

// As Error::upstream_code: the upstream's certificate is at fault, and trying again does not help.
inline constexpr std::string_view kCertificateRefused = "certificate_refused";

struct ClientOptions {
  std::size_t head_bytes = 64 * 1024;  // of a response
  std::size_t header_count = 256;      // of a response
  std::size_t idle_per_target = 128;   // connections kept open
  std::size_t most_connections = 0;    // open at a time, over all targets; 0: no limit
  Millis idle_timeout{60'000};         // then closed
  std::string ca_file;                 // PEM; empty: the system's certificates
  bool insecure = false;               // accept any certificate
  // Asked about every address before it is connected to, after names were resolved. Not given: all may be.
  std::function<bool(const Address&)> may_connect;
};

// kNever: no limit.
struct Timeouts {
  Millis connect{5'000};  // with name resolution
  Millis tls{5'000};
  Millis first_byte{60'000};  // from the sent request to the whole response head
  Millis idle{120'000};       // between two reads, and while the upstream takes no byte
  Millis total{kNever};
};

// Give it a name before the co_await: g++ 12 copies aggregate temporaries in one bitwise.
struct ClientRequest {
  std::string_view method = "POST";
  std::string_view path;  // after the target's prefix: `/chat/completions`
  // `host` and `content-length` are added, and `accept-encoding: identity` where it does not say another.
  Headers headers;
  std::string_view body;
};

// Of a response's body.
struct Piece {
  std::string_view bytes;  // valid until the caller next waits for anything; empty at the end
  bool waiting = false;    // no byte came in time: nothing is wrong, and nothing was read
};

class Pool;

class HttpClient {
 public:
  // A CA file that cannot be read fails the TLS calls, not the constructor.
  HttpClient(Loop& loop, ClientOptions options);
  // REQUIRES: its exchanges are gone.
  ~HttpClient();

  Loop& loop() { return loop_; }
  // Kept-alive connections that wait for work.
  std::size_t idle() const;
  void close_idle();

 private:
  friend class ClientExchange;
  Loop& loop_;
  std::unique_ptr<Pool> pool_;
};

// One request to an upstream and its response. Destroying it gives the connection back when the
// response was read to its end, and closes it otherwise.
class ClientExchange {
 public:
  // Errors begin with `label`, then name the target. REQUIRES: the label outlives the exchange.
  ClientExchange(HttpClient& client, const Target& target, Timeouts timeouts = {},
                 std::string_view label = {});
  ~ClientExchange();
  ClientExchange(const ClientExchange&) = delete;
  ClientExchange& operator=(const ClientExchange&) = delete;

  // Completes with the response head; every status is a success, redirects are not followed.
  // Once only. REQUIRES: `request` and its views stay valid until then.
  // upstream_failed: not reachable, broken, or not HTTP. timed_out: a phase took too long.
  // A reused connection that breaks before any response byte is retried once on a fresh one.
  Task<Result<void>> send(const ClientRequest& request);

  int status() const;
  const Headers& headers() const;
  // True when the request went over a kept-alive connection.
  bool reused() const;

  // The next body bytes, without chunk framing and content codings; empty at the end. A body that is truncated, or
  // encoded in a way that cannot be undone, is an Error. The view is valid until the caller next waits for anything.
  Task<Result<std::string_view>> read();
  // The same, but says so when no byte came within `patience`; reading may go on. The upstream's idle timeout runs through
  // such pauses.
  Task<Result<Piece>> read(Millis patience);
  // True when the whole response was read.
  bool ended() const;
  // The rest of the body, at most `limit` bytes; more is an Error.
  Task<Result<std::string>> read_all(std::size_t limit);

  // Closes the connection now. A waiting send() or read() fails soon after, never inside cancel().
  void cancel();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace callgate::net
