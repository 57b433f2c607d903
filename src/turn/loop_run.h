// One tool loop: performs what the ToolLoop decides, and writes what it says into an AnswerSession. One task waits for
// whatever comes first: events of a round, a tool's result, a deadline, a command from outside. Rounds and tools run as tasks
// of their own, which may outlive the run; they are told when nobody wants them any more.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "callgate/loop.h"
#include "callgate/pipeline.h"
#include "loop/compaction.h"
#include "tool/cancel.h"
#include "tool/tool.h"
#include "turn/answer_session.h"
#include "turn/audience.h"
#include "turn/held_end.h"
#include "turn/hook/loop_hooks.h"
#include "turn/loop_memory.h"
#include "turn/round.h"
#include "turn/round_log.h"
#include "turn/running_loops.h"
#include "turn/turn_job.h"
#include "turn/turn_log.h"

namespace callgate::server {

class LoopRun final : RoundListener {
 public:
  using Wants = AnswerSession::Wants;
  // `asked`: the headers of the request, which may name a trace. REQUIRES: host and audience outlive the run, but its
  // destructor asks nothing of them.
  LoopRun(const TurnHost& host, LoopWork work, const net::Headers& asked, Audience& audience,
          Wants wants);
  // Ends the round and the tools.
  ~LoopRun() override;
  LoopRun(const LoopRun&) = delete;
  LoopRun& operator=(const LoopRun&) = delete;

  const std::string& id() const { return id_; }
  // Begins the row in the log, runs the loop to its end, delivers it, and completes the row.
  net::Task<> run();

  // What became of it, before the audience gets the end. Nothing: it went back to the client with calls of its own, or
  // never began.
  const std::optional<loop::Finish>& finish() const { return finish_; }
  // The usage of all rounds so far, if that of one of them had to be estimated and policies want it.
  const std::optional<Usage>& usage_estimate() const { return usage_estimate_; }
  TurnLog& log() { return log_; }

 private:
  struct Turn;
  struct Summary;
  struct ToolRun;
  class Outlet;
  // Rounds are one turn to the log and to traces.
  class Observer final : public TurnObserver {
   public:
    explicit Observer(TurnLog& log) : log_(log) {}
    void turn_started(std::string_view) override {}
    void call_started(const CallStart& start) override { log_.observer()->call_started(start); }
    void call_finished(const CallEnd& end) override { log_.observer()->call_finished(end); }

   private:
    TurnLog& log_;
  };

  // The listener of the current round.
  std::shared_ptr<engine::TurnOutlet> begin_answer(const Request& request,
                                                   PipelineOptions& options) override;
  void after_read() override;
  std::optional<Error> objection() const override;
  void end_answer(const TurnSummary& summary) override;
  bool is_committed() const override { return heard_; }
  bool waits() const override { return session_.waits(); }
  net::Task<bool> send() override;

  // An event of the current round.
  void take(const Event& event);
  void count_usage(const Request& asked, const TurnSummary& summary);

  net::Task<Result<std::optional<loop::State>>> recall();
  Result<loop::ToolLoop> make_loop(std::optional<loop::State> state);
  // Nothing when the audience left.
  net::Task<bool> play();
  net::Task<bool> drive();
  void perform_all();
  void perform(loop::Action& action);
  void call_model(loop::CallModel& call);
  void start_turn(loop::CallModel call);
  // What fits is asked, and what needs a summary gets one first.
  void ask_model(loop::CallModel call, loop::Compaction::Step step);
  bool try_shorter(const Turn& turn);
  void start_summary(loop::CallModel call);
  static net::Task<> play_summary(std::shared_ptr<Summary> summary);
  void end_summary(Summary& summary, bool good);
  void drop_summary();
  static net::Task<> play_turn(std::shared_ptr<Turn> turn);
  void end_turn(const Turn& turn, Round::End end);
  // The turn's task threw.
  void lose_turn(const Turn& turn);
  void drop_turn();
  // The turn that waits for it begins when what came before is stored.
  net::Task<> store_step();
  // Says how the loop ended when that is stored as well.
  net::Task<> store_end();
  void keep_state(const loop::ReturnToClient& back);
  void run_tool(loop::RunTool& run);
  static net::Task<> play_tool(std::shared_ptr<ToolRun> run, tool::ToolHost& host,
                               net::Loop& event_loop, tool::ToolCall call, net::Millis timeout);
  void cancel_tool(loop::RunId run);
  void finish_tool(ToolRun& run, tool::ToolResult result);
  bool reserve(std::uint64_t more);
  void steer(const LoopCommand& command);
  void stop(const Error& why);
  void show();
  // Until the next deadline of the loop, or of the answer.
  std::optional<net::Millis> next_deadline();
  bool failed() const;
  net::Task<> end(bool stayed);

  loop::Millis now() const { return static_cast<loop::Millis>(host_.loop.now()); }
  const ModelConfig& model() const { return job_.config(); }
  std::string session() const;
  tool::ToolContext tool_context() const;

  const TurnHost host_;
  TurnJob job_;
  LoopChoice choice_;
  const PolicyOptions round_policy_;
  Audience& audience_;
  const std::string id_;
  TurnLog log_;
  AnswerSession session_;
  Observer observer_{log_};
  RoundLog round_log_;
  LoopHooks hooks_;

  net::Signal news_;
  std::unique_ptr<LoopMemory> memory_;  // nullptr: the loop remembers nothing
  HeldEnd held_end_;
  std::optional<loop::CallModel> next_call_;  // waits for the memory
  std::vector<LoopCommand> early_;            // before what is remembered was there
  std::optional<loop::ToolLoop> tool_loop_;
  std::optional<RunningLoops::Entry> entry_;
  std::shared_ptr<Turn> turn_;          // of the model; nullptr: none runs
  std::optional<std::uint32_t> round_;  // of the turn of the model that was asked for last
  loop::Compaction compaction_;
  std::shared_ptr<Summary> summary_;  // that a turn waits for; nullptr: none does
  bool heard_ = false;                // an event of it went to the loop
  bool said_ = false;                 // and it was words
  std::unordered_map<loop::RunId, std::shared_ptr<ToolRun>> runs_;
  std::optional<loop::Finish> finish_;
  bool returned_ = false;          // to the client, with calls of its own
  std::optional<Error> given_up_;  // a turn found no upstream: another try is of no use
  Error error_;
  Reservation held_{&host_.world.memory, MemoryUse::need};  // what rounds said and tools gave
  std::uint64_t result_bytes_ = 0;
  bool out_of_memory_ = false;
  TurnSummary rounds_;  // of all of them
  Usage usage_;         // of all of them, estimates included
  std::optional<Usage> usage_estimate_;
};

}  // namespace callgate::server
