// The tool loops that run now, over all event loops, and what may be done to them from outside. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/loop.h"
#include "net/loop.h"

namespace callgate::server {

struct LoopCommand {
  enum class Kind : std::uint8_t { cancel, inject, system_prompt, approve, deny };
  Kind kind = Kind::cancel;
  std::string text;     // inject, system_prompt; deny: the reason, may be empty
  loop::RunId run = 0;  // approve, deny
};

// What a list shows of a loop.
struct LoopSight {
  std::string id;
  std::string request;
  std::string key;  // its name
  std::string model;
  std::int64_t started_at = 0;  // Unix milliseconds
  std::uint32_t rounds = 0;
  std::uint32_t calls = 0;
  std::vector<std::string> tools;  // that run now
  std::vector<loop::WaitForApproval> approvals;
};

class RunningLoops {
 public:
  using Steer = std::function<void(const LoopCommand&)>;

  // Stands for a loop while it runs. Its owner's thread only.
  class Entry {
   public:
    // `steer` is called on that event loop, never after the entry is gone.
    Entry(RunningLoops& all, net::Loop& event_loop, LoopSight sight, Steer steer);
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    void show(std::uint32_t rounds, std::uint32_t calls, std::vector<std::string> tools,
              std::vector<loop::WaitForApproval> approvals);

   private:
    RunningLoops& all_;
    std::string id_;
    std::shared_ptr<Steer> steer_;
  };

  std::vector<LoopSight> list() const;
  enum class Answer : std::uint8_t { taken, no_loop, no_run };
  // Only loops of that key, unless `key` is nullptr.
  Answer steer(std::string_view id, const std::string* key, LoopCommand command);

 private:
  struct Running {
    LoopSight sight;
    net::Loop* event_loop = nullptr;
    std::weak_ptr<Steer> steer;
  };
  mutable std::mutex mutex_;
  std::map<std::string, Running, std::less<>> running_;
};

}  // namespace callgate::server
