// The part of a ToolHost that lives on its thread: sources, hooks, and the runs between two loops. Private to tool.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tool/host.h"

namespace callgate::tool {

// Time for a result to travel between loops; the tool itself keeps to its own.
inline constexpr net::Millis kTravelTime{1'000};

// One run between two loops. Either side may leave first.
struct Errand {
  Errand(net::Loop& from, ToolCall asked, net::Millis limit)
      : call(std::move(asked)), timeout(limit), caller(&from), done(from) {}

  // From the host's thread: does `work` on the caller's loop if it still waits.
  void tell(std::function<void()> work) {
    const std::lock_guard lock(mutex);
    if (caller != nullptr) caller->post(std::move(work));
  }

  ToolCall call;  // host's loop, once posted
  net::Millis timeout;
  CancelToken cancel;  // host's loop
  std::mutex mutex;
  net::Loop* caller;  // nullptr once the caller has left
  // Caller's loop:
  net::Signal done;
  std::function<void(std::string_view)> on_progress;
  std::optional<ToolResult> result;
};

// A question to hooks between two loops. Either side may leave first.
struct Hearing {
  Hearing(net::Loop& from, WordQuestion asked)
      : words(std::move(asked)), caller(&from), done(from) {}

  WordQuestion words;   // host's loop, once posted; the caller's when it is done
  CancelToken cancel;   // host's loop
  Judgement judgement;  // likewise
  std::mutex mutex;
  net::Loop* caller;  // nullptr once the caller has left
  net::Signal done;   // caller's loop
  bool over = false;
};

// An event on its way to hooks, one of kMostTold.
struct Told {
  Told(HookEvent what, std::atomic<std::size_t>& all) : event(std::move(what)), count(all) {}
  ~Told() { --count; }
  Told(const Told&) = delete;
  Told& operator=(const Told&) = delete;
  const HookEvent event;
  std::atomic<std::size_t>& count;  // of all of them, this one included
};

inline unsigned bit_of(HookMoment moment) { return 1U << static_cast<unsigned>(moment); }

struct ToolHost::Core : std::enable_shared_from_this<Core> {
  struct Place {
    ToolConfig config;
    std::unique_ptr<ToolSource> source;
  };
  struct Known {
    std::shared_ptr<Tool> tool;
    std::shared_ptr<Place> place;  // a run holds on to it: its source may be replaced meanwhile
    std::shared_ptr<const ArgumentSchema> schema;
  };

  // Everything down to the mutex belongs to the loop's thread.
  std::unique_ptr<net::Loop> loop = std::make_unique<net::Loop>();
  Log log;
  HookObserver observe;
  ServerObserver observe_server;
  std::vector<std::shared_ptr<Place>> places;
  std::vector<std::weak_ptr<Place>> retired;  // some may still have runs
  std::vector<HookConfig> hook_configs;
  std::shared_ptr<HookChain> hooks;
  std::map<std::string, Known, std::less<>> tools;
  std::unordered_map<std::string, std::shared_ptr<const ArgumentSchema>> schemas;  // by text
  std::unordered_set<Errand*> running;
  std::size_t untried = 0;

  mutable std::mutex mutex;
  mutable std::condition_variable news;
  std::shared_ptr<const Catalogue> catalogue =
      std::make_shared<Catalogue>(std::vector<CatalogueEntry>());
  bool listed = false;
  std::vector<ServerStatus> servers;
  std::map<std::string, ToolError, std::less<>> errors;   // of tools that there are
  std::shared_ptr<const std::vector<HookConfig>> judges;  // hooks that judge words
  // Any thread:
  std::atomic<unsigned> told_moments{0};
  std::atomic<std::size_t> being_told{0};

  // Any thread; nothing happens once the loop is gone.
  void post(std::function<void()> work) {
    const std::lock_guard lock(mutex);
    if (loop != nullptr) loop->post(std::move(work));
  }
  // All hooks that judge words, one after the other.
  net::Millis longest_hearing() const {
    const std::lock_guard lock(mutex);
    net::Millis all = kTravelTime;
    if (judges == nullptr) return all;
    for (const HookConfig& hook : *judges) all += hook.timeout;
    return all;
  }
  // Also before the loop runs.
  Result<void> use(const ToolSet& set);
  Result<std::shared_ptr<Place>> place_for(const ToolConfig& config);
  void rebuild();
  void show_servers();
  void take_state(const Place& place);
  void note_result(const std::string& tool, const ToolResult& result);
  CatalogueEntry describe(const ToolConfig& config, const Tool& tool);
  std::shared_ptr<const ArgumentSchema> compile(const ToolSpec& spec);
  net::Task<> keep_fresh(std::shared_ptr<Core> self, std::weak_ptr<Place> place);
  net::Task<> perform(std::shared_ptr<Core> self, std::shared_ptr<Errand> errand);
  net::Task<> hear(std::shared_ptr<Core> self, std::shared_ptr<Hearing> hearing);
  void tell_hooks(const std::shared_ptr<const Told>& told);
  net::Task<> tell_hook(std::shared_ptr<Core> self, std::shared_ptr<HookChain> chain, Webhook& hook,
                        std::shared_ptr<const Told> told);
  net::Task<> shut_down(std::shared_ptr<Core> self);
};

}  // namespace callgate::tool
