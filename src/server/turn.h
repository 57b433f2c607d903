// One chat request from its upstreams to its client: tries, streams, and tells the log and the metrics.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "callgate/pipeline.h"
#include "callgate/request.h"
#include "client/protocol.h"
#include "dial/silence.h"
#include "dial/upstream_call.h"
#include "server/gateway.h"
#include "server/request_options.h"
#include "server/turn_record.h"
#include "server/turn_trace.h"

namespace callgate::server {

class Turn {
 public:
  // REQUIRES: gateway, ask, model and options outlive the turn.
  Turn(Gateway& gateway, Ask& ask, Request request, const Snapshot::Model& model,
       DialectChoice dialect, const RequestOptions& options, const Protocol& protocol);

  net::Task<> run();

 private:
  enum class Step : std::uint8_t {
    answered,  // the client has its answer, or part of it and an error frame
    failed,    // nothing was sent; error_ says why
    gone,      // the client left
    no_call,   // the turn lacks the call that was asked for; nothing was sent
  };

  // One try, or two where the first teaches that calls have to stay in the text.
  net::Task<Step> ask_upstream(const UpstreamConfig& upstream);
  net::Task<Step> attempt(const UpstreamConfig& upstream);
  // The client insists on a call, and the upstream was told so in words only.
  bool wants_call() const;
  // A turn that must have a call is not sent before it has one.
  bool is_held(const Pipeline& pipeline) const;
  // Headers that tell the client what was done to its request.
  void add_notices();
  net::Task<Step> relay(UpstreamCall& call, const UpstreamConfig& upstream);
  // Reads until the answer is complete. False when the client left.
  net::Task<bool> pump(UpstreamCall& call, Silence silence, Pipeline& pipeline, std::string& out);
  // The upstream was silent for too long.
  void give_up(const Error& error, Pipeline& pipeline, std::string& out);
  net::Task<bool> send(std::string& out);
  net::Task<Step> deliver(UpstreamCall& call, Pipeline& pipeline, std::string& out);
  PipelineOptions pipeline_options(const WireFormat& wire, UpstreamCall& call) const;
  // The request has done its work: an answer that streams for long should not hold it.
  void forget_request();

  std::string_view dialect_name() const;
  TurnSubject subject() const;
  TurnLabels labels() const;
  void record_begin();
  void record_end(Step step);

  Gateway& gateway_;
  Ask& ask_;
  Request request_;
  const ModelConfig& model_;
  const engine::RequestRules& rules_;
  const RequestOptions& options_;
  const Protocol& protocol_;
  const Dialect* dialect_ = nullptr;
  bool dialect_is_default_ = false;
  std::string_view read_as_;  // the dialect that read this attempt's text, after what was learned
  bool keepalive_ = true;
  std::optional<engine::TextTools> text_;  // of this attempt
  std::optional<UpstreamRequest> encoded_;

  Error error_;
  std::string upstream_;
  std::string dropped_;       // names of fields
  bool insisted_ = false;     // a turn without the call that was asked for was thrown away
  std::string conversation_;  // what became of it, at an upstream that keeps conversations
  std::string session_;       // its id there
  bool gave_up_ = false;      // the upstream was silent for too long
  int status_ = 0;
  std::uint32_t attempts_ = 0;
  std::uint64_t bytes_out_ = 0;
  std::optional<std::uint64_t> first_byte_ms_;
  std::optional<std::uint64_t> first_token_ms_;
  TurnSummary summary_;
  TurnTrace trace_;
  TurnRecord record_;
};

}  // namespace callgate::server
