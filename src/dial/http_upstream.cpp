#include <algorithm>

#include "dial/upstream_call.h"
#include "net/client.h"

namespace callgate::server {
namespace {

class HttpCall final : public UpstreamCall {
 public:
  HttpCall(net::HttpClient& client, const net::Target& target, const UpstreamConfig& config)
      : config_(config),
        exchange_(client, target,
                  {.connect = limit(config.connect_timeout),
                   .tls = limit(config.tls_timeout),
                   .first_byte = limit(config.first_byte_timeout),
                   .idle = limit(config.idle_timeout),
                   .total = limit(config.total_timeout)}) {}

  net::Task<Result<void>> send(const Request&, const UpstreamRequest& request) override {
    net::ClientRequest http{
        .method = request.method, .path = request.path, .headers = {}, .body = request.body};
    for (const auto& [name, value] : request.headers) {
      if (!is_configured(name)) http.headers.add(name, value);
    }
    for (const auto& [name, value] : config_.headers) http.headers.add(name, value);
    Result<void> sent = co_await exchange_.send(http);
    if (!sent) co_return tl::unexpected(named(std::move(sent.error())));
    co_return sent;
  }

  int status() const override { return exchange_.status(); }
  std::string_view header(std::string_view name) const override {
    return exchange_.headers().find(name).value_or(std::string_view());
  }
  net::Headers headers() const override { return exchange_.headers(); }
  net::Task<Result<Piece>> read(net::Millis patience) override {
    auto bytes = co_await exchange_.read(patience);
    if (!bytes) co_return tl::unexpected(named(std::move(bytes.error())));
    if (!*bytes) co_return Piece{.bytes = {}, .waiting = true};
    co_return Piece{.bytes = **bytes};
  }
  void cancel() override { exchange_.cancel(); }

 private:
  Error named(Error error) const {
    error.message = "upstream \"" + config_.name + "\": " + error.message;
    return error;
  }

  // The configuration's headers stand in for those of the wire format.
  bool is_configured(std::string_view name) const {
    return std::any_of(config_.headers.begin(), config_.headers.end(), [&](const auto& header) {
      return net::equals_ignoring_case(header.first, name);
    });
  }

  const UpstreamConfig& config_;
  net::ClientExchange exchange_;
};

class HttpTarget final : public UpstreamTarget {
 public:
  HttpTarget(net::Loop& loop, const UpstreamConfig& config, net::Target target)
      : config_(config),
        target_(std::move(target)),
        client_(loop, {.idle_per_target = static_cast<std::size_t>(config.max_idle_connections),
                       .most_connections = static_cast<std::size_t>(config.max_connections),
                       .ca_file = config.ca_file,
                       .insecure = !config.tls_verify}) {}

  std::unique_ptr<UpstreamCall> call(const ModelConfig&) override {
    return std::make_unique<HttpCall>(client_, target_, config_);
  }

 private:
  const UpstreamConfig config_;
  const net::Target target_;
  net::HttpClient client_;
};

}  // namespace

Result<std::unique_ptr<UpstreamTarget>> make_http_target(net::Loop& loop,
                                                         const UpstreamConfig& config) {
  auto target = net::parse_url(config.url);
  if (!target) {
    return fail(ErrorCode::invalid_request,
                "upstream \"" + config.name + "\": url: " + target.error().message);
  }
  return std::make_unique<HttpTarget>(loop, config, std::move(*target));
}

}  // namespace callgate::server
