#include "net/server.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <unistd.h>

#include <ctime>

#include "net/connection.h"
#include "net/listener.h"

namespace callgate::net {

const RequestHead& Exchange::head() const { return connection_.head(); }
const std::string& Exchange::peer() const { return connection_.peer(); }
std::string_view Exchange::peer_host() const {
  const std::string_view peer = connection_.peer();
  const std::string_view host = peer.substr(0, peer.rfind(':'));
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  return bracketed ? host.substr(1, host.size() - 2) : host;
}
bool Exchange::secure() const { return connection_.secure(); }
Loop& Exchange::loop() const { return connection_.loop(); }
Task<Result<std::string_view>> Exchange::body(std::size_t limit) { return connection_.body(limit); }
bool Exchange::has_whole_body() const { return connection_.has_whole_body(); }
void Exchange::drop_body() { connection_.drop_body(); }

Task<Result<void>> Exchange::respond(int status, const Headers& headers, std::string_view body) {
  return connection_.respond(status, headers, body);
}

Task<Result<void>> Exchange::respond(int status, std::string_view content_type,
                                     std::string_view body) {
  Headers headers;
  headers.add("content-type", content_type);
  return connection_.respond(status, headers, body);
}

void Exchange::start(int status, const Headers& headers) {
  connection_.start_answer(status, headers);
}
Task<Result<void>> Exchange::flush() { return connection_.write({}); }
Task<Result<void>> Exchange::write(std::string_view bytes) { return connection_.write(bytes); }
Task<Result<void>> Exchange::end(std::string_view last) { return connection_.end(last); }
Task<Result<void>> Exchange::upgrade(const Headers& headers) {
  return connection_.upgrade(headers);
}
Task<Result<std::optional<std::string_view>>> Exchange::read(Millis timeout) {
  return connection_.read(timeout);
}
bool Exchange::started() const { return connection_.started(); }
void Exchange::abort() { connection_.abort(); }
bool Exchange::client_gone() const { return connection_.gone(); }
void Exchange::on_client_gone(std::function<void()> callback) {
  connection_.on_gone(std::move(callback));
}

HttpServer::HttpServer(Loop& loop, ServerOptions options, Answer answer)
    : loop_(loop), options_(std::move(options)), answer_(std::move(answer)) {}

HttpServer::~HttpServer() {
  listeners_.clear();
  while (connections_ != nullptr) remove(*connections_);
}

Result<Endpoint> HttpServer::listen(const Endpoint& endpoint, const TlsFiles* tls) {
  TlsContext context;
  if (tls != nullptr) {
    Result<TlsContext> made = make_server_tls(tls->certificate, tls->key);
    if (!made) return tl::unexpected(made.error());
    context = std::move(*made);
  }
  const bool is_unix = !endpoint.unix_path.empty();
  Address address;
  if (is_unix) {
    address = unix_address(endpoint.unix_path);
  } else {
    Result<std::vector<Address>> resolved = resolve_blocking(endpoint.host, endpoint.port);
    if (!resolved) return tl::unexpected(resolved.error());
    address = resolved->front();
  }
  const Result<int> fd = open_listener(address, to_text(endpoint), false);
  if (!fd) return tl::unexpected(fd.error());
  Endpoint bound = endpoint;
  if (!is_unix) {
    const Result<Address> local = local_address(*fd);
    if (!local) return tl::unexpected(local.error());
    bound = *parse_endpoint(to_text(*local));
  }
  listeners_.push_back(std::make_unique<Listener>(*this, *fd, bound, std::move(context), is_unix));
  return bound;
}

Result<void> HttpServer::listen_like(const HttpServer& other) {
  for (const auto& listener : other.listeners_) {
    const Endpoint& endpoint = listener->endpoint();
    Result<int> fd = 0;
    if (endpoint.unix_path.empty()) {
      fd = open_listener(numeric_address(endpoint.host, endpoint.port), to_text(endpoint), true);
    } else {
      fd = ::fcntl(listener->fd(), F_DUPFD_CLOEXEC, 0);
    }
    if (!fd) return tl::unexpected(fd.error());
    listeners_.push_back(
        std::make_unique<Listener>(*this, *fd, endpoint, share(listener->tls()), false));
  }
  return {};
}

void HttpServer::use_tls(const TlsContext& context) {
  for (const auto& listener : listeners_) {
    if (listener->tls()) listener->use_tls(share(context));
  }
}

void HttpServer::accepted(int socket, const Address& peer, const Listener& listener) {
  if (options_.open_connections != nullptr) {
    const std::int64_t open = options_.open_connections->fetch_add(1, std::memory_order_relaxed);
    if (options_.max_connections > 0 && open >= options_.max_connections) {
      options_.open_connections->fetch_sub(1, std::memory_order_relaxed);
      ::close(socket);
      return;
    }
  }
  auto* connection = new Connection(*this, socket, peer, listener.tls());
  connection->next_ = connections_;
  if (connections_ != nullptr) connections_->previous_ = connection;
  connections_ = connection;
  ++connection_count_;
  connection->start();
}

void HttpServer::remove(Connection& connection) {
  if (connection.next_ != nullptr) connection.next_->previous_ = connection.previous_;
  (connection.previous_ != nullptr ? connection.previous_->next_ : connections_) = connection.next_;
  --connection_count_;
  if (options_.open_connections != nullptr) {
    options_.open_connections->fetch_sub(1, std::memory_order_relaxed);
  }
  delete &connection;
}

void HttpServer::stop_accepting() {
  draining_ = true;
  listeners_.clear();
  for (Connection* connection = connections_; connection != nullptr;
       connection = connection->next_) {
    if (connection->idle()) connection->close();
  }
}

void HttpServer::close_all() {
  stop_accepting();
  for (Connection* connection = connections_; connection != nullptr;
       connection = connection->next_) {
    connection->close();
  }
}

void HttpServer::log(std::string_view what) {
  if (options_.log) options_.log(what);
}

std::string HttpServer::error_body(int status, std::string_view message, std::string_view path,
                                   Headers& headers) const {
  if (options_.error_body) return options_.error_body(status, message, path, headers);
  return "{\"error\":{\"message\":\"" + std::string(message) + "\"}}";
}

std::string_view HttpServer::date() {
  timespec time;
  ::clock_gettime(CLOCK_REALTIME_COARSE, &time);
  if (time.tv_sec != date_second_) {
    date_second_ = time.tv_sec;
    date_ = http_date(date_second_);
  }
  return date_;
}

}  // namespace callgate::net
