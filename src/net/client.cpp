#include "net/client.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/check.h"
#include "compress/content_decoder.h"
#include "net/pool.h"
#include "net/response_parser.h"

namespace callgate::net {

namespace {

// Decoded bytes that are given without a pause for the loop's other work.
constexpr std::size_t kDecodedAtOnce = 512 * 1024;

Result<void> check_request(const ClientRequest& request) {
  for (const Header header : request.headers) {
    // Neither name nor value is repeated: this may be a key.
    if (!is_sendable(header)) {
      return fail(ErrorCode::invalid_request, "a request header holds bytes that HTTP forbids");
    }
  }
  const auto forbidden = [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; };
  if (std::any_of(request.path.begin(), request.path.end(), forbidden) ||
      !is_sendable({request.method, ""})) {
    return fail(ErrorCode::invalid_request, "the request path or method holds forbidden bytes");
  }
  return {};
}

constexpr std::string_view kRequestLineEnd = "\r\n";
constexpr std::string_view kColon = ": ";
constexpr std::string_view kAcceptPlain = "accept-encoding: identity\r\n";

bool is_written_by_client(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kOwn = {"host", "content-length",
                                                           "transfer-encoding", "connection"};
  return std::any_of(kOwn.begin(), kOwn.end(),
                     [&](std::string_view own) { return equals_ignoring_case(name, own); });
}

std::string request_head(const Target& target, const ClientRequest& request) {
  std::string head;
  head.reserve(512);
  head.append(request.method).append(" ").append(target.path_prefix).append(request.path);
  if (target.path_prefix.empty() && request.path.empty()) head.append("/");
  head.append(" HTTP/1.1\r\nhost: ");
  const bool usual_port = target.port == (target.tls ? 443 : 80);
  const bool v6 = target.host.find(':') != std::string::npos;
  if (usual_port || !target.unix_path.empty()) {
    head.append(v6 ? "[" + target.host + "]" : target.host);
  } else {
    head.append(to_text(target));
  }
  head.append(kRequestLineEnd);
  if (!request.headers.find("accept-encoding")) head.append(kAcceptPlain);
  for (const Header header : request.headers) {
    if (is_written_by_client(header.name)) continue;
    head.append(header.name).append(kColon).append(header.value).append(kRequestLineEnd);
  }
  if (!request.body.empty() || request.method == "POST" || request.method == "PUT") {
    head.append("content-length: ").append(std::to_string(request.body.size())).append("\r\n");
  }
  head.append("\r\n");
  return head;
}

}  // namespace

struct ClientExchange::State {
  State(HttpClient& owner, const Target& to, Timeouts times, std::string_view name)
      : loop(owner.loop_),
        pool(*owner.pool_),
        target(to),
        timeouts(times),
        label(name),
        wake(loop) {}
  ~State() { pool.leave_line(wake); }

  Loop& loop;
  Pool& pool;
  Target target;
  Timeouts timeouts;
  std::string_view label;
  Signal wake;  // ends the wait for the resolver
  std::uint64_t total_limit = 0;
  std::uint64_t idle_limit = 0;  // when a read that waits gives up; 0: none waits
  std::unique_ptr<ClientConnection> connection;
  std::optional<ResponseParser> parser;
  std::string early;                                // body bytes that came together with the head
  std::optional<compress::ContentDecoder> decoder;  // of a body with content codings
  std::unique_ptr<Error> unreadable;                // it has one that cannot be undone
  std::size_t decoded_at_once = 0;
  bool decoded_all = false;
  std::uint64_t barren_limit = 0;  // when bytes that decode to nothing stop counting as an answer
  bool sent_all = false;
  bool reused = false;
  bool cancelled = false;

  Task<Result<void>> send(std::string_view head, const ClientRequest& request);
  Task<Result<void>> attempt(std::string_view head, const ClientRequest& request);
  Task<Result<void>> find_room();
  Task<Result<void>> connect();
  Task<Result<void>> connect_to(const Address& address, std::uint64_t limit);
  Task<Result<void>> start_tls();
  Task<Result<void>> write(std::string_view head, std::string_view body);
  Task<Result<void>> read_head();
  // The body as it was sent.
  Task<Result<Piece>> read(Millis patience);
  // The body without its content codings.
  Task<Result<Piece>> read_decoded(Millis patience);
  void find_codings();
  bool is_encoded() const { return decoder || unreadable; }

  // The phase's time, or what is left of the total.
  Millis within(Millis phase) const;
  Millis left(std::uint64_t limit) const;
  bool is_over(std::uint64_t limit) const { return limit != 0 && loop.now() >= limit; }
  // False when a wait ended badly, or with the time of the whole request; then fault() says how. Waiting frames hold no Error.
  bool is_fine(Ready ready) const;
  tl::unexpected<Error> fault(Ready ready, std::string_view phase) const;
  tl::unexpected<Error> broken(std::string_view what) const;
  // What errors begin with.
  std::string where() const { return std::string(label) + to_text(target); }
  void release();
};

Millis ClientExchange::State::left(std::uint64_t limit) const {
  if (limit == 0) return kNever;
  const std::uint64_t now = loop.now();
  return Millis(limit > now ? limit - now : 1);
}

Millis ClientExchange::State::within(Millis phase) const {
  if (total_limit == 0) return phase;
  const Millis rest = left(total_limit);
  return phase == kNever ? rest : std::min(phase, rest);
}

tl::unexpected<Error> ClientExchange::State::broken(std::string_view what) const {
  if (cancelled) return fail(ErrorCode::unavailable, where() + ": cancelled");
  return fail(ErrorCode::upstream_failed, where() + ": " + std::string(what));
}

bool ClientExchange::State::is_fine(Ready ready) const {
  return ready == Ready::yes && (cancelled || !is_over(total_limit));
}

// The one place where a wait that ended badly becomes an Error.
tl::unexpected<Error> ClientExchange::State::fault(Ready ready, std::string_view phase) const {
  if (!cancelled && is_over(total_limit)) {
    return fail(ErrorCode::timed_out, where() + ": the whole request took longer than " +
                                          std::to_string(timeouts.total.count()) + " ms");
  }
  if (ready == Ready::timed_out) {
    return fail(ErrorCode::timed_out, where() + ": timed out (" + std::string(phase) + ")");
  }
  return broken("connection closed (" + std::string(phase) + ")");
}

void ClientExchange::State::release() {
  if (!connection) return;
  if (target.tls) pool.keep_ticket(target, connection->stream.ticket());
  const bool usable = parser->state() == ResponseParser::State::complete && parser->keep_alive() &&
                      sent_all && !connection->stream.closed() && !connection->stream.holds_bytes();
  if (usable) pool.give(target, std::move(connection));
  connection.reset();
}

Task<Result<void>> ClientExchange::State::send(std::string_view head,
                                               const ClientRequest& request) {
  if (timeouts.total != kNever) total_limit = loop.now() + timeouts.total.count();
  connection = pool.take(target);
  Result<void> result = co_await attempt(head, request);
  // The upstream may close a kept connection just when we use it: that says nothing about the
  // request. An answer, even a first byte of one, does.
  const bool stale = !result && reused && !parser->any_bytes() && !cancelled &&
                     result.error().code == ErrorCode::upstream_failed;
  if (stale) {
    connection.reset();
    result = co_await attempt(head, request);
  }
  if (!result) connection.reset();
  co_return result;
}

Task<Result<void>> ClientExchange::State::attempt(std::string_view head,
                                                  const ClientRequest& request) {
  const ClientOptions& options = pool.options();
  parser.emplace(options.head_bytes, options.header_count, request.method == "HEAD");
  sent_all = false;
  if (!connection && pool.is_full()) {
    if (auto room = co_await find_room(); !room) co_return room;
  }
  if (!connection) {
    if (auto connected = co_await connect(); !connected) co_return connected;
  }
  reused = connection->reused;
  Result<void> written = co_await write(head, request.body);
  sent_all = written.has_value();
  if (!written && written.error().code == ErrorCode::timed_out) co_return written;
  // An upstream that refuses a large request answers before it has read all of it.
  Result<void> got = co_await read_head();
  if (!got && !written) co_return written;
  co_return got;
}

// As many connections as may be are in use: one has to be given back, or to end.
Task<Result<void>> ClientExchange::State::find_room() {
  const Millis phase = within(timeouts.connect);
  const std::uint64_t limit = phase == kNever ? 0 : loop.now() + phase.count();
  pool.join_line(wake);
  bool in_time = true;
  while (in_time && !cancelled && !connection && pool.is_full()) {
    in_time = co_await wake.wait(left(limit));
    connection = pool.take(target);
  }
  pool.leave_line(wake);
  if (cancelled) co_return broken("cancelled");
  if (!in_time && !connection && pool.is_full()) {
    co_return fault(Ready::timed_out, "waiting for a free connection");
  }
  co_return Result<void>();
}

Task<Result<void>> ClientExchange::State::connect() {
  const Millis phase = within(timeouts.connect);
  const std::uint64_t limit = phase == kNever ? 0 : loop.now() + phase.count();
  std::vector<Address> addresses;
  if (!target.unix_path.empty()) {
    addresses.push_back(unix_address(target.unix_path));
  } else if (const Address numeric = numeric_address(target.host, target.port); numeric.size != 0) {
    addresses.push_back(numeric);
  } else {
    auto found = co_await pool.resolver().resolve(target.host, target.port, phase, wake);
    if (cancelled) co_return broken("cancelled");
    if (!found) {
      found.error().message.insert(0, label);
      co_return tl::unexpected(found.error());
    }
    addresses = std::move(*found);
  }
  Result<void> result = broken("no address");
  const auto& may_connect = pool.options().may_connect;
  for (const Address& address : addresses) {
    if (may_connect && !may_connect(address)) {
      result = fail(ErrorCode::forbidden, where() + ": " + to_text(address) +
                                              " is an address that may not be connected to");
      continue;
    }
    result = co_await connect_to(address, limit);
    if (result || cancelled || result.error().code == ErrorCode::timed_out) break;
  }
  if (!result || !target.tls) co_return result;
  co_return co_await start_tls();
}

Task<Result<void>> ClientExchange::State::connect_to(const Address& address, std::uint64_t limit) {
  const int fd = ::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) co_return broken(std::string("socket: ") + std::strerror(errno));
  const int on = 1;
  if (address.family() != AF_UNIX) ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  const int started = ::connect(fd, address.get(), address.size);
  int error = started == 0 ? 0 : errno;
  connection = std::make_unique<ClientConnection>(loop, fd, pool);
  if (error == EINPROGRESS) {
    const Ready ready = co_await connection->stream.wait(IoStatus::want_write, left(limit));
    if (!is_fine(ready)) co_return fault(ready, "connect");
    socklen_t size = sizeof(error);
    ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  }
  if (error != 0) co_return broken(std::string("connect: ") + std::strerror(error));
  co_return Result<void>();
}

Task<Result<void>> ClientExchange::State::start_tls() {
  Stream& stream = connection->stream;
  const Result<const TlsContext*> context = pool.tls();
  if (!context) co_return broken(context.error().message);
  Result<TlsSession> session = make_client_session(**context, target.host, pool.ticket(target));
  if (!session) co_return broken(session.error().message);
  stream.start_tls(std::move(*session));
  const Millis phase = within(timeouts.tls);
  const std::uint64_t limit = phase == kNever ? 0 : loop.now() + phase.count();
  while (true) {
    const IoStatus status = stream.handshake();
    if (status == IoStatus::done) co_return Result<void>();
    if (status == IoStatus::end) co_return broken("TLS: the peer closed the connection");
    if (status == IoStatus::failed) {
      auto refused = broken("TLS: " + stream.tls_fault());
      if (stream.tls_fault().starts_with(kCertificateFault)) {
        refused.value().upstream_code = kCertificateRefused;
      }
      co_return refused;
    }
    const Ready ready = co_await stream.wait(status, left(limit));
    if (!is_fine(ready)) co_return fault(ready, "TLS handshake");
  }
}

Task<Result<void>> ClientExchange::State::write(std::string_view head, std::string_view body) {
  Stream& stream = connection->stream;
  Gather out;
  out.add(head);
  out.add(body);
  while (true) {
    const IoStatus status = stream.write(out);
    if (status == IoStatus::done) co_return Result<void>();
    if (status == IoStatus::failed || status == IoStatus::end) {
      co_return broken("connection broken (sending the request)");
    }
    const Ready ready = co_await stream.wait(status, within(timeouts.idle));
    if (!is_fine(ready)) co_return fault(ready, "sending the request");
  }
}

Task<Result<void>> ClientExchange::State::read_head() {
  Stream& stream = connection->stream;
  const Millis phase = within(timeouts.first_byte);
  const std::uint64_t limit = phase == kNever ? 0 : loop.now() + phase.count();
  while (parser->state() == ResponseParser::State::head) {
    const IoResult got = stream.read(loop.read_buffer());
    if (got.status == IoStatus::done) {
      early = parser->push(loop.read_buffer().first(got.bytes));
    } else if (got.status == IoStatus::end) {
      parser->finish();
    } else if (got.status == IoStatus::failed) {
      co_return broken("connection reset (waiting for the response)");
    } else {
      const Ready ready = co_await stream.wait(got.status, left(limit));
      if (!is_fine(ready)) co_return fault(ready, "waiting for the response");
    }
  }
  if (!parser->has_head()) {
    co_return broken(parser->fault());
  }
  // Its answer may last for minutes, in which others connect.
  if (target.tls && !reused) pool.keep_ticket(target, connection->stream.ticket());
  find_codings();
  if (parser->state() == ResponseParser::State::complete) release();
  co_return Result<void>();
}

void ClientExchange::State::find_codings() {
  std::string codings;
  for (const Header header : parser->headers()) {
    if (!equals_ignoring_case(header.name, "content-encoding")) continue;
    codings.append(codings.empty() ? "" : ",").append(header.value);
  }
  if (codings.empty()) return;
  auto made = compress::ContentDecoder::make(codings);
  if (!made) {
    unreadable = std::make_unique<Error>(std::move(made.error()));
  } else if (!made->is_identity()) {
    decoder.emplace(std::move(*made));
  }
}

Task<Result<Piece>> ClientExchange::State::read_decoded(Millis patience) {
  const std::uint64_t limit = patience == kNever ? 0 : loop.now() + patience.count();
  Result<void> fine;
  while (true) {
    if (decoder && decoded_at_once >= kDecodedAtOnce) {
      decoded_at_once = 0;
      co_await loop.sleep(Millis(0));
    }
    if (decoder && !decoded_all) {
      const Result<std::string_view> piece = decoder->next();
      if (!piece) fine = tl::unexpected(piece.error());
      if (piece && !piece->empty()) {
        decoded_at_once += piece->size();
        barren_limit = 0;
        co_return Piece{*piece};
      }
    }
    if (!fine) break;
    if (barren_limit != 0 && loop.now() >= barren_limit) {
      connection.reset();
      co_return fault(Ready::timed_out, "reading the response");
    }
    if (barren_limit == 0 && timeouts.idle != kNever) {
      barren_limit = loop.now() + static_cast<std::uint64_t>(timeouts.idle.count());
    }
    const std::uint64_t until = limit == 0 || barren_limit == 0 ? std::max(limit, barren_limit)
                                                                : std::min(limit, barren_limit);
    const auto sent = co_await read(left(until));
    if (sent && sent->waiting && barren_limit != 0 && loop.now() >= barren_limit) continue;
    if (!sent || sent->waiting) co_return sent;
    decoded_all = sent->bytes.empty();
    if (decoded_all && decoder) fine = decoder->finish();
    if (decoded_all && fine) co_return sent;
    if (unreadable) fine = tl::unexpected(*unreadable);
    if (!fine) break;
    decoder->push(sent->bytes);
    decoded_at_once = 0;
  }
  connection.reset();
  unreadable = std::make_unique<Error>(fine.error());
  decoder.reset();
  Error error = fine.error();
  error.message = where() + ": " + error.message;
  co_return tl::unexpected(std::move(error));
}

Task<Result<Piece>> ClientExchange::State::read(Millis patience) {
  if (!early.empty()) {
    const std::span<char> buffer = loop.read_buffer();
    const std::size_t size = early.copy(buffer.data(), buffer.size());
    std::string().swap(early);
    co_return Piece{{buffer.data(), size}};
  }
  while (true) {
    switch (parser->state()) {
      case ResponseParser::State::complete:
        release();
        co_return Piece{};
      case ResponseParser::State::failed:
        connection.reset();
        co_return broken(parser->fault());
      case ResponseParser::State::head:
      case ResponseParser::State::body:
        break;
    }
    if (!connection || cancelled) co_return broken("read after the connection was closed");
    Stream& stream = connection->stream;
    if (stream.must_yield()) co_await loop.sleep(Millis(0));
    const IoResult got = stream.read(loop.read_buffer());
    if (got.status == IoStatus::done) {
      idle_limit = 0;
      const std::string_view body = parser->push(loop.read_buffer().first(got.bytes));
      if (!body.empty()) {
        if (parser->state() == ResponseParser::State::complete) release();
        co_return Piece{body};
      }
    } else if (got.status == IoStatus::end) {
      parser->finish();
    } else if (got.status == IoStatus::failed) {
      connection.reset();
      co_return broken("connection reset (reading the response)");
    } else {
      Millis idle = timeouts.idle;
      if (idle_limit != 0) {
        idle = left(idle_limit);
      } else if (idle != kNever) {
        idle_limit = loop.now() + static_cast<std::uint64_t>(idle.count());
      }
      const Millis limit = within(idle);
      const bool impatient = patience != kNever && (limit == kNever || patience < limit);
      const Ready ready = co_await stream.wait(got.status, impatient ? patience : limit);
      if (ready == Ready::timed_out && impatient) co_return Piece{{}, true};
      if (!is_fine(ready)) {
        connection.reset();
        co_return fault(ready, "reading the response");
      }
    }
  }
}

HttpClient::HttpClient(Loop& loop, ClientOptions options)
    : loop_(loop), pool_(std::make_unique<Pool>(loop, std::move(options))) {}

HttpClient::~HttpClient() = default;

std::size_t HttpClient::idle() const { return pool_->idle(); }

void HttpClient::close_idle() { pool_->close_idle(); }

ClientExchange::ClientExchange(HttpClient& client, const Target& target, Timeouts timeouts,
                               std::string_view label)
    : state_(std::make_unique<State>(client, target, timeouts, label)) {}

ClientExchange::~ClientExchange() = default;

Task<Result<void>> ClientExchange::send(const ClientRequest& request) {
  CALLGATE_CHECK(!state_->parser);
  if (auto fine = check_request(request); !fine) {
    fine.error().message.insert(0, state_->label);
    co_return fine;
  }
  const std::string head = request_head(state_->target, request);
  co_return co_await state_->send(head, request);
}

int ClientExchange::status() const { return state_->parser->status(); }
const Headers& ClientExchange::headers() const { return state_->parser->headers(); }
bool ClientExchange::reused() const { return state_->reused; }

Task<Result<std::string_view>> ClientExchange::read() {
  auto bytes = co_await read(kNever);
  if (!bytes) co_return tl::unexpected(std::move(bytes.error()));
  co_return bytes->bytes;
}

Task<Result<Piece>> ClientExchange::read(Millis patience) {
  return state_->is_encoded() ? state_->read_decoded(patience) : state_->read(patience);
}

bool ClientExchange::ended() const {
  return state_->parser && state_->early.empty() &&
         (!state_->is_encoded() || state_->decoded_all) &&
         state_->parser->state() == ResponseParser::State::complete;
}

Task<Result<std::string>> ClientExchange::read_all(std::size_t limit) {
  std::string body;
  while (true) {
    const Result<std::string_view> bytes = co_await read();
    if (!bytes) co_return tl::unexpected(bytes.error());
    if (bytes->empty()) co_return body;
    if (bytes->size() > limit - body.size()) {
      co_return fail(ErrorCode::too_large, to_text(state_->target) +
                                               ": the response body is larger than " +
                                               std::to_string(limit) + " bytes");
    }
    body.append(*bytes);
  }
}

void ClientExchange::cancel() {
  state_->cancelled = true;
  state_->wake.notify();
  if (state_->connection) state_->connection->stream.close();
}

}  // namespace callgate::net
