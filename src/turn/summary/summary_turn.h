// The turn in which the model of a tool loop summarizes what no longer fits its context. Its words go into the next request,
// never to the client.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "callgate/event.h"
#include "engine/sink_outlet.h"
#include "turn/answer_session.h"
#include "turn/round.h"

namespace callgate::server {

class SummaryTurn final : RoundListener, EventSink {
 public:
  // An answer is cut after `most_bytes`. REQUIRES: as a Round, and the session as well.
  SummaryTurn(const TurnHost& host, const TurnJob& job, TurnLog& log, const AnswerSession& session,
              Request question, std::size_t most_bytes);

  const Request& question() const { return question_; }
  net::Task<Round::End> run() { return round_.run(); }
  void drop() { round_.drop(); }
  // What it said; of a turn that failed nothing.
  const std::string& text() const { return text_; }
  // What it cost, also when it failed later.
  const std::optional<Usage>& usage() const { return usage_; }
  const std::string& usage_json() const { return usage_json_; }
  const TurnSummary& summary() const { return round_.summary(); }

 private:
  class Outlet;

  std::shared_ptr<engine::TurnOutlet> begin_answer(const Request& request,
                                                   PipelineOptions& options) override;
  std::optional<Error> objection() const override { return session_.objection(); }
  bool is_committed() const override { return false; }
  bool has_enough() const override { return text_.size() > most_bytes_; }
  void accept(const Event& event) override;

  const TurnJob& job_;
  const AnswerSession& session_;
  const Request question_;
  const std::size_t most_bytes_;
  std::string text_;
  std::optional<Usage> usage_;
  std::string usage_json_;
  Round round_;
};

}  // namespace callgate::server
