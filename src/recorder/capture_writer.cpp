#include "recorder/capture_writer.h"

#include "capture/capture_mask.h"

namespace callgate::server {
namespace {

void mask(CaptureJob& job) {
  std::vector<std::string> secrets = *job.secrets;
  if (!job.client_secret.empty()) secrets.push_back(job.client_secret);
  mask_secrets(job.record, secrets);
}

}  // namespace

CaptureRecord masked_record(CaptureJob job) {
  mask(job);
  part_pieces(job.record);
  return std::move(job.record);
}

std::string print_masked(CaptureJob job) {
  mask(job);
  return print_capture(job.record);
}

CaptureWriter::~CaptureWriter() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  work_.notify_one();
  if (thread_.joinable()) thread_.join();
}

bool CaptureWriter::reserve(std::uint64_t bytes, std::uint64_t limit) {
  const std::uint64_t before = reserved_.fetch_add(bytes, std::memory_order_relaxed);
  const bool fits = before + bytes <= limit;
  if (fits && (memory_ == nullptr || memory_->take(bytes, 0, MemoryUse::copy))) return true;
  reserved_.fetch_sub(bytes, std::memory_order_relaxed);
  return false;
}

void CaptureWriter::release(std::uint64_t bytes) {
  reserved_.fetch_sub(bytes, std::memory_order_relaxed);
  if (memory_ != nullptr) memory_->give_back(bytes);
}

void CaptureWriter::push(CaptureJob job) {
  const std::lock_guard lock(mutex_);
  jobs_.push_back(std::move(job));
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  work_.notify_one();
}

void CaptureWriter::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return stopped_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    CaptureJob job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    write(std::move(job));
    lock.lock();
  }
}

void CaptureWriter::write(CaptureJob job) {
  mask(job);
  const auto done = put(job);
  if (!done) {
    folder_.reset();
    log_.repeated(telemetry::LogLevel::error, "capture", "capture: " + done.error().message);
  }
  metrics_.captures.with(!done ? "failed" : job.record.truncated ? "truncated" : "written").add();
  release(job.reserved);
}

Result<void> CaptureWriter::put(const CaptureJob& job) {
  if (!folder_ || folder_->path() != job.folder) {
    auto opened = CaptureFolder::open(job.folder);
    if (!opened) return tl::unexpected(opened.error());
    folder_ = std::move(*opened);
  }
  return folder_->write(job.record.request_id, print_capture(job.record), job.max_files);
}

}  // namespace callgate::server
