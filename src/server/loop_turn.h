// One chat request whose tools the gateway runs itself: performs what the ToolLoop decides. One task waits for whatever
// comes first: events of a round, a tool's result, a deadline, a command from outside, the client's leaving. Rounds and
// tools run as tasks of their own, which may outlive the turn; they are told when nobody wants them any more.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "callgate/loop.h"
#include "callgate/pipeline.h"
#include "callgate/request.h"
#include "server/gateway.h"
#include "server/loop_choice.h"
#include "server/loop_client.h"
#include "server/request_options.h"
#include "server/running_loops.h"
#include "server/turn_outcome.h"
#include "server/turn_record.h"
#include "server/turn_trace.h"

namespace callgate::server {

class LoopTurn {
 public:
  // REQUIRES: gateway, ask, model and options outlive the turn.
  LoopTurn(Gateway& gateway, Ask& ask, Request request, const Snapshot::Model& model,
           DialectChoice dialect, const RequestOptions& options, const Protocol& protocol,
           LoopChoice choice);
  // Ends the round and the tools.
  ~LoopTurn();
  LoopTurn(const LoopTurn&) = delete;
  LoopTurn& operator=(const LoopTurn&) = delete;

  net::Task<> run();

 private:
  struct Round;
  struct Run;
  // Rounds are one turn to the log and to traces.
  class Observer final : public TurnObserver {
   public:
    explicit Observer(LoopTurn& turn) : turn_(turn) {}
    void turn_started(std::string_view) override {}
    void call_started(const CallStart& start) override { turn_.record_.call_started(start); }
    void call_finished(const CallEnd& end) override { turn_.record_.call_finished(end); }

   private:
    LoopTurn& turn_;
  };

  // The whole loop; false when the client left.
  net::Task<bool> drive();
  void perform_all();
  void perform(loop::Action& action);
  void call_model(loop::CallModel& call);
  void drop_round();
  void run_tool(loop::RunTool& run);
  void cancel_tool(loop::RunId run);
  void finish_run(Run& run, tool::ToolResult result);
  void steer(const LoopCommand& command);
  void show();

  // A round, with its tries.
  static net::Task<> play(std::shared_ptr<Round> round);
  static net::Task<Result<void>> attempt(std::shared_ptr<Round> round,
                                         const UpstreamConfig& upstream);
  static net::Task<Result<void>> relay(std::shared_ptr<Round> round, const WireFormat& wire);
  PipelineOptions round_options(const WireFormat& wire, UpstreamCall& call);
  void fail_round(const Round& round, const Error& error);
  static net::Task<> play_tool(std::shared_ptr<Run> run, tool::ToolHost& host, net::Loop& loop,
                               tool::ToolCall call, net::Millis timeout);

  net::Millis patience() const;
  net::Task<bool> send();
  net::Task<bool> keep_alive();
  net::Task<TurnEnd::How> deliver();
  void start_stream();
  AnswerEnd answer_end() const;
  TurnSummary summary() const;
  loop::Millis now() const;
  std::string_view key_name() const;
  std::string_view dialect_name() const;
  TurnSubject subject() const;
  TurnLabels labels() const;
  void record_begin();
  void record_end(TurnEnd::How how);

  Gateway& gateway_;
  Ask& ask_;
  Request request_;
  const ModelConfig& model_;
  const engine::RequestRules& rules_;
  const RequestOptions& options_;
  const Protocol& protocol_;
  const DialectChoice dialect_;
  LoopChoice choice_;
  const bool stream_;
  const std::string id_;

  net::Signal news_;
  TurnTrace trace_;
  TurnRecord record_;
  Observer observer_{*this};
  LoopClient client_;
  std::optional<loop::ToolLoop> loop_;
  std::optional<RunningLoops::Entry> entry_;
  std::shared_ptr<Round> round_;
  std::unordered_map<loop::RunId, std::shared_ptr<Run>> runs_;
  std::optional<loop::Finish> finish_;
  bool returned_ = false;          // to the client, with calls of its own
  std::optional<Error> given_up_;  // a round found no upstream: another try is of no use

  Error error_;
  std::string upstream_;
  std::string sending_;
  int status_ = 0;
  std::uint32_t attempts_ = 0;
  std::uint64_t bytes_out_ = 0;
  std::uint64_t last_write_ = 0;
  std::optional<std::uint64_t> first_byte_ms_;
  std::optional<std::uint64_t> first_token_ms_;
  TurnSummary rounds_;  // of all of them
};

}  // namespace callgate::server
