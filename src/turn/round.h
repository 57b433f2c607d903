// Round: one turn of the model, from a request to the end of an upstream's answer. Tries the model's upstreams, reads what
// comes and hands events to a listener; it knows no client. A plain request is one round, a tool loop is many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/memory_budget.h"
#include "callgate/pipeline.h"
#include "callgate/request.h"
#include "dial/grace_timer.h"
#include "dial/pool/board.h"
#include "dial/pool/walk.h"
#include "dial/silence.h"
#include "dial/upstream_call.h"
#include "engine/call_hold.h"
#include "engine/prepare_request.h"
#include "engine/turn_outlet.h"
#include "engine/turn_reader.h"
#include "net/task.h"
#include "turn/insist_plan.h"
#include "turn/turn_job.h"
#include "turn/turn_log.h"

namespace callgate::server {

// Who gets a round's events. On the event loop's thread only.
class RoundListener {
 public:
  virtual ~RoundListener() = default;

  // An upstream answers: what an earlier attempt said is forgotten. Completes the options, and gives the place for the
  // events.
  virtual std::shared_ptr<engine::TurnOutlet> begin_answer(const Request& request,
                                                           PipelineOptions& options) = 0;
  // So many bytes of it are read now.
  virtual void before_read(std::size_t /*bytes*/) {}
  // Some of it was read: events may have come.
  virtual void after_read() {}
  // Why no more of it may be read, if so: the round fails with that.
  virtual std::optional<Error> objection() const { return std::nullopt; }
  // It has been read to its end, good or bad.
  virtual void end_answer(const TurnSummary&) {}
  // Something of it cannot be taken back.
  virtual bool is_committed() const = 0;
  // Nobody wants the round any more.
  virtual bool is_gone() const { return false; }
  // Somebody must judge what was read before it leaves: send() waits for that as well.
  virtual bool is_judging() const { return false; }
  // The rest of the answer is not wanted: the round ends well.
  virtual bool has_enough() const { return false; }
  // Something has to leave before more is read. send() is false when it cannot.
  virtual bool waits() const { return false; }
  virtual net::Task<bool> send() { co_return true; }
  // When on_time() is wanted at the latest, if nothing else happens; zero: now, nothing: not at all. on_time() is false when
  // the round may end.
  virtual std::optional<net::Millis> patience(std::uint64_t /*now*/) { return std::nullopt; }
  virtual net::Task<bool> on_time() { co_return true; }
};

class Round {
 public:
  enum class End : std::uint8_t {
    ended,   // well
    broken,  // error() came when something was committed
    failed,  // no upstream could answer: error() says why, and nothing is committed
    gone,    // nobody wants it
  };

  // `skip_first`: whichever upstream would be asked first has just failed and comes last. REQUIRES: host, job, log, request
  // and listener outlive the round, or, but for the host, its drop().
  Round(const TurnHost& host, const TurnJob& job, TurnLog& log, const Request& request,
        const PolicyOptions& policy, RoundListener& listener, bool skip_first = false);
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;

  net::Task<End> run();
  // Ends the call to the upstream now.
  void cancel();
  // Nobody wants the round: run() ends soon, and uses neither listener nor log any more.
  void drop();

  const Error& error() const { return error_; }
  // The failure of the answer that is being read.
  bool is_failing() const { return reader_ != nullptr && reader_->error(); }
  const TurnSummary& summary() const { return outlet_->tally().summary; }
  // An upstream keeps what it must of the turn, and nothing may follow yet.
  bool is_settling() const { return settling_; }

 private:
  enum class Step : std::uint8_t { ended, broken, failed, gone, no_call };

  // Waits until an upstream may be asked. nullptr: none may, and error_ says why, or nobody wants the round any more.
  net::Task<const UpstreamConfig*> next_upstream();
  net::Task<> wait_in_line(const std::string& upstream);
  void start_copy(Board::Copy copy);
  void note_failure(const UpstreamConfig& upstream);
  // What the upstream's memory keeps of the attempt.
  void settle_ticket(Step step);
  const UpstreamConfig& upstream_at(std::size_t place) const;
  // An attempt is these two with ask() in between. False: error_ says why the upstream cannot be asked.
  bool begin_attempt(const UpstreamConfig& upstream);
  Step end_attempt(Step step);
  // False: error_ says why the upstream cannot be asked.
  bool prepare(const UpstreamConfig& upstream);
  void close_call();
  bool open_call(const UpstreamConfig& upstream);
  UpstreamCall& wire() { return captured_ ? static_cast<UpstreamCall&>(*captured_) : *call_; }
  net::Task<Step> ask(const UpstreamConfig& upstream);
  PipelineOptions reading_options(const UpstreamConfig& upstream);
  void open_reader(const UpstreamConfig& upstream);
  net::Task<Step> read(const UpstreamConfig& upstream);
  // Reads until the turn is over. False when nobody wants it any more.
  net::Task<bool> pump(const UpstreamConfig& upstream);
  void take(const Result<UpstreamCall::Piece>& piece);
  // The same for a key whose tokens are counted: in small steps, and no further than its budgets reach.
  net::Task<> take_metered(std::string_view bytes);
  // False when there is nothing left, or nobody wants it any more.
  net::Task<bool> wait_for_budget();
  void cut();
  void give_up(const Error& error);
  // The reader did something.
  void announce();
  // Ends the round if there is no memory for more of it, or the listener objects.
  void check_limits();
  void forget_encoded();
  bool is_gone() const { return listener_ == nullptr || listener_->is_gone(); }

  const TurnHost host_;
  const TurnJob& job_;
  TurnLog& log_;
  const Request& request_;
  const PolicyOptions policy_;
  RoundListener* listener_;  // nullptr: it was dropped
  // Kept for as long as the call runs.
  const std::shared_ptr<const Snapshot> snapshot_;
  const std::shared_ptr<Capture> capture_;
  const std::shared_ptr<TokenMeter> meter_;  // nullptr: nothing is counted
  const bool streams_;
  const std::shared_ptr<const ModelConfig> own_model_;  // of a model without a table
  const ModelConfig& model_;
  PoolWalk walk_;
  const Board::Question question_;
  InsistPlan insist_;
  std::shared_ptr<net::Signal> line_;  // while the round waits for room at an upstream
  net::Deadline deadline_;             // until something is committed
  bool expired_ = false;
  std::string failed_at_;  // the upstream whose failure nobody has tried to make good yet

  // Of one attempt.
  std::optional<engine::TextTools> text_;
  std::unique_ptr<Request> prepared_;  // nullptr: what was asked goes as it is
  std::unique_ptr<UpstreamRequest> encoded_;
  PoolTicket ticket_;
  std::shared_ptr<UpstreamTarget> target_;
  std::unique_ptr<UpstreamCall> call_;  // goes before its target
  std::optional<CapturedCall> captured_;
  std::unique_ptr<ExplainLog> explain_;
  std::shared_ptr<engine::TurnOutlet> outlet_;
  std::unique_ptr<engine::CallHold> hold_;
  std::unique_ptr<engine::TurnReader> reader_;
  Reservation memory_;
  bool asked_ = false;
  bool drained_ = false;  // the upstream's answer was read to its last byte
  int status_ = 0;        // of the upstream's answer; 0: none came
  bool settling_ = false;
  bool gave_up_ = false;    // the upstream was silent for too long
  bool key_stops_ = false;  // its budget is used up, or it has ended: no upstream is to blame
  Error error_;
};

}  // namespace callgate::server
