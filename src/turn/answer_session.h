// AnswerSession: the answer to one request, plain or of a tool loop: encodes it, keeps what the log wants of it, writes its headers,
// fills silences, delivers it to its audience, and ends the turn's row. It is the listener of a plain turn's only round; a tool
// loop writes into it what all its rounds say.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "callgate/loop.h"
#include "callgate/pipeline.h"
#include "dial/grace_timer.h"
#include "engine/answer.h"
#include "turn/audience.h"
#include "turn/hook/answer_guard.h"
#include "turn/hook/guarded_outlet.h"
#include "turn/hook/word_judge.h"
#include "turn/round.h"
#include "turn/turn_job.h"
#include "turn/turn_log.h"

namespace callgate::server {

class AnswerSession final : public loop::ClientSink,
                            public RoundListener,
                            public AnswerGuard::Exit {
 public:
  // What an audience gets.
  enum class Wants : std::uint8_t {
    bytes,  // of the client's protocol
    words,  // what is said; a whole answer is made for the log alone, where it keeps it
  };
  // REQUIRES: host, job, log and audience outlive the session.
  AnswerSession(const TurnHost& host, TurnJob& job, TurnLog& log, Audience& audience, Wants wants);
  AnswerSession(const AnswerSession&) = delete;
  AnswerSession& operator=(const AnswerSession&) = delete;

  // What hooks say of the prompt, before anything else: they may rewrite it. An error: it is denied.
  net::Task<Result<void>> judge_prompt();
  bool has_judge() const { return judge_ != nullptr; }
  // Hooks judge what of a loop's answer still waits for the end of its sentence.
  net::Task<> judge_rest();
  // A hook ended the answer.
  bool is_denied() const { return guard_ != nullptr && guard_->is_denied(); }
  // The audience left: no hook is asked any more.
  void leave() {
    if (judge_) judge_->cancel();
  }

  // A tool loop's answer begins. The job's request is its shape alone from now on: this gives the rest back.
  Request begin_loop(std::string loop_id);
  // What the loop says.
  void accept(const Event& event) override;
  void notice(const loop::Notice& notice) override;
  // One frame of a round's events begins or ends.
  void begin_frame();
  void end_frame();
  // The client should know that its answer is under way, though there is nothing to say yet.
  void open();
  // A call of the loop waits for a person: the client hears of it at once.
  void announce(const loop::WaitForApproval& wait);

  // The listener of one round.
  std::shared_ptr<engine::TurnOutlet> begin_answer(const Request& request,
                                                   PipelineOptions& options) override;
  void before_read(std::size_t bytes) override;
  void after_read() override;
  std::optional<Error> objection() const override;
  bool is_committed() const override;
  bool is_gone() const override { return audience_.is_gone(); }
  bool is_judging() const override { return guard_ != nullptr && guard_->has_question(); }
  bool has_enough() const override { return is_denied(); }
  bool waits() const override;
  net::Task<bool> send() override;
  std::optional<net::Millis> patience(std::uint64_t now) override;
  net::Task<bool> on_time() override;

  struct LoopEnd {
    std::optional<Usage> estimate;  // of the usage of all rounds, where some had to be estimated
    TurnSummary summary;            // of all of them
    std::string_view cut;           // how the loop ended
  };
  // Delivers the end and completes the row. Once. The last thing that happens to the session.
  net::Task<> end(Round::End end, const Error& error);
  net::Task<> end_loop(Round::End end, const Error& error, LoopEnd loop);

 private:
  // A new one for every attempt of a plain turn.
  struct Encoded {
    Encoded(const Request& request, const Protocol& protocol, const PipelineOptions& options,
            engine::AnswerOf of, TurnObserver* observer)
        : tally(options.id_seed),
          answer(request, protocol, options, of, observe(tally, observer)) {}
    static engine::TurnTally& observe(engine::TurnTally& tally, TurnObserver* observer) {
      tally.observer = observer;
      return tally;
    }
    engine::TurnTally tally;
    engine::Answer answer;
  };

  // What passed the hooks of a loop's answer.
  void pass(std::uint32_t choice, const Event& event) override;
  void pass(const loop::Notice& notice) override;
  net::Task<> judge();

  // Reserves what the answer holds. Without memory the log's copy goes, then the turn.
  void reserve();
  void forget_copy();
  void add_elapsed(PipelineOptions& options) const;
  void note(std::string json);
  void begin_stream();
  // Headers that say what was done to the request.
  void add_notices();
  // What is in out_ leaves now.
  std::string_view take_out();
  net::Task<> deliver();
  net::Task<> refuse(const Error& error);
  void record(const Error& error, const TurnSummary& summary, std::string_view cut);
  std::uint64_t keepalive() const;

  const TurnHost host_;
  TurnJob& job_;
  TurnLog& log_;
  Audience& audience_;
  const Wants wants_;
  const bool stream_;
  std::shared_ptr<Encoded> encoded_;         // nullptr: there is nothing to encode yet
  std::unique_ptr<WordJudge> judge_;         // nullptr: there are no hooks that judge words
  std::shared_ptr<GuardedOutlet> outlet_;    // of a plain turn that is judged
  std::unique_ptr<AnswerGuard> loop_guard_;  // of a loop that is judged
  AnswerGuard* guard_ = nullptr;             // one of these; nullptr: the answer is not judged
  std::string loop_id_;                      // empty: it is a plain turn
  std::string notes_;                        // of a loop's whole answer: elements of an array
  std::string out_;                          // bytes that can leave
  std::string sending_;
  bool open_ = false;
  bool out_of_memory_ = false;
  std::uint64_t last_write_ = 0;
  static constexpr std::uint64_t kKeyLook = 500;  // milliseconds between two
  std::uint64_t next_key_look_ = 0;
  GraceTimer coalescing_;
  // What became of it.
  TurnEnd::How how_ = TurnEnd::How::gone;
  int status_ = 0;
  std::uint64_t bytes_out_ = 0;
};

// One request that needs no loop, from its upstreams to its audience.
net::Task<> run_turn(TurnHost host, std::unique_ptr<LoopWork> work, const net::Headers& asked,
                     Audience& audience);

}  // namespace callgate::server
