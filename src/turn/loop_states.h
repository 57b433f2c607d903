// Loops whose clients run tools of their own, until these come back with the results. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "callgate/loop.h"
#include "callgate/result.h"
#include "config/config.h"

namespace callgate::server {

class LoopStates {
 public:
  void set_limits(std::size_t bytes, std::uint64_t ttl_ms);

  // Is told of every state that is lost before its time: `too_large`, `no_room` or `unreadable`. Called under a lock.
  void set_loss_report(std::function<void(std::string_view why)> report);

  // A state that is larger than all of them may be is not kept. `now` never goes back.
  void keep(std::string_view key_name, const loop::ReturnToClient& back, std::uint64_t now);
  // The state whose calls the last message with calls makes, if there is one. It stays: a client may ask again. Fails when
  // that state was too large to be kept, or cannot be read: to begin anew would silently forget what was done.
  Result<std::optional<loop::State>> find(std::string_view key_name, const Request& request,
                                          std::uint64_t now);

 private:
  struct Kept {
    std::string text;
    std::vector<std::string> ids;
    std::uint64_t until = 0;
    bool too_large = false;  // it has no text

    std::size_t bytes() const { return too_large ? 0 : text.size(); }
  };
  using Place = std::list<Kept>::iterator;
  void drop_old(std::uint64_t now);
  void drop(Place place);
  void lost(std::string_view why) const;

  std::mutex mutex_;
  std::function<void(std::string_view)> report_;
  std::size_t most_bytes_ = std::size_t{256} << 20;
  std::uint64_t ttl_ms_ = 3'600'000;
  std::size_t bytes_ = 0;
  std::list<Kept> kept_;  // the oldest first
  std::unordered_map<std::string, Place> by_id_;
};

}  // namespace callgate::server
