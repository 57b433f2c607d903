#include "store/rooms/notices.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>

#include "base/check.h"
#include "store/postgres.h"

namespace callgate::store {
namespace {

constexpr std::size_t kMostWords = 1'000;
constexpr int kLookEvery = 2'000;  // at a connection that may have gone silently
constexpr int kBeforeRetry = 500;

}  // namespace

Notices::Notices(std::string url, DatabaseOptions options, std::string channel,
                 std::function<void(std::string_view word)> hear)
    : url_(std::move(url)),
      options_(std::move(options)),
      channel_(std::move(channel)),
      hear_(std::move(hear)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CALLGATE_CHECK(wake_ >= 0);
  thread_ = std::thread([this] { work(); });
}

Notices::~Notices() {
  stop_ = true;
  (void)eventfd_write(wake_, 1);
  thread_.join();
  close(wake_);
}

void Notices::send(std::string word) {
  {
    const std::lock_guard lock(mutex_);
    if (words_.size() >= kMostWords) words_.pop_front();
    words_.push_back(std::move(word));
  }
  (void)eventfd_write(wake_, 1);
}

void Notices::wait(int socket, int timeout_ms) {
  std::array<pollfd, 2> both = {pollfd{wake_, POLLIN, 0}, pollfd{socket, POLLIN, 0}};
  (void)poll(both.data(), socket < 0 ? 1 : 2, timeout_ms);
  eventfd_t ignored = 0;
  (void)eventfd_read(wake_, &ignored);
}

void Notices::work() {
  while (!stop_) {
    auto database = PostgresDatabase::open(url_, options_);
    if (database) (void)listen(**database);
    if (!stop_) wait(-1, kBeforeRetry);
  }
}

Attempt<void> Notices::listen(PostgresDatabase& database) {
  if (auto begun = database.run("LISTEN " + channel_); !begun) return begun;
  hear_("");
  while (!stop_) {
    if (auto sent = send_all(database); !sent) return sent;
    const auto words = database.notices();
    if (!words) return tl::unexpected(words.error());
    for (const std::string& word : *words) hear_(word);
    if (words->empty()) wait(database.socket(), kLookEvery);
  }
  return {};
}

Attempt<void> Notices::send_all(PostgresDatabase& database) {
  std::deque<std::string> words;
  {
    const std::lock_guard lock(mutex_);
    words.swap(words_);
  }
  for (const std::string& word : words) {
    const std::array values = {Value(std::string_view(channel_)), Value(std::string_view(word))};
    if (auto sent = database.query("SELECT 1 FROM (SELECT pg_notify($1, $2)) AS sent", values);
        !sent) {
      return tl::unexpected(sent.error());
    }
  }
  return {};
}

}  // namespace callgate::store
