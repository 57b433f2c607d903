#include <algorithm>
#include <optional>

#include "dial/credential/credential.h"
#include "dial/upstream_call.h"
#include "net/client.h"

namespace callgate::server {
namespace {

class HttpCall final : public UpstreamCall {
 public:
  HttpCall(net::Loop& loop, net::HttpClient& client, const net::Target& target,
           const UpstreamConfig& config, std::string_view label, Credential* credential)
      : loop_(loop),
        client_(client),
        target_(target),
        config_(config),
        label_(label),
        credential_(credential),
        exchange_(std::in_place, client, target, timeouts(config), label) {}

  net::Task<Result<void>> send(const Request&, const UpstreamRequest& request) override {
    static const KeyReply kNone;  // outlives every wait
    return credential_ == nullptr ? send_with(request, kNone) : send_with_credential(request);
  }

  int status() const override { return exchange_->status(); }
  std::string_view header(std::string_view name) const override {
    return exchange_->headers().find(name).value_or(std::string_view());
  }
  net::Headers headers() const override { return exchange_->headers(); }
  net::Task<Result<Piece>> read(net::Millis patience) override { return exchange_->read(patience); }
  void cancel() override {
    cancelled_ = true;
    exchange_->cancel();
  }

 private:
  static net::Timeouts timeouts(const UpstreamConfig& config) {
    return {.connect = limit(config.connect_timeout),
            .tls = limit(config.tls_timeout),
            .first_byte = limit(config.first_byte_timeout),
            .idle = limit(config.idle_timeout),
            .total = limit(config.total_timeout)};
  }

  net::Task<Result<void>> send_with_credential(const UpstreamRequest& request) {
    const Result<KeyReply> key = co_await credential_->get(loop_);
    if (!key) co_return tl::unexpected(key.error());
    Result<void> sent = co_await send_with(request, *key);
    if (!sent || exchange_->status() != 401 || cancelled_) co_return sent;
    // It may have expired before its time: once more with another, if there is one.
    credential_->refuse(*key);
    const Result<KeyReply> other = co_await credential_->get(loop_);
    if (!other || *other == *key || cancelled_) co_return sent;
    exchange_.emplace(client_, target_, timeouts(config_), label_);
    co_return co_await send_with(request, *other);
  }

  // The key takes the place of what stands for it. REQUIRES: both outlive the wait.
  net::Task<Result<void>> send_with(const UpstreamRequest& request, const KeyReply& reply) {
    net::ClientRequest http{
        .method = request.method, .path = request.path, .headers = {}, .body = request.body};
    for (const auto& [name, value] : request.headers) {
      if (is_one_of(config_.headers, name) || is_one_of(reply.headers, name)) continue;
      const std::size_t at = reply.empty() ? std::string::npos : value.find(kKeyPlaceholder);
      if (at == std::string::npos) {
        http.headers.add(name, value);
      } else if (!reply.key.empty()) {
        std::string filled = value;
        http.headers.add(name, filled.replace(at, kKeyPlaceholder.size(), reply.key));
      }
    }
    for (const auto& [name, value] : config_.headers) {
      if (!is_one_of(reply.headers, name)) http.headers.add(name, value);
    }
    for (const auto& [name, value] : reply.headers) http.headers.add(name, value);
    co_return co_await exchange_->send(http);
  }

  // The configuration's headers stand in for those of the wire format, and a credential's for both.
  using Fields = std::vector<std::pair<std::string, std::string>>;
  static bool is_one_of(const Fields& fields, std::string_view name) {
    return std::any_of(fields.begin(), fields.end(), [&](const auto& field) {
      return net::equals_ignoring_case(field.first, name);
    });
  }

  net::Loop& loop_;
  net::HttpClient& client_;
  const net::Target& target_;
  const UpstreamConfig& config_;
  const std::string_view label_;  // of errors
  Credential* const credential_;  // nullptr: the request has its key
  std::optional<net::ClientExchange> exchange_;
  bool cancelled_ = false;
};

class HttpTarget final : public UpstreamTarget {
 public:
  HttpTarget(net::Loop& loop, const UpstreamConfig& config, net::Target target,
             std::shared_ptr<Credential> credential)
      : loop_(loop),
        config_(config),
        label_("upstream \"" + config.name + "\": "),
        target_(std::move(target)),
        credential_(std::move(credential)),
        client_(loop, {.idle_per_target = static_cast<std::size_t>(config.max_idle_connections),
                       .most_connections = static_cast<std::size_t>(config.max_connections),
                       .ca_file = config.ca_file,
                       .insecure = !config.tls_verify}) {}

  std::unique_ptr<UpstreamCall> call(const ModelConfig&) override {
    return std::make_unique<HttpCall>(loop_, client_, target_, config_, label_, credential_.get());
  }

 private:
  net::Loop& loop_;
  const UpstreamConfig config_;
  const std::string label_;
  const net::Target target_;
  const std::shared_ptr<Credential> credential_;
  net::HttpClient client_;
};

}  // namespace

Result<std::unique_ptr<UpstreamTarget>> make_http_target(net::Loop& loop,
                                                         const UpstreamConfig& config,
                                                         std::shared_ptr<Credential> credential) {
  auto target = net::parse_url(config.url);
  if (!target) {
    return fail(ErrorCode::invalid_request,
                "upstream \"" + config.name + "\": url: " + target.error().message);
  }
  return std::make_unique<HttpTarget>(loop, config, std::move(*target), std::move(credential));
}

}  // namespace callgate::server
