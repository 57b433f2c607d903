#include "telemetry/line_writer.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <utility>

#include "base/check.h"

namespace callgate::telemetry {
namespace {

// What a signal handler can look at: bytes that were pushed, and that are written or lost.
struct Progress {
  std::atomic<std::uint64_t> pushed = 0;
  std::atomic<std::uint64_t> settled = 0;
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
};

// A handler sees nothing but what is global.
std::atomic<const Progress*> rescued = nullptr;
constexpr std::array kFatalSignals = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

// Only polls: the writer's thread runs on, and no lock may be taken here. The signal is raised again
// with its default action, which takes place when the handler returns.
extern "C" void wait_for_lines(int signal) {
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 5'000'000};
  constexpr int kPolls = 400;
  const int cause = errno;
  const Progress* progress = rescued.load();
  for (int i = 0; i < kPolls && progress != nullptr && progress->settled < progress->pushed; ++i) {
    nanosleep(&kPause, nullptr);
  }
  errno = cause;
  raise(signal);
}

// The number of bytes that were written; fewer than given when the descriptor fails.
std::size_t write_all(int descriptor, std::string_view bytes) {
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t count = write(descriptor, bytes.data() + written, bytes.size() - written);
    if (count >= 0) {
      written += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      pollfd ready{.fd = descriptor, .events = POLLOUT, .revents = 0};
      poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      break;
    }
  }
  return written;
}

std::uint64_t count_lines(std::string_view bytes) {
  return static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), '\n'));
}

}  // namespace

struct LineWriter::State {
  explicit State(LineWriterOptions given) : options(std::move(given)) {}

  void run() {
    std::string batch;
    while (take(batch)) write(batch);
    const std::lock_guard lock(mutex);
    finished = true;
    settled.notify_all();
  }

  // False when the writer is stopped and nothing waits.
  bool take(std::string& batch) {
    batch.clear();
    std::uint64_t missing = 0;
    {
      std::unique_lock lock(mutex);
      work.wait(lock, [this] { return stopped || !waiting.empty() || unreported > 0; });
      std::swap(waiting, batch);
      taken = batch.size();
      missing = std::exchange(unreported, 0);
    }
    if (missing > 0 && options.shed_line) batch += options.shed_line(missing);
    return !batch.empty() || missing > 0;
  }

  void write(std::string_view batch) {
    const std::size_t written = write_all(options.descriptor, batch);
    shed += count_lines(batch.substr(written));
    const std::lock_guard lock(mutex);
    progress.settled += std::exchange(taken, 0);
    settled.notify_all();
  }

  const LineWriterOptions options;
  std::mutex mutex;
  std::condition_variable work;     // for the thread
  std::condition_variable settled;  // for flush() and the destructor
  std::string waiting;
  std::size_t taken = 0;         // bytes that the thread is writing
  std::uint64_t unreported = 0;  // lines that were shed
  bool stopped = false;
  bool finished = false;
  std::atomic<std::uint64_t> shed = 0;
  Progress progress;
};

LineWriter::LineWriter(LineWriterOptions options)
    : state_(std::make_shared<State>(std::move(options))),
      thread_([state = state_] { state->run(); }) {}

LineWriter::~LineWriter() {
  bool finished = false;
  {
    std::unique_lock lock(state_->mutex);
    state_->stopped = true;
    state_->work.notify_one();
    finished = state_->settled.wait_for(lock, state_->options.close_timeout,
                                        [this] { return state_->finished; });
  }
  if (finished) {
    thread_.join();
  } else {
    thread_.detach();  // stuck in write(); it ends with the process
  }
}

void LineWriter::push(std::string_view line) {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  if (state.waiting.size() + state.taken + line.size() > state.options.bytes) {
    ++state.shed;
    ++state.unreported;
  } else {
    state.waiting += line;
    state.progress.pushed += line.size();
  }
  state.work.notify_one();
}

bool LineWriter::flush(std::chrono::milliseconds timeout) {
  std::unique_lock lock(state_->mutex);
  const std::uint64_t target = state_->progress.pushed;
  return state_->settled.wait_for(lock, timeout,
                                  [&] { return state_->progress.settled >= target; });
}

std::uint64_t LineWriter::shed() const { return state_->shed; }

LineRescue::LineRescue(const LineWriter& writer) {
  CALLGATE_CHECK(rescued.exchange(&writer.state_->progress) == nullptr);
  for (const int signal : kFatalSignals) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_DFL) continue;  // a sanitizer's
    struct sigaction action {};
    action.sa_handler = wait_for_lines;
    action.sa_flags = SA_RESETHAND;
    sigaction(signal, &action, nullptr);
  }
}

LineRescue::~LineRescue() {
  rescued = nullptr;
  for (const int signal : kFatalSignals) {
    struct sigaction now {};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler == wait_for_lines) ::signal(signal, SIG_DFL);
  }
}

}  // namespace callgate::telemetry
