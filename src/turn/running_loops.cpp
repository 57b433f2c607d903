#include "turn/running_loops.h"

#include <algorithm>
#include <utility>

namespace callgate::server {

RunningLoops::Entry::Entry(RunningLoops& all, net::Loop& event_loop, LoopSight sight, Steer steer)
    : all_(all), id_(sight.id), steer_(std::make_shared<Steer>(std::move(steer))) {
  const std::lock_guard lock(all_.mutex_);
  Running running{.sight = std::move(sight), .event_loop = &event_loop, .steer = steer_};
  all_.running_.insert_or_assign(id_, std::move(running));
}

RunningLoops::Entry::~Entry() {
  const std::lock_guard lock(all_.mutex_);
  all_.running_.erase(id_);
}

void RunningLoops::Entry::show(std::uint32_t rounds, std::uint32_t calls,
                               std::vector<std::string> tools,
                               std::vector<loop::WaitForApproval> approvals) {
  const std::lock_guard lock(all_.mutex_);
  LoopSight& sight = all_.running_.find(id_)->second.sight;
  sight.rounds = rounds;
  sight.calls = calls;
  sight.tools = std::move(tools);
  sight.approvals = std::move(approvals);
}

std::vector<LoopSight> RunningLoops::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<LoopSight> all;
  for (const auto& [id, running] : running_) all.push_back(running.sight);
  return all;
}

RunningLoops::Answer RunningLoops::steer(std::string_view id, const std::string* key,
                                         LoopCommand command) {
  const std::lock_guard lock(mutex_);
  const auto found = running_.find(id);
  if (found == running_.end()) return Answer::no_loop;
  const Running& running = found->second;
  if (key != nullptr && running.sight.key != *key) return Answer::no_loop;
  if (command.kind == LoopCommand::Kind::approve || command.kind == LoopCommand::Kind::deny) {
    const auto& waiting = running.sight.approvals;
    const bool known = std::any_of(waiting.begin(), waiting.end(),
                                   [&](const auto& wait) { return wait.run == command.run; });
    if (!known) return Answer::no_run;
  }
  // The entry lives on the thread that the work is posted to, so it cannot go while it is told.
  running.event_loop->post([steer = running.steer, command = std::move(command)] {
    if (const auto still = steer.lock()) (*still)(command);
  });
  return Answer::taken;
}

}  // namespace callgate::server
