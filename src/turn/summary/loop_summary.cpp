// What a loop does when a turn has to wait for a summary.
#include <exception>
#include <utility>

#include "turn/loop_turn.h"

namespace callgate::server {

void LoopRun::start_summary(loop::CallModel call) {
  host_.world.log.info("a tool loop asks its model for a summary, since its context is full",
                       {{"request", job_.request_id}, {"round", call.round}});
  session_.open();  // it takes a while
  log_.trace().begin_round(call.round, call.retry);
  summary_ = std::make_shared<Summary>(*this, std::move(call));
  host_.loop.spawn(play_summary(summary_, host_.loop));
}

// Whatever it throws, the turn that waits for it begins.
net::Task<> LoopRun::play_summary(std::shared_ptr<Summary> summary, net::Loop& event_loop) {
  bool good = false;
  try {
    const Round::End end = co_await summary->turn.run();
    good = end == Round::End::ended;
  } catch (const std::exception& fault) {
    event_loop.report_fault(fault.what());
  } catch (...) {
    event_loop.report_fault("an unknown exception");
  }
  if (summary->run != nullptr) summary->run->end_summary(*summary, good);
}

void LoopRun::end_summary(Summary& summary, bool good) {
  const SummaryTurn& turn = summary.turn;
  if (good) count_usage(turn.question(), turn.summary());
  if (turn.usage()) tool_loop_->count(*turn.usage(), turn.usage_json());
  loop::CallModel call = std::move(summary.waits);
  drop_summary();
  const auto step = compaction_.summarized(call.request, good ? turn.text() : std::string());
  const std::string_view done = compaction_.wants_summaries() ? "summary" : "no_summary";
  host_.world.metrics.loop_compactions.with(model().name, done).add();
  ask_model(std::move(call), step);
  news_.notify();
}

void LoopRun::drop_summary() {
  if (summary_ == nullptr) return;
  summary_->run = nullptr;
  summary_->turn.drop();
  summary_.reset();
}

}  // namespace callgate::server
