#include "net/connection.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "base/check.h"
#include "base/text.h"

namespace callgate::net {

namespace {

constexpr std::string_view kLastChunk = "0\r\n\r\n";
constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::string_view kStatusOk = "HTTP/1.1 200 OK";
constexpr std::string_view kServerAndDate = "\r\nserver: callgate\r\ndate: ";
constexpr std::string_view kContentLength = "\r\ncontent-length: ";

bool is_written_by_server(std::string_view name) {
  static constexpr std::array<std::string_view, 5> kOwn = {"content-length", "transfer-encoding",
                                                           "connection", "date", "server"};
  return std::any_of(kOwn.begin(), kOwn.end(),
                     [&](std::string_view own) { return equals_ignoring_case(name, own); });
}

// A line end, the name and the value. Short ones are joined first: appending once is what counts.
void append_header(std::string& out, const Header& header) {
  std::array<char, 128> line;
  const std::size_t size = header.name.size() + header.value.size() + 4;
  if (size > line.size()) {
    out.append(kLineEnd).append(header.name).append(": ").append(header.value);
    return;
  }
  char* at = line.data();
  *at++ = '\r';
  *at++ = '\n';
  at = std::copy(header.name.begin(), header.name.end(), at);
  *at++ = ':';
  *at++ = ' ';
  std::copy(header.value.begin(), header.value.end(), at);
  out.append(line.data(), size);
}

}  // namespace

// Ends with the connection: the last thing it does is to have itself removed.
struct Connection::Run::promise_type {
  Connection& connection;

  explicit promise_type(Connection& self) : connection(self) {}
  static void* operator new(std::size_t size) { return detail::allocate_frame(size); }
  static void operator delete(void* frame, std::size_t size) { detail::free_frame(frame, size); }

  Run get_return_object() {
    connection.run_ = std::coroutine_handle<promise_type>::from_promise(*this);
    return {};
  }
  std::suspend_always initial_suspend() noexcept { return {}; }
  auto final_suspend() noexcept {
    struct Final {
      bool await_ready() noexcept { return false; }
      void await_suspend(std::coroutine_handle<promise_type> self) noexcept {
        Connection& ended = self.promise().connection;
        ended.server_.remove(ended);
      }
      void await_resume() noexcept {}
    };
    return Final{};
  }
  void return_void() {}
  void unhandled_exception() noexcept { connection.server_.log("a connection threw"); }
};

Connection::Connection(HttpServer& server, int fd, const Address& peer, const TlsContext& tls)
    : server_(server),
      peer_(to_text(peer)),
      stream_(server.loop_, fd),
      parser_(server.options_.limits),
      exchange_(*this),
      body_memory_(server.options_.memory, MemoryUse::need) {
  if (tls) {
    TlsSession session = make_server_session(tls);
    // Without memory for TLS there is no connection, least of all a plain one.
    if (!session) stream_.close();
    stream_.start_tls(std::move(session));
  }
  run();
}

// The frames go first: they hold waits on the stream.
Connection::~Connection() { run_.destroy(); }

Connection::Run Connection::run() {
  if (stream_.tls() && !co_await handshake()) co_return;
  while (co_await read_head()) {
    co_await answer();
    if (phase_ != Phase::ended || !keep_alive_ || gone_) break;
    parser_.next();
    std::string().swap(decoded_);
    body_memory_.release();
    served_ = true;
  }
  // A close with unread bytes would reset the connection and could destroy the answer on its way.
  const bool unread = parser_.state() != RequestParser::State::complete || !pending_.empty();
  if (phase_ == Phase::ended && unread && !gone_) co_await linger();
}

Task<bool> Connection::handshake() {
  const std::uint64_t limit = loop().now() + server_.options_.head_timeout.count();
  while (true) {
    const IoStatus status = stream_.handshake();
    if (status == IoStatus::done) co_return true;
    if (status == IoStatus::failed || status == IoStatus::end) co_return false;
    const std::uint64_t now = loop().now();
    if (now >= limit) co_return false;
    if (co_await stream_.wait(status, Millis(limit - now)) != Ready::yes) co_return false;
  }
}

// False when there is no request to answer any more.
Task<bool> Connection::read_head() {
  const ServerOptions& options = server_.options_;
  phase_ = Phase::none;
  if (!pending_.empty()) feed(std::exchange(pending_, {}));
  std::uint64_t limit = loop().now() + options.head_timeout.count();
  while (parser_.state() == RequestParser::State::head) {
    const IoResult got = stream_.read(loop().read_buffer());
    if (got.status == IoStatus::done) {
      if (served_ && parser_.idle()) limit = loop().now() + options.head_timeout.count();
      feed({loop().read_buffer().data(), got.bytes});
      continue;
    }
    if (got.status == IoStatus::end || got.status == IoStatus::failed) co_return false;
    idle_ = parser_.idle();
    if (idle_ && server_.draining_) co_return false;
    const std::uint64_t now = loop().now();
    Millis wait(limit > now ? limit - now : 1);
    if (idle_ && served_) wait = options.keep_alive_timeout;
    const Ready ready = co_await stream_.wait(got.status, wait);
    const bool was_idle = std::exchange(idle_, false);
    if (ready == Ready::closed) co_return false;
    if (ready == Ready::timed_out || (!was_idle && loop().now() >= limit)) {
      if (!was_idle) {
        parser_.find_path();
        co_await refuse(408, "the request head took too long");
      }
      co_return false;
    }
  }
  if (parser_.state() != RequestParser::State::failed) co_return true;
  const RequestFault& fault = parser_.fault();
  co_await refuse(fault.status, fault.message);
  co_return false;
}

void Connection::feed(std::string_view bytes) {
  const std::size_t taken = parser_.push(bytes);
  if (parser_.state() == RequestParser::State::complete) pending_.append(bytes.substr(taken));
}

Task<> Connection::answer() {
  struct Active {
    std::size_t& count;
    explicit Active(std::size_t& active) : count(active) { ++count; }
    ~Active() { --count; }
  } active(server_.active_);
  phase_ = Phase::none;
  continued_ = false;
  keep_alive_ = head().keep_alive;
  if (parser_.state() == RequestParser::State::complete) watch();
  bool threw = false;
  try {
    co_await server_.answer_(exchange_);
  } catch (const std::exception& error) {
    threw = true;
    server_.log(error.what());
  } catch (...) {
    threw = true;
    server_.log("an answer threw something that is no exception");
  }
  gone_callback_ = nullptr;
  stream_.unwatch();
  if (phase_ == Phase::streaming) {
    abort();
  } else if (phase_ == Phase::none && !gone_) {
    if (!threw) server_.log("a request was left without an answer");
    co_await refuse(500, "internal error");
  }
}

Task<> Connection::refuse(int status, std::string_view message) {
  keep_alive_ = false;
  Headers headers;
  headers.add("content-type", "application/json");
  const std::string body = server_.error_body(status, message, head().path, headers);
  (void)co_await respond(status, headers, body);
}

// Ends our side, then reads past what the client still sends, within limits.
Task<> Connection::linger() {
  stream_.shut_down_writing();
  const std::uint64_t limit = loop().now() + server_.options_.linger_timeout.count();
  std::size_t left = server_.options_.linger_bytes;
  while (true) {
    const IoResult got = stream_.read(loop().read_buffer());
    if (got.status == IoStatus::end || got.status == IoStatus::failed) co_return;
    if (got.status == IoStatus::done) {
      if (got.bytes >= left || loop().now() >= limit) co_return;
      left -= got.bytes;
      if (stream_.must_yield()) co_await loop().sleep(Millis(0));
      continue;
    }
    const std::uint64_t now = loop().now();
    if (now >= limit || server_.draining_) co_return;
    if (co_await stream_.wait(got.status, Millis(limit - now)) != Ready::yes) co_return;
  }
}

void Connection::begin_head(int status, const Headers& headers, std::size_t body_size) {
  CALLGATE_CHECK(phase_ == Phase::none);
  // What is left of a body could be taken for the next request.
  if (parser_.state() != RequestParser::State::complete || server_.draining_) keep_alive_ = false;
  // A refused head may have no version.
  const bool old = parser_.state() != RequestParser::State::failed && head().minor_version == 0;
  const bool has_body = status >= 200 && status != 204 && status != 304;
  if (framing_ == Framing::chunked && old) {
    framing_ = Framing::until_close;
    keep_alive_ = false;
  }
  if (status == 200) {
    out_.append(kStatusOk);
  } else {
    out_.append("HTTP/1.1 ");
    append_number(out_, static_cast<std::size_t>(status));
    out_.append(" ").append(reason_phrase(status));
  }
  out_.append(kServerAndDate).append(server_.date());
  if (has_body && framing_ == Framing::counted) {
    out_.append(kContentLength);
    append_number(out_, body_size);
  } else if (has_body && framing_ == Framing::chunked) {
    out_.append("\r\ntransfer-encoding: chunked");
  }
  if (!keep_alive_) {
    out_.append("\r\nconnection: close");
  } else if (old) {
    out_.append("\r\nconnection: keep-alive");
  }
  for (const Header header : headers) {
    if (!is_written_by_server(header.name) && is_sendable(header)) append_header(out_, header);
  }
  out_.append(kHeadEnd);
  const bool to_head = parser_.state() != RequestParser::State::failed && head().method == "HEAD";
  if (!has_body || to_head) framing_ = Framing::bodiless;
}

Task<Result<void>> Connection::respond(int status, const Headers& headers, std::string_view body) {
  framing_ = Framing::counted;
  begin_head(status, headers, body.size());
  phase_ = Phase::ended;
  Gather out;
  out.add(out_);
  if (framing_ != Framing::bodiless) out.add(body);
  return flush(out);
}

void Connection::start_answer(int status, const Headers& headers) {
  framing_ = Framing::chunked;
  begin_head(status, headers, 0);
  phase_ = Phase::streaming;
}

Task<Result<void>> Connection::upgrade(const Headers& headers) {
  CALLGATE_CHECK(phase_ == Phase::none && parser_.state() == RequestParser::State::complete);
  stream_.unwatch();
  keep_alive_ = false;
  framing_ = Framing::until_close;
  phase_ = Phase::streaming;
  out_.append("HTTP/1.1 101 Switching Protocols\r\nserver: callgate\r\nconnection: upgrade");
  for (const Header header : headers) {
    if (!is_written_by_server(header.name) && is_sendable(header)) append_header(out_, header);
  }
  out_.append(kHeadEnd);
  return write({});
}

Task<Result<std::optional<std::string_view>>> Connection::read(Millis timeout) {
  CALLGATE_CHECK(framing_ == Framing::until_close);
  if (!pending_.empty()) {
    given_ = std::exchange(pending_, {});
    co_return std::string_view(given_);
  }
  given_.clear();
  while (!gone_) {
    const IoResult got = stream_.read(loop().read_buffer());
    if (got.status == IoStatus::done) {
      if (stream_.must_yield()) {
        given_.assign(loop().read_buffer().data(), got.bytes);
        co_await loop().sleep(Millis(0));
        co_return std::string_view(given_);
      }
      co_return std::string_view(loop().read_buffer().data(), got.bytes);
    }
    if (got.status == IoStatus::end || got.status == IoStatus::failed) break;
    const Ready ready = co_await stream_.wait(got.status, timeout);
    if (ready == Ready::timed_out) co_return std::nullopt;
    if (ready == Ready::closed) break;
  }
  gone_ = true;
  co_return std::string_view();
}

void Connection::add_chunk(Gather& out, std::string_view bytes) {
  if (bytes.empty() || framing_ == Framing::bodiless) return;
  if (framing_ == Framing::until_close) return out.add(bytes);
  char* const begin = chunk_line_.data();
  auto [end, error] = std::to_chars(begin, begin + chunk_line_.size(), bytes.size(), 16);
  *end++ = '\r';
  *end++ = '\n';
  out.add({begin, static_cast<std::size_t>(end - begin)});
  out.add(bytes);
}

Task<Result<void>> Connection::write(std::string_view bytes) {
  CALLGATE_CHECK(phase_ == Phase::streaming || phase_ == Phase::aborted);
  Gather out;
  out.add(out_);
  add_chunk(out, bytes);
  if (!bytes.empty() && framing_ == Framing::chunked) out.add(kLineEnd);
  return flush(out);
}

Task<Result<void>> Connection::end(std::string_view last) {
  CALLGATE_CHECK(phase_ == Phase::streaming || phase_ == Phase::aborted);
  if (phase_ == Phase::streaming) phase_ = Phase::ended;
  Gather out;
  out.add(out_);
  add_chunk(out, last);
  if (framing_ == Framing::chunked) {
    static constexpr std::string_view kAfterChunk = "\r\n0\r\n\r\n";
    out.add(last.empty() ? kLastChunk : kAfterChunk);
  }
  return flush(out);
}

Task<Result<void>> Connection::flush(Gather out) {
  CALLGATE_CHECK(!writing_);
  struct Writing {
    bool& flag;
    explicit Writing(bool& writing) : flag(writing) { flag = true; }
    ~Writing() { flag = false; }
  } writing(writing_);
  while (!gone_) {
    const IoStatus status = stream_.write(out);
    if (status == IoStatus::done) {
      if (phase_ == Phase::streaming) {
        std::string().swap(out_);  // a stream has one head
      } else {
        out_.clear();
      }
      if (stream_.must_yield()) co_await loop().sleep(Millis(0));
      co_return Result<void>();
    }
    Ready ready = Ready::closed;
    if (status == IoStatus::want_read || status == IoStatus::want_write) {
      ready = co_await stream_.wait(status, server_.options_.write_stall_timeout);
    }
    if (ready == Ready::yes) continue;
    abort();
    if (ready == Ready::timed_out) {
      co_return fail(ErrorCode::timed_out, "the client stopped reading");
    }
  }
  co_return fail(ErrorCode::unavailable, kClientLeft);
}

void Connection::abort() {
  phase_ = Phase::aborted;
  gone_ = true;
  stream_.close();
}

void Connection::close() {
  const bool answering = !idle_;
  stream_.close();
  if (answering) went();
}

void Connection::watch() {
  stream_.watch([](void* self) { static_cast<Connection*>(self)->look(); }, this);
}

// The socket became readable while the answer waits elsewhere: a later request, or the end.
void Connection::look() {
  while (pending_.size() < server_.options_.held_back_bytes) {
    const IoResult got = stream_.read(loop().read_buffer());
    switch (got.status) {
      case IoStatus::done:
        pending_.append(loop().read_buffer().data(), got.bytes);
        break;
      case IoStatus::want_read:
        return watch();
      case IoStatus::want_write:
        return;
      case IoStatus::end:
      case IoStatus::failed:
        return went();
    }
  }
}

void Connection::went() {
  gone_ = true;
  if (gone_callback_) std::exchange(gone_callback_, nullptr)();
}

void Connection::on_gone(std::function<void()> callback) {
  gone_callback_ = std::move(callback);
  if (gone_) went();
}

}  // namespace callgate::net
