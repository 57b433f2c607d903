#include "dial/line_child.h"

#include <signal.h>

#include <utility>

#include "net/companion.h"
#include "sse/decoder.h"

namespace callgate::server {
namespace {

constexpr std::size_t kMaxLine = std::size_t{16} << 20;
constexpr std::size_t kMaxOutbox = std::size_t{64} << 20;
constexpr net::Millis kWriteTimeout{30'000};
constexpr net::Millis kEndTimeout{1'000};

}  // namespace

LineChild::LineChild(net::Loop& loop, std::unique_ptr<net::Process> process, Events events)
    : loop_(loop), process_(std::move(process)), events_(std::move(events)), news_(loop) {}

Result<std::shared_ptr<LineChild>> LineChild::start(net::Loop& loop,
                                                    const net::ProcessOptions& options,
                                                    Events events) {
  auto process = net::Process::start(loop, options);
  if (!process) return tl::unexpected(process.error());
  auto child = std::make_shared<LineChild>(loop, std::move(*process), std::move(events));
  loop.spawn(net::watched(child->read_lines(child), [child] { child->break_off(); }));
  loop.spawn(child->write_lines(child));
  return child;
}

bool LineChild::tell(std::string_view line) {
  if (over_ || outbox_.size() + line.size() > kMaxOutbox) return false;
  outbox_.append(line).push_back('\n');
  news_.notify();
  return true;
}

void LineChild::break_off() {
  kill();
  over_ = true;
  news_.notify();
  if (std::exchange(muted_, true)) return;
  events_.end({.code = ErrorCode::upstream_failed,
               .message = "reading from the codex child broke off inside the gateway"},
              "");
}

void LineChild::kill() { process_->signal(SIGKILL); }

void LineChild::drop() {
  muted_ = true;
  kill();
}

// The task holds the child as long as it runs.
net::Task<> LineChild::read_lines([[maybe_unused]] std::shared_ptr<LineChild> self) {
  co_await loop_.sleep(net::Millis(0));  // nothing is reported before start() has returned
  LineDecoder lines(kMaxLine);
  while (!lines.overflowed()) {
    const auto bytes = co_await process_->output().read(net::kNever);
    if (!bytes || bytes->empty()) break;
    lines.push(*bytes, [&](const SseFrame& frame) {
      if (!muted_) events_.line(frame.data);
    });
  }
  if (lines.overflowed()) kill();
  if (!co_await process_->wait(kEndTimeout)) {
    kill();
    co_await process_->wait(kEndTimeout);
  }
  over_ = true;
  process_->input().close();
  news_.notify();
  if (!muted_) {
    const std::string how =
        process_->ending().empty() ? "it closed its output" : process_->ending();
    const Error why{.code = ErrorCode::upstream_failed, .message = "the codex child ended: " + how};
    muted_ = true;
    events_.end(why, process_->last_words());
  }
}

net::Task<> LineChild::write_lines([[maybe_unused]] std::shared_ptr<LineChild> self) {
  std::string writing;
  while (!over_) {
    if (outbox_.empty()) {
      co_await news_.wait();
      continue;
    }
    writing.clear();
    std::swap(writing, outbox_);
    const auto written = co_await process_->input().write(writing, kWriteTimeout);
    if (!written) {
      kill();
      break;
    }
  }
}

}  // namespace callgate::server
