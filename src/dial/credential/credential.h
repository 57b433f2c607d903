// Credential: the key of an upstream that a program prints or a file holds. One for all event loops: a program runs once
// however many requests wait for it, shortly before its key expires or when the upstream has refused the key.
//
//   auto key = co_await credential->get(loop);
//   ...                                                   // the upstream says 401
//   credential->refuse(*key);  auto other = co_await credential->get(loop);
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/result.h"
#include "config/config.h"
#include "dial/credential/key_reply.h"
#include "net/loop.h"
#include "net/task.h"

namespace callgate::server {

// Any thread.
class Credential : public std::enable_shared_from_this<Credential> {
 public:
  // A key that expires sooner than this is renewed while it is still used.
  static constexpr std::int64_t kRenewMs = 60'000;
  // After a failure the program rests.
  static constexpr std::int64_t kRestMs = 1'000;

  explicit Credential(const UpstreamConfig& config)
      : name_(config.name),
        command_(config.key_command),
        timeout_(config.key_command_timeout.count()),
        file_(config.key_file) {}
  // nullptr: the upstream's key is in its configuration, or it has none.
  static std::shared_ptr<Credential> make(const UpstreamConfig& config) {
    if (config.key_command.empty() && config.key_file.empty()) return nullptr;
    return std::make_shared<Credential>(config);
  }
  bool is_of(const UpstreamConfig& config) const {
    return command_ == config.key_command && file_ == config.key_file &&
           timeout_.count() == config.key_command_timeout.count();
  }

  // On the loop's thread. Fails if there is no credential or the program takes too long.
  net::Task<Result<KeyReply>> get(net::Loop& loop);
  // The upstream does not take this one: the next get() brings another, if there is one.
  void refuse(const KeyReply& key);

 private:
  struct Waiter {
    net::Loop* loop;
    std::shared_ptr<net::Signal> signal;
  };
  class Place;
  class Flight;

  Result<KeyReply> from_file();
  // The key if it may be used now; nothing: a run must end first. Starts one when it is time.
  std::optional<Result<KeyReply>> ready(net::Loop& loop);
  static net::Task<> renew(std::shared_ptr<Credential> self, net::Loop& loop);
  net::Task<Result<KeyReply>> run(net::Loop& loop) const;
  Error named(std::string_view message) const;

  const std::string name_;  // of the upstream
  const std::vector<std::string> command_;
  const net::Millis timeout_;
  const std::string file_;

  std::mutex mutex_;
  KeyReply known_;  // empty: none is known
  bool running_ = false;
  std::vector<Waiter> waiters_;
  std::optional<Error> failure_;  // of the last run
  std::int64_t failed_at_ = 0;    // Unix milliseconds
  // Of the file as it was read.
  std::int64_t changed_at_ = -1;  // nanoseconds
  std::int64_t size_ = -1;
};

}  // namespace callgate::server
