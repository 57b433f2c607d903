// Writes captures without delaying requests: loops hand over what they collected, one thread masks it, turns it into
// text and writes the file. Memory is bounded over all captures, whether they still collect or wait to be written.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/memory_budget.h"
#include "capture/capture_format.h"
#include "recorder/capture_folder.h"
#include "telemetry/log.h"
#include "telemetry/metrics.h"

namespace callgate::server {

struct CaptureJob {
  CaptureRecord record;
  std::shared_ptr<const std::vector<std::string>> secrets;
  std::string key;            // the name of the client's; empty: none
  std::string client_secret;  // what the client sent as its credential; may be empty
  std::string folder;
  std::size_t max_files = 0;
  std::uint64_t reserved = 0;  // given back when the job is done
};

// The record without secrets, its bytes cut as they came.
CaptureRecord masked_record(CaptureJob job);
// The text of the file, without secrets.
std::string print_masked(CaptureJob job);

class CaptureWriter {
 public:
  // `memory`, which may be nullptr, is what captures are reserved from. REQUIRES: all outlive the writer. The thread starts with
  // the first job.
  CaptureWriter(telemetry::Logger& log, telemetry::Metrics& metrics, MemoryBudget* memory = nullptr)
      : log_(log), metrics_(metrics), memory_(memory) {}
  // Writes what waits.
  ~CaptureWriter();
  CaptureWriter(const CaptureWriter&) = delete;
  CaptureWriter& operator=(const CaptureWriter&) = delete;

  // Memory for a capture; false when all captures together would hold more than `limit`. From any thread.
  bool reserve(std::uint64_t bytes, std::uint64_t limit);
  void release(std::uint64_t bytes);
  // Its memory is given back by the writer. From any thread; never waits for the disk.
  void push(CaptureJob job);
  // There was no memory for one.
  void count_dropped() { metrics_.captures.with("dropped").add(); }

 private:
  void run();
  void write(CaptureJob job);
  Result<void> put(const CaptureJob& job);

  telemetry::Logger& log_;
  telemetry::Metrics& metrics_;
  MemoryBudget* const memory_;
  std::atomic<std::uint64_t> reserved_{0};
  std::optional<CaptureFolder> folder_;  // the writer thread's

  std::mutex mutex_;
  std::condition_variable work_;
  std::deque<CaptureJob> jobs_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace callgate::server
