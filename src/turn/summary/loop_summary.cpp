// What a loop does when a turn has to wait for a summary.
#include <utility>

#include "net/companion.h"
#include "turn/loop_turn.h"

namespace callgate::server {

void LoopRun::start_summary(loop::CallModel call) {
  host_.world.log.info("a tool loop asks its model for a summary, since its context is full",
                       {{"request", job_.request_id}, {"round", call.round}});
  session_.open();  // it takes a while
  log_.trace().begin_round(call.round, call.retry);
  summary_ = std::make_shared<Summary>(*this, std::move(call));
  // Whatever it throws, the turn that waits for it begins.
  host_.loop.spawn(net::watched(play_summary(summary_), [summary = summary_] {
    if (summary->run != nullptr) summary->run->end_summary(*summary, false);
  }));
}

net::Task<> LoopRun::play_summary(std::shared_ptr<Summary> summary) {
  const Round::End end = co_await summary->turn.run();
  if (summary->run != nullptr) summary->run->end_summary(*summary, end == Round::End::ended);
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
