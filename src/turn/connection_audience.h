// A connection as the audience of an answer.
#pragma once

#include <functional>
#include <string_view>
#include <utility>

#include "net/server.h"
#include "turn/audience.h"

namespace callgate::server {

class ConnectionAudience final : public Audience {
 public:
  // `headers`: what the answer's head says already. REQUIRES: the exchange outlives the audience.
  ConnectionAudience(net::Exchange& exchange, net::Headers headers)
      : exchange_(exchange), headers_(std::move(headers)) {}

  bool is_gone() const override { return exchange_.client_gone(); }
  void on_gone(std::function<void()> callback) override {
    exchange_.on_client_gone(std::move(callback));
  }
  bool has_started() const override { return exchange_.started(); }
  net::Headers& headers() override { return headers_; }

  net::Task<Result<void>> write(std::string_view bytes) override {
    start();
    return exchange_.write(bytes);
  }
  net::Task<Result<void>> end(std::string_view bytes) override {
    start();
    return exchange_.end(bytes);
  }
  net::Task<Result<void>> respond(int status, std::string_view body) override {
    return exchange_.respond(status, headers_, body);
  }

 private:
  void start() {
    if (exchange_.started()) return;
    exchange_.start(200, headers_);
    headers_ = {};
  }

  net::Exchange& exchange_;
  net::Headers headers_;
};

}  // namespace callgate::server
