#include "tool/host.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace callgate::tool {
namespace {

constexpr net::Millis kFirstPause{1'000};
constexpr net::Millis kMostPause{60'000};
constexpr net::Millis kEndTimeout{500};
// For the result to travel; the tool itself keeps to its time.
constexpr net::Millis kGrace{1'000};

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

}  // namespace

const CatalogueEntry* Catalogue::find(std::string_view name) const {
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), name,
                                      [](const CatalogueEntry& entry, std::string_view wanted) {
                                        return entry.spec.name < wanted;
                                      });
  return found != entries_.end() && found->spec.name == name ? &*found : nullptr;
}

Result<void> Catalogue::check(std::string_view name, std::string_view arguments) const {
  const CatalogueEntry* entry = find(name);
  if (entry == nullptr) {
    return fail(ErrorCode::not_found, "there is no tool \"" + std::string(name) + "\"");
  }
  return entry->schema ? entry->schema->check(arguments) : Result<void>();
}

struct ToolHost::Core : std::enable_shared_from_this<Core> {
  struct Place {
    ToolConfig config;
    std::unique_ptr<ToolSource> source;
  };

  // Everything down to the mutex belongs to the loop's thread.
  std::unique_ptr<net::Loop> loop = std::make_unique<net::Loop>();
  Log log;
  std::vector<Place> places;
  std::map<std::string, std::shared_ptr<Tool>, std::less<>> tools;
  std::unordered_map<std::string, std::shared_ptr<const ArgumentSchema>> schemas;  // by text
  std::unordered_set<Errand*> running;
  std::size_t untried = 0;

  mutable std::mutex mutex;
  mutable std::condition_variable news;
  std::shared_ptr<const Catalogue> catalogue =
      std::make_shared<Catalogue>(std::vector<CatalogueEntry>());
  bool listed = false;

  // Any thread; nothing happens once the loop is gone.
  void post(std::function<void()> work) {
    const std::lock_guard lock(mutex);
    if (loop != nullptr) loop->post(std::move(work));
  }
  void rebuild();
  CatalogueEntry describe(const ToolConfig& config, const Tool& tool);
  net::Task<> keep_fresh(std::shared_ptr<Core> self, std::size_t index);
  net::Task<> perform(std::shared_ptr<Core> self, std::shared_ptr<Errand> errand);
  net::Task<> shut_down(std::shared_ptr<Core> self);
};

CatalogueEntry ToolHost::Core::describe(const ToolConfig& config, const Tool& tool) {
  CatalogueEntry entry;
  entry.spec = tool.spec();
  entry.limits = tool.limits();
  entry.source = config.name;
  entry.kind = kind_name(config);
  const std::string& text = entry.spec.parameters.text;
  const auto [known, is_new] = schemas.try_emplace(text);
  if (is_new) {
    Result<ArgumentSchema> compiled = ArgumentSchema::compile(text);
    if (compiled) {
      known->second = std::make_shared<const ArgumentSchema>(std::move(*compiled));
    } else {
      log("tool " + entry.spec.name +
          ": its arguments are not checked: " + compiled.error().message);
    }
  }
  entry.schema = known->second;
  return entry;
}

void ToolHost::Core::rebuild() {
  std::vector<CatalogueEntry> entries;
  tools.clear();
  for (const Place& place : places) {
    for (const std::shared_ptr<Tool>& tool : place.source->tools()) {
      if (!tools.emplace(tool->spec().name, tool).second) {
        log("tool " + tool->spec().name + " of " + place.config.name +
            " is left out: the name is taken");
        continue;
      }
      entries.push_back(describe(place.config, *tool));
    }
  }
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.spec.name < b.spec.name; });
  auto made = std::make_shared<const Catalogue>(std::move(entries));
  const std::lock_guard lock(mutex);
  catalogue = std::move(made);
}

net::Task<> ToolHost::Core::keep_fresh([[maybe_unused]] std::shared_ptr<Core> self,
                                       std::size_t index) {
  net::Millis pause = kFirstPause;
  bool fresh = false;
  bool tried = false;
  while (!fresh && index < places.size()) {
    const Result<void> refreshed = co_await places[index].source->refresh();
    fresh = refreshed.has_value();
    if (!std::exchange(tried, true) && --untried == 0) {
      const std::lock_guard lock(mutex);
      listed = true;
      news.notify_all();
    }
    if (fresh || index >= places.size()) break;
    log("tool " + places[index].config.name + ": " + refreshed.error().message);
    co_await loop->sleep(pause);
    pause = std::min(pause * 2, kMostPause);
  }
}

net::Task<> ToolHost::Core::perform([[maybe_unused]] std::shared_ptr<Core> self,
                                    std::shared_ptr<Errand> errand) {
  running.insert(errand.get());
  ToolResult result;
  const auto found = tools.find(errand->call.name);
  if (found == tools.end()) {
    result = error_result("there is no tool \"" + errand->call.name + "\"");
  } else {
    const std::shared_ptr<Tool> tool = found->second;
    result = co_await tool->run(errand->call, errand->timeout, errand->cancel);
  }
  running.erase(errand.get());
  errand->tell([errand, result = std::move(result)]() mutable {
    errand->result = std::move(result);
    errand->done.notify();
  });
}

net::Task<> ToolHost::Core::shut_down([[maybe_unused]] std::shared_ptr<Core> self) {
  const std::vector<Errand*> all(running.begin(), running.end());
  for (Errand* errand : all) {
    if (running.contains(errand)) errand->cancel.cancel();
  }
  const std::uint64_t limit = loop->now() + static_cast<std::uint64_t>(kEndTimeout.count());
  while (!running.empty() && loop->now() < limit) co_await loop->sleep(net::Millis(2));
  tools.clear();
  places.clear();
  co_await loop->sleep(net::Millis(1));
  loop->stop();
}

ToolHost::ToolHost(std::shared_ptr<Core> core)
    : core_(std::move(core)), thread_([loop = core_->loop.get()] { loop->run(); }) {}

Result<std::unique_ptr<ToolHost>> ToolHost::start(const std::vector<ToolConfig>& configs, Log log) {
  auto core = std::make_shared<Core>();
  core->log = log ? std::move(log) : [](std::string_view) {};
  core->loop->set_fault_log([raw = core.get()](std::string_view what) { raw->log(what); });
  for (const ToolConfig& config : configs) {
    auto source = make_source(*core->loop, config);
    if (!source) return tl::unexpected(source.error());
    (*source)->on_change([raw = core.get()] { raw->rebuild(); });
    core->places.push_back({config, std::move(*source)});
  }
  core->rebuild();
  core->untried = configs.size();
  core->listed = configs.empty();
  core->loop->post([raw = core.get()] {
    for (std::size_t i = 0; i < raw->places.size(); ++i) {
      raw->loop->spawn(raw->keep_fresh(raw->shared_from_this(), i));
    }
  });
  return std::unique_ptr<ToolHost>(new ToolHost(std::move(core)));
}

ToolHost::~ToolHost() {
  core_->post([core = core_] { core->loop->spawn(core->shut_down(core)); });
  thread_.join();
  std::unique_ptr<net::Loop> loop;
  {
    const std::lock_guard lock(core_->mutex);
    loop = std::move(core_->loop);
  }
  // The loop ends the tasks that still wait; some of them hold the core.
}

std::shared_ptr<const Catalogue> ToolHost::catalogue() const {
  const std::lock_guard lock(core_->mutex);
  return core_->catalogue;
}

bool ToolHost::wait_until_listed(net::Millis timeout) const {
  std::unique_lock lock(core_->mutex);
  return core_->news.wait_for(lock, timeout, [this] { return core_->listed; });
}

net::Task<ToolResult> ToolHost::run(net::Loop& loop, ToolCall call, net::Millis timeout,
                                    CancelToken& cancel) const {
  const std::shared_ptr<Core> core = core_;
  const std::uint64_t began = loop.now();
  const auto errand = std::make_shared<Errand>(loop, std::move(call), timeout);
  errand->on_progress = std::move(errand->call.on_progress);
  errand->call.on_progress = nullptr;
  if (errand->on_progress) {
    errand->call.on_progress = [raw = std::weak_ptr(errand)](std::string_view json) {
      const auto same = raw.lock();
      if (!same) return;
      same->tell([same, text = std::string(json)] {
        if (same->on_progress) same->on_progress(text);
      });
    };
  }
  // Whoever gives up, in order or not, ends the run.
  struct Leaving {
    const std::shared_ptr<Core>& core;
    const std::shared_ptr<Errand>& errand;
    ~Leaving() {
      errand->on_progress = nullptr;
      {
        const std::lock_guard lock(errand->mutex);
        errand->caller = nullptr;
      }
      if (!errand->result) core->post([same = errand] { same->cancel.cancel(); });
    }
  } leaving{core, errand};
  core->post([core, errand] { core->loop->spawn(core->perform(core, errand)); });
  const CancelToken::Hook hook(cancel, [&errand] { errand->done.notify(); });
  (void)co_await errand->done.wait(timeout == net::kNever ? net::kNever : timeout + kGrace);
  if (errand->result) co_return *errand->result;
  ToolResult result = error_result(cancel.cancelled() ? kCancelledWords : timeout_words(timeout));
  result.duration = net::Millis(loop.now() - began);
  co_return result;
}

}  // namespace callgate::tool
