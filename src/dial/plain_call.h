// A request to an upstream that is not a turn: a check whether it is well, its list of models.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "callgate/result.h"
#include "config/config.h"
#include "dial/upstream_call.h"
#include "net/loop.h"
#include "net/task.h"

namespace callgate::server {

// Ends a call that takes too long, from outside.
class CallPatience {
 public:
  // REQUIRES: the call outlives it.
  CallPatience(net::Loop& loop, UpstreamCall& call, Milliseconds time) : call_(call) {
    timer_.on_expiry(
        [](void* self) {
          auto& patience = *static_cast<CallPatience*>(self);
          patience.over_ = true;
          patience.call_.cancel();
        },
        this);
    loop.arm(timer_, net::Millis(time.count()));
  }
  void stop() { timer_.disarm(); }
  bool is_over() const { return over_; }

 private:
  UpstreamCall& call_;
  net::Deadline timer_;
  bool over_ = false;
};

// With the upstream's key where its wire format puts it.
UpstreamRequest plain_request(const UpstreamConfig& upstream, std::string_view method,
                              std::string path, std::string body = {});

struct PlainAnswer {
  int status = 0;
  std::string body;
};
// The whole answer, whatever its status. `most`: bytes of it; more are an error. REQUIRES: the target outlives the task.
net::Task<Result<PlainAnswer>> ask_plainly(net::Loop& loop, UpstreamTarget& target,
                                           UpstreamRequest request, Milliseconds time,
                                           std::size_t most);

}  // namespace callgate::server
