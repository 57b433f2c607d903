// HttpServer: accepts connections on one loop and answers each request with a task.
// Serving on several loops takes one server per loop; see listen_like().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_budget.h"
#include "callgate/result.h"
#include "net/http.h"
#include "net/loop.h"
#include "net/task.h"
#include "net/tls.h"
#include "net/url.h"

namespace callgate::net {

class Connection;
class Listener;
struct Address;

struct TlsFiles {
  std::string certificate;  // PEM chain, leaf first
  std::string key;          // PEM
};

struct ServerOptions {
  HttpLimits limits;
  Millis head_timeout{
      10'000};  // from the first byte of a request (or the accept) to its last header
  Millis body_idle_timeout{30'000};  // between two reads of a body
  std::uint64_t min_body_rate = 0;   // bytes per second on average, after body_idle_timeout; 0: any
  Millis keep_alive_timeout{75'000};   // between two requests
  Millis write_stall_timeout{60'000};  // while the client takes no byte at all
  // A refused client that writes before it reads may go on sending for so long, and so much of it is thrown away.
  Millis linger_timeout{10'000};
  std::size_t linger_bytes = std::size_t{256} << 20;
  std::size_t held_back_bytes =
      64 * 1024;  // pipelined bytes read ahead while a request is answered
  MemoryBudget* memory =
      nullptr;  // what bodies are reserved from; nullptr: nothing limits all of them
  // Open connections of all servers that share the counter; beyond the limit (0: none) new ones are closed at once.
  std::atomic<std::int64_t>* open_connections = nullptr;
  std::int64_t max_connections = 0;
  // The body of an answer that the server gives by itself (400, 413, 500, ...), as JSON; its headers are added to `headers`.
  // `path` is that of the request, empty where its head could not be read.
  std::function<std::string(int status, std::string_view message, std::string_view path,
                            Headers& headers)>
      error_body;
  // Receives what went wrong without a caller to tell: a throwing task, a failed accept.
  std::function<void(std::string_view)> log;
};

// One request and its answer. Lives while the answering task runs.
// Either respond() once, or start(), any number of write(), and end().
// Every write completes when the kernel took the bytes: awaiting it is the back-pressure.
// A write that fails (client gone, stalled) gives ErrorCode::unavailable or timed_out.
class Exchange {
 public:
  explicit Exchange(Connection& connection) : connection_(connection) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  const RequestHead& head() const;
  // `127.0.0.1:51234`, or `unix`.
  const std::string& peer() const;
  // Without the port: `127.0.0.1`, `2001:db8::1`, or `unix`.
  std::string_view peer_host() const;
  // Over TLS.
  bool secure() const;
  Loop& loop() const;

  // The whole request body. More than `limit` bytes (0: the server's limit) is too_large; the
  // connection then closes after the answer. One that stops arriving is timed_out, with status 408. Without memory for it, it
  // is unavailable.
  // The view is valid until drop_body().
  Task<Result<std::string_view>> body(std::size_t limit = 0);
  // Whether body() will not have to wait.
  bool has_whole_body() const;
  // Frees the body's memory, for answers that stream for long.
  void drop_body();

  // The whole answer in one send. `content-length`, `date`, `server` and `connection` are added.
  Task<Result<void>> respond(int status, const Headers& headers, std::string_view body);
  Task<Result<void>> respond(int status, std::string_view content_type, std::string_view body);

  // Begins an answer of unknown length: chunked, or until the close for HTTP/1.0.
  // The head is held back and leaves together with the first write(), flush() or end().
  void start(int status, const Headers& headers);
  Task<Result<void>> flush();
  // REQUIRES: `bytes` stay valid until the task ends. Empty is a flush().
  Task<Result<void>> write(std::string_view bytes);
  // Sends `last` (may be empty) and the end of the answer at once.
  Task<Result<void>> end(std::string_view last = {});

  // Leaves HTTP with a 101 and these headers. From then on write() and end() send bytes as they are, and read() gives
  // what the client sends: empty when it closed, nothing when `timeout` comes first. The view is valid until the next
  // wait. REQUIRES: the request has no body.
  Task<Result<void>> upgrade(const Headers& headers);
  Task<Result<std::optional<std::string_view>>> read(Millis timeout);

  bool started() const;

  // Breaks the connection instead of ending the answer: the client sees a truncated one.
  void abort();

  // True once the client closed or reset its connection. Closing only the sending half counts too.
  bool client_gone() const;
  // Called once, on the loop, when the client goes while the task waits for something else; at once
  // when it is gone already. Watching begins when the request body has been read.
  // An empty function removes the callback.
  void on_client_gone(std::function<void()> callback);

 private:
  Connection& connection_;
};

// Answers one request. What it throws becomes a 500, or a broken connection once the answer started.
using Answer = std::function<Task<>(Exchange&)>;

class HttpServer {
 public:
  HttpServer(Loop& loop, ServerOptions options, Answer answer);
  // Closes everything. Answers in progress are destroyed where they wait.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Gives the endpoint with the port that the system chose. A port in use is an error, though
  // listeners of this process share ports.
  Result<Endpoint> listen(const Endpoint& endpoint, const TlsFiles* tls = nullptr);
  // Listens wherever `other` does, with its certificates. Before the loops run.
  Result<void> listen_like(const HttpServer& other);

  // Loop thread only, or before the loop runs. Other options from now on. A connection that is open may
  // keep the limits of one more request.
  void use_options(ServerOptions options) { options_ = std::move(options); }
  // Loop thread only. Listeners with TLS show another certificate to new connections; open ones go on as they are.
  void use_tls(const TlsContext& context);

  // Drain, loop thread only: closes listeners and idle connections; others close after their answer.
  void stop_accepting();
  // Requests being answered now, and open connections.
  std::size_t active() const { return active_; }
  std::size_t connections() const { return connection_count_; }
  // Breaks every connection. Their answers see a gone client.
  void close_all();

 private:
  friend class Connection;
  friend class Listener;
  void accepted(int socket, const Address& peer, const Listener& listener);
  void remove(Connection& connection);
  void log(std::string_view what);
  std::string error_body(int status, std::string_view message, std::string_view path,
                         Headers& headers) const;
  // Made once per second.
  std::string_view date();

  Loop& loop_;
  ServerOptions options_;
  Answer answer_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  Connection* connections_ = nullptr;
  std::size_t connection_count_ = 0;
  std::size_t active_ = 0;
  bool draining_ = false;
  std::int64_t date_second_ = 0;
  std::string date_;
};

}  // namespace callgate::net
