#include "dial/credential/credential.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "net/process.h"
#include "net/unix_time.h"

namespace callgate::server {

// A request that waits for a run, as long as it does.
class Credential::Place {
 public:
  Place(Credential& all, net::Loop& loop)
      : all_(all), signal_(std::make_shared<net::Signal>(loop)) {
    all_.waiters_.push_back({&loop, signal_});  // REQUIRES: the mutex is held
  }
  ~Place() {
    const std::lock_guard lock(all_.mutex_);
    std::erase_if(all_.waiters_, [&](const Waiter& waiter) { return waiter.signal == signal_; });
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  net::Signal& signal() { return *signal_; }

 private:
  Credential& all_;
  const std::shared_ptr<net::Signal> signal_;
};

// A run of the program. However it ends, those who wait hear of it.
class Credential::Flight {
 public:
  explicit Flight(Credential& all) : all_(all) {}
  ~Flight() {
    const std::lock_guard lock(all_.mutex_);
    all_.running_ = false;
    for (const Waiter& waiter : all_.waiters_) {
      waiter.loop->post([signal = waiter.signal] { signal->notify(); });
    }
  }
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;

 private:
  Credential& all_;
};

Error Credential::named(std::string_view message) const {
  return {.code = ErrorCode::unavailable,
          .message = "upstream \"" + name_ + "\": " + (file_.empty() ? "key_command" : "key_file") +
                     ": " + std::string(message)};
}

net::Task<Result<KeyReply>> Credential::get(net::Loop& loop) {
  if (!file_.empty()) co_return from_file();
  std::optional<Place> place;
  {
    const std::lock_guard lock(mutex_);
    if (auto key = ready(loop)) co_return std::move(*key);
    place.emplace(*this, loop);
  }
  constexpr net::Millis kGrace{2'000};
  (void)co_await place->signal().wait(timeout_ + kGrace);
  const std::lock_guard lock(mutex_);
  if (!known_.empty()) co_return known_;
  co_return tl::unexpected(failure_.value_or(named("it takes too long")));
}

std::optional<Result<KeyReply>> Credential::ready(net::Loop& loop) {
  const std::int64_t now = net::unix_ms();
  const bool has_end = known_.expires_at.has_value();
  if (has_end && *known_.expires_at <= now) known_ = {};
  const bool due = known_.empty() || (has_end && *known_.expires_at - now < kRenewMs);
  const bool rests = failure_ && now - failed_at_ < kRestMs;
  if (due && !running_ && !rests) {
    running_ = true;
    // Not before the mutex is free.
    loop.post([self = shared_from_this(), &loop] { loop.spawn(renew(self, loop)); });
  }
  if (!known_.empty()) return Result<KeyReply>(known_);
  if (!running_) return Result<KeyReply>(tl::unexpected(*failure_));
  return std::nullopt;
}

net::Task<> Credential::renew(std::shared_ptr<Credential> self, net::Loop& loop) {
  const Flight flight(*self);
  Result<KeyReply> reply = co_await self->run(loop);
  const std::lock_guard lock(self->mutex_);
  if (reply) {
    self->known_ = std::move(*reply);
    self->failure_.reset();
  } else {
    self->failure_ = self->named(reply.error().message);
    self->failed_at_ = net::unix_ms();
  }
}

// What it prints is secret, on both streams: an error says how it ended, and nothing else.
net::Task<Result<KeyReply>> Credential::run(net::Loop& loop) const {
  net::ProcessOptions options;
  options.command = command_;
  options.environment = net::plain_environment();
  auto process = net::Process::start(loop, options);
  if (!process) co_return tl::unexpected(process.error());
  (*process)->input().close();
  const std::uint64_t until = loop.now() + static_cast<std::uint64_t>(timeout_.count());
  const auto left = [&] {
    const std::uint64_t now = loop.now();
    return net::Millis(now >= until ? 1 : until - now);
  };
  std::string printed;
  for (;;) {
    const Result<std::string_view> bytes = co_await (*process)->output().read(left());
    if (!bytes || loop.now() >= until) {
      co_return fail(ErrorCode::timed_out,
                     "it takes longer than " + std::to_string(timeout_.count()) + " ms");
    }
    if (bytes->empty()) break;
    printed.append(*bytes);
    if (printed.size() > kMostKeyReply) {
      co_return fail(ErrorCode::unavailable, "it prints more than 64 KiB");
    }
  }
  const bool ended = co_await (*process)->wait(left());
  if (!ended) co_return fail(ErrorCode::timed_out, "it does not end");
  if ((*process)->ending() != "exit status 0") {
    co_return fail(ErrorCode::unavailable, "it ended with " + (*process)->ending());
  }
  co_return read_key_reply(printed, net::unix_ms());
}

Result<KeyReply> Credential::from_file() {
  const std::lock_guard lock(mutex_);
  struct stat now {};
  if (::stat(file_.c_str(), &now) != 0) {
    return tl::unexpected(named("cannot be read; `callgate login " + name_ + "` writes it"));
  }
  const std::int64_t changed = now.st_mtim.tv_sec * 1'000'000'000 + now.st_mtim.tv_nsec;
  if (changed == changed_at_ && now.st_size == size_ && !known_.empty()) return known_;
  std::ifstream in(file_, std::ios::binary);
  std::string text(kMostKeyReply + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kMostKeyReply) return tl::unexpected(named("it has more than 64 KiB"));
  Result<KeyReply> reply = read_key_reply(text, net::unix_ms());
  if (!reply) return tl::unexpected(named(reply.error().message));
  known_ = std::move(*reply);
  changed_at_ = changed;
  size_ = now.st_size;
  return known_;
}

void Credential::refuse(const KeyReply& key) {
  const std::lock_guard lock(mutex_);
  if (known_ == key) known_ = {};
}

}  // namespace callgate::server
