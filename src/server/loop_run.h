// One tool loop: performs what the ToolLoop decides. It knows no connection: whoever started it may leave before it ends.
// One task waits for whatever comes first: events of a round, a tool's result, a deadline, a command from outside. Rounds
// and tools run as tasks of their own, which may outlive the run; they are told when nobody wants them any more.
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
#include "callgate/request.h"
#include "server/gateway.h"
#include "server/held_end.h"
#include "server/loop_choice.h"
#include "server/loop_memory.h"
#include "server/request_options.h"
#include "server/running_loops.h"
#include "server/turn_outcome.h"
#include "server/turn_record.h"
#include "server/turn_trace.h"

namespace callgate::server {

// Who hears the loop, and sets its pace. Its loop's thread only.
class LoopAudience : public loop::ClientSink {
 public:
  // Nobody is left: the loop is cancelled.
  virtual bool gone() const { return false; }
  // Something waits to be sent. The model is read no further meanwhile.
  virtual bool waits() const { return false; }
  // Sends it; false when that is impossible.
  virtual net::Task<bool> send() { co_return true; }
  // When on_time() is wanted at the latest; kNever: not at all.
  virtual net::Millis patience() const { return net::kNever; }
  virtual net::Task<> on_time() { co_return; }
  // The loop can be steered from now on.
  virtual void started() {}
  // A call waits for a person.
  virtual void wait_for_approval(const loop::WaitForApproval&) {}
};

// A request for a loop, by value.
struct LoopWork {
  std::shared_ptr<const Snapshot> snapshot;
  KeyState* key = nullptr;  // lives in the snapshot; nullptr on an open gateway
  std::string request_id;
  std::string session;  // as the client names its conversation, may be empty
  std::string peer;
  std::uint64_t started_ms = 0;  // of the event loop's clock
  std::string received;          // the body, where the log keeps it
  std::size_t received_bytes = 0;
  std::string_view protocol;
  Request request;
  Snapshot::Model model;  // of the snapshot
  DialectChoice dialect;
  RequestOptions options;
  LoopChoice choice;
  std::shared_ptr<Capture> capture;  // rounds may outlive the run; nullptr: it is not captured
};

class LoopRun {
 public:
  // `headers` may name the trace that it belongs to. REQUIRES: gateway and audience outlive the run, but its destructor
  // asks nothing of them.
  LoopRun(Gateway& gateway, LoopWork work, const net::Headers& headers, LoopAudience& audience);
  // Ends the round and the tools.
  ~LoopRun();
  LoopRun(const LoopRun&) = delete;
  LoopRun& operator=(const LoopRun&) = delete;

  const std::string& id() const { return id_; }
  const Request& request() const { return work_.request; }  // before run()
  // Bytes of an answer that the log keeps; 0: none.
  std::size_t max_logged() const { return record_.max_answer(); }

  // Begins the row in the log and runs the loop to its end. False when the audience was gone first.
  net::Task<bool> run();
  // What became of it, after run(). Nothing: it went back to the client with calls of its own, or never began.
  const std::optional<loop::Finish>& finish() const { return finish_; }
  bool failed() const;
  const Error& error() const { return error_; }
  // The audience has something to say: it left, for example.
  void notify() { news_.notify(); }
  // What may be done to it from outside.
  void steer(const LoopCommand& command);

  // Bytes leave for the client now.
  void wrote();
  // How long the client waited for the first of them.
  std::optional<std::uint64_t> first_token_ms() const { return first_token_ms_; }
  std::uint64_t elapsed_ms() const { return loop_.now() - work_.started_ms; }
  // The usage of all rounds so far, if that of one of them had to be estimated and policies want it.
  const std::optional<Usage>& usage_estimate() const { return usage_estimate_; }

  // What the client got, for the log.
  struct Delivery {
    TurnEnd::How how = TurnEnd::How::answered;
    int status = 200;
    std::uint64_t bytes_out = 0;
    std::optional<FinishReason> known_reason;
    FinishReason reason = FinishReason::stop;
    std::string body;  // in one piece; empty: it was streamed
    KeptTurn kept;
  };
  // Completes the row, counts, ends the trace. Once, after run().
  void record_end(Delivery delivery);

 private:
  struct Round;
  struct Run;
  // Rounds are one turn to the log and to traces.
  class Observer final : public TurnObserver {
   public:
    explicit Observer(LoopRun& run) : run_(run) {}
    void turn_started(std::string_view) override {}
    void call_started(const CallStart& start) override { run_.record_.call_started(start); }
    void call_finished(const CallEnd& end) override { run_.record_.call_finished(end); }

   private:
    LoopRun& run_;
  };

  net::Task<Result<std::optional<loop::State>>> recall();
  Result<loop::ToolLoop> make_loop(std::optional<loop::State> state);
  net::Task<bool> drive();
  void perform_all();
  void perform(loop::Action& action);
  void call_model(loop::CallModel& call);
  void start_round(loop::CallModel call);
  // The turn that waits for it begins when what came before is stored.
  net::Task<> store_step();
  // Tells the audience of the end when that is stored, too.
  net::Task<> store_end();
  void keep_state(const loop::ReturnToClient& back);
  void drop_round();
  void run_tool(loop::RunTool& run);
  void cancel_tool(loop::RunId run);
  void finish_run(Run& run, tool::ToolResult result);
  void show();
  net::Millis patience() const;

  // A round, with its tries.
  static net::Task<> play(std::shared_ptr<Round> round);
  // One try, or two where the first teaches that calls have to stay in the text.
  static net::Task<Result<void>> ask_upstream(std::shared_ptr<Round> round,
                                              const UpstreamConfig& upstream);
  static net::Task<Result<void>> attempt(std::shared_ptr<Round> round,
                                         const UpstreamConfig& upstream);
  static net::Task<Result<void>> relay(std::shared_ptr<Round> round,
                                       const UpstreamConfig& upstream);
  PipelineOptions round_options(const Round& round, const WireFormat& wire, UpstreamCall& call);
  void fail_round(const Round& round, const Error& error);
  void count_usage(const Round& round, const TurnSummary& summary);
  static net::Task<> play_tool(std::shared_ptr<Run> run, tool::ToolHost& host, net::Loop& loop,
                               tool::ToolCall call, net::Millis timeout);

  loop::Millis now() const { return static_cast<loop::Millis>(loop_.now()); }
  const ModelConfig& model() const { return *work_.model.config; }
  std::string_view key_name() const;
  std::string session() const;
  std::string_view dialect_name() const;
  TurnSubject subject() const;
  TurnLabels labels() const;
  void record_begin();

  Gateway& gateway_;
  World& world_;
  net::Loop& loop_;
  IdMint mint_;
  LoopWork work_;
  const bool stream_;  // what the client wants
  LoopAudience& audience_;
  const std::string id_;

  net::Signal news_;
  TurnTrace trace_;
  TurnRecord record_;
  Observer observer_{*this};
  std::unique_ptr<LoopMemory> memory_;  // nullptr: the loop remembers nothing
  HeldEnd held_end_;
  std::optional<loop::CallModel> next_call_;  // waits for the memory
  std::vector<LoopCommand> early_;            // before what is remembered was there
  std::optional<loop::ToolLoop> tool_loop_;
  std::optional<RunningLoops::Entry> entry_;
  std::shared_ptr<Round> round_;
  std::unordered_map<loop::RunId, std::shared_ptr<Run>> runs_;
  std::optional<loop::Finish> finish_;
  bool returned_ = false;          // to the client, with calls of its own
  std::optional<Error> given_up_;  // a round found no upstream: another try is of no use

  Error error_;
  std::string upstream_;
  std::uint32_t attempts_ = 0;
  std::optional<std::uint64_t> first_byte_ms_;
  std::optional<std::uint64_t> first_token_ms_;
  TurnSummary rounds_;  // of all of them
  Usage usage_;         // of all of them, estimates included
  std::optional<Usage> usage_estimate_;
};

}  // namespace callgate::server
