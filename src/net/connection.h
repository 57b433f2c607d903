// Connection: one accepted socket, its requests one after the other, and the answer in progress.
#pragma once

#include <netinet/in.h>

#include <array>
#include <coroutine>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "net/address.h"
#include "net/request_parser.h"
#include "net/server.h"
#include "net/stream.h"

namespace callgate::net {

inline constexpr const char* kClientLeft = "the client closed the connection";

class Connection {
 public:
  // `tls` may be empty. The connection removes itself from the server when it ends.
  Connection(HttpServer& server, int fd, const Address& peer, const TlsContext& tls);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start() { run_.resume(); }
  // Waits for a request and has none of it yet.
  bool idle() const { return idle_; }
  void close();

  // What Exchange offers; see there.
  const RequestHead& head() const { return parser_.head(); }
  const std::string& peer() const { return peer_; }
  bool secure() const { return stream_.tls(); }
  Loop& loop() const { return server_.loop_; }
  Task<Result<std::string_view>> body(std::size_t limit);
  bool has_whole_body() const { return parser_.state() != RequestParser::State::body; }
  void drop_body();
  Task<Result<void>> respond(int status, const Headers& headers, std::string_view body);
  void start_answer(int status, const Headers& headers);
  Task<Result<void>> write(std::string_view bytes);
  Task<Result<void>> end(std::string_view last);
  Task<Result<void>> upgrade(const Headers& headers);
  Task<Result<std::optional<std::string_view>>> read(Millis timeout);
  void abort();
  bool started() const { return phase_ != Phase::none; }
  bool gone() const { return gone_; }
  void on_gone(std::function<void()> callback);

 private:
  friend class HttpServer;
  enum class Phase { none, streaming, ended, aborted };
  enum class Framing { counted, chunked, until_close, bodiless };

  struct Run {
    struct promise_type;
  };

  Run run();
  Task<bool> handshake();
  Task<bool> read_head();
  Task<> answer();
  Task<> refuse(int status, std::string_view message);
  Task<> linger();
  // How long the body may stay as it is; it `began` then. 0: it arrives too slowly.
  Millis patience(std::uint64_t began) const;
  Task<Result<void>> flush(Gather out);
  // The body without its content codings. REQUIRES: it is whole.
  Task<Result<std::string_view>> decode_body();

  void feed(std::string_view bytes);
  void begin_head(int status, const Headers& headers, std::size_t body_size);
  void add_chunk(Gather& out, std::string_view bytes);
  void watch();
  void look();
  void went();

  HttpServer& server_;
  const std::string peer_;  // its address
  Connection* next_ = nullptr;
  Connection* previous_ = nullptr;
  Stream stream_;
  RequestParser parser_;
  Exchange exchange_;
  Reservation body_memory_;
  std::string decoded_;  // the body, if it came with content codings
  std::string pending_;  // bytes of later requests
  std::string given_;    // what read() gave of them
  std::string out_;      // the answer's head, until it is sent
  std::array<char, 20> chunk_line_;
  std::function<void()> gone_callback_;
  Phase phase_ = Phase::none;
  Framing framing_ = Framing::counted;
  bool keep_alive_ = true;
  bool idle_ = false;
  bool served_ = false;
  bool writing_ = false;
  bool continued_ = false;
  bool gone_ = false;
  std::coroutine_handle<> run_;
};

}  // namespace callgate::net
