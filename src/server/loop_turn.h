// One chat request whose tools the gateway runs itself: answers over HTTP, streamed or whole, what a LoopRun says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/protocol.h"
#include "server/gateway.h"
#include "server/loop_client.h"
#include "server/loop_run.h"

namespace callgate::server {

class LoopTurn final : LoopAudience {
 public:
  // REQUIRES: gateway, ask and protocol outlive the turn.
  LoopTurn(Gateway& gateway, Ask& ask, Request request, const Snapshot::Model& model,
           DialectChoice dialect, const RequestOptions& options, const Protocol& protocol,
           LoopChoice choice);

  net::Task<> run();

 private:
  void accept(const Event& event) override;
  void notice(const loop::Notice& notice) override { client_.notice(notice); }
  bool gone() const override { return ask_.exchange.client_gone(); }
  bool waits() const override { return stream_ && client_.has_out(); }
  net::Task<bool> send() override;
  net::Millis patience() const override;
  net::Task<> on_time() override;

  net::Task<> deliver(LoopRun::Delivery& delivery);
  void start_stream();
  AnswerEnd answer_end() const;
  // What the client got, as counters tell it.
  TurnSummary summary() const;
  // Silence before a comment is sent; 0: none is.
  std::uint64_t silence() const;

  Gateway& gateway_;
  Ask& ask_;
  const Protocol& protocol_;
  const bool stream_;
  const bool include_usage_;
  const RequestOptions options_;
  const Milliseconds coalesce_;
  const bool keepalive_;
  const std::shared_ptr<Capture> capture_;
  LoopRun run_;
  LoopClient client_;
  std::string sending_;
  std::uint64_t bytes_out_ = 0;
  std::uint64_t last_write_ = 0;
  std::optional<std::uint32_t> held_;  // the piece of reasoning that waits
  std::uint64_t held_until_ = 0;
};

}  // namespace callgate::server
