// Lines on their way to a file descriptor. push() never waits for it: lines go into a bounded buffer,
// and a thread of the writer's own writes them. Lines that do not fit are shed and counted; one line
// in their place says how many.
//
//   LineWriter writer({.descriptor = STDERR_FILENO, .shed_line = [](std::uint64_t count) { ... }});
//   writer.push("one line\n");
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

namespace callgate::telemetry {

struct LineWriterOptions {
  int descriptor = 2;            // borrowed: outlives the writer
  std::size_t bytes = 1u << 20;  // that may wait; beyond it lines are shed
  // How long the destructor lets the last lines leave.
  std::chrono::milliseconds close_timeout{2'000};
  // The line, with its line feed, that stands for `count` shed ones. Called on the writer's thread.
  std::function<std::string(std::uint64_t count)> shed_line;
};

class LineWriter {
 public:
  explicit LineWriter(LineWriterOptions options);
  // Writes what waits; what a stuck descriptor does not take within `close_timeout` is lost.
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  // From any thread. A line ends with its line feed.
  void push(std::string_view line);
  // Waits until all that was pushed before is written or lost; false when `timeout` comes first. Not
  // for event loops.
  bool flush(std::chrono::milliseconds timeout);
  // Lines that were not written: there was no room, or the descriptor failed.
  std::uint64_t shed() const;

 private:
  friend class LineRescue;
  struct State;
  std::shared_ptr<State> state_;  // also the thread's, which may outlive the writer
  std::thread thread_;
};

// While it lives, a process that aborts or crashes waits up to two seconds for the writer's thread to
// write what was pushed before. One at a time in a process. REQUIRES: the writer outlives it.
class LineRescue {
 public:
  explicit LineRescue(const LineWriter& writer);
  ~LineRescue();
  LineRescue(const LineRescue&) = delete;
  LineRescue& operator=(const LineRescue&) = delete;
};

}  // namespace callgate::telemetry
