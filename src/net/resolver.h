// Resolver: asks the system for addresses, off the loop. Tasks that ask for the same name share one
// question; an answer is kept for a few seconds. Nothing waits for a slow answer when it is destroyed.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "callgate/result.h"
#include "net/address.h"
#include "net/loop.h"
#include "net/task.h"

namespace callgate::net {

class Resolver {
 public:
  explicit Resolver(Loop& loop) : loop_(loop) {}
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // upstream_failed when the name has no address; timed_out when there is no answer in time, or when
  // `wake` is notified by someone else, who wants the task to give up.
  Task<Result<std::vector<Address>>> resolve(const std::string& host, std::uint16_t port,
                                             Millis timeout, Signal& wake);

 private:
  struct Question;  // shared with the thread that asks
  struct Entry {
    std::string host;
    std::uint16_t port;
    std::shared_ptr<Question> question;
    std::optional<Result<std::vector<Address>>> answer;
    std::uint64_t kept_until = 0;
    std::vector<Signal*> waiting;
  };

  std::shared_ptr<Entry> find_or_ask(const std::string& host, std::uint16_t port);
  void answered(const Question& question, Result<std::vector<Address>> answer);

  Loop& loop_;
  std::list<std::shared_ptr<Entry>> entries_;  // shared with the tasks that wait for them
};

}  // namespace callgate::net
