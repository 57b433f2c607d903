// Responses that run in the background, over all event loops: what they said so far, and who follows. A response belongs to the
// event loop that runs it; everything else is for any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_budget.h"
#include "net/loop.h"
#include "store/response_table.h"

namespace callgate::server {

class RunningResponse : public std::enable_shared_from_this<RunningResponse> {
 public:
  // `object`: the response object as its client first got it. REQUIRES: the loop and the budget outlive the response.
  RunningResponse(net::Loop& loop, MemoryBudget& budget, store::ResponseName name,
                  std::string object)
      : loop_(loop),
        name_(std::move(name)),
        object_(std::move(object)),
        memory_(&budget, MemoryUse::need) {}

  const store::ResponseName& name() const { return name_; }

  // Its event loop only. False: there is no memory for more.
  bool append(std::string_view frames);
  // It is over; `object` is what became of it.
  void finish(std::string object);
  void on_cancel(std::function<void()> callback) { on_cancel_ = std::move(callback); }

  // Any thread.
  void cancel();
  bool is_cancelled() const;
  bool is_over() const;
  std::string object() const;
  std::string events() const;
  struct News {
    std::string frames;
    bool over = false;
  };
  // What came after the first `from` bytes, whole frames: of much that came the beginning, `over` only with the end.
  News read(std::size_t from) const;

  // Somebody who waits for news on a loop of his own.
  struct Follower {
    explicit Follower(net::Loop& its_loop) : loop(&its_loop), signal(its_loop) {}
    net::Loop* loop;
    net::Signal signal;
  };
  void follow(const std::shared_ptr<Follower>& follower);
  void leave(const Follower& follower);

 private:
  void wake_followers();

  net::Loop& loop_;
  const store::ResponseName name_;
  std::function<void()> on_cancel_;  // its event loop only
  mutable std::mutex mutex_;
  std::string object_;
  std::string events_;
  Reservation memory_;  // of the events, and of what they grow by
  bool over_ = false;
  bool cancelled_ = false;
  std::vector<std::shared_ptr<Follower>> followers_;
};

class RunningResponses {
 public:
  void add(const std::shared_ptr<RunningResponse>& response);
  void remove(const store::ResponseName& name);
  // nullptr: none of that name runs here.
  std::shared_ptr<RunningResponse> find(const store::ResponseName& name) const;

 private:
  mutable std::mutex mutex_;
  std::map<store::ResponseName, std::shared_ptr<RunningResponse>> running_;
};

}  // namespace callgate::server
