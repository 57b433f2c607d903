#include "tool/host.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <future>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/quoted.h"
#include "net/unix_time.h"

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

unsigned bit_of(HookMoment moment) { return 1U << static_cast<unsigned>(moment); }

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
    return fail(ErrorCode::not_found, "there is no tool " + in_quotes(name));
  }
  return entry->schema ? entry->schema->check(arguments) : Result<void>();
}

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
    net::Millis all = kGrace;
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

Result<std::shared_ptr<ToolHost::Core::Place>> ToolHost::Core::place_for(const ToolConfig& config) {
  const auto same = std::find_if(places.begin(), places.end(),
                                 [&](const auto& place) { return place->config == config; });
  if (same != places.end()) return *same;
  auto source = make_source(*loop, config);
  if (!source) return tl::unexpected(source.error());
  (*source)->on_change([this] { rebuild(); });
  auto place = std::make_shared<Place>(Place{config, std::move(*source)});
  place->source->on_state([this, raw = place.get()] { take_state(*raw); });
  return place;
}

Result<void> ToolHost::Core::use(const ToolSet& set) {
  std::vector<std::shared_ptr<Place>> next;
  for (const ToolConfig& config : set.tools) {
    auto place = place_for(config);
    if (!place) return tl::unexpected(place.error());
    next.push_back(std::move(*place));
  }
  if (hooks == nullptr || hook_configs != set.hooks) {
    auto chain = HookChain::make(*loop, set.hooks, observe);
    if (!chain) return tl::unexpected(chain.error());
    hooks = std::move(*chain);
    hook_configs = set.hooks;
    unsigned moments = 0;
    for (const HookConfig& hook : set.hooks) {
      for (const HookMoment moment : hook.told) moments |= bit_of(moment);
    }
    auto judging = std::make_shared<std::vector<HookConfig>>();
    for (const HookConfig& hook : set.hooks) {
      for (const HookMoment moment : hook.judges) moments |= bit_of(moment);
      if (!hook.judges.empty()) judging->push_back(hook);
    }
    {
      const std::lock_guard lock(mutex);
      judges = std::move(judging);
    }
    told_moments = moments;
  }
  std::swap(places, next);
  std::erase_if(retired, [](const auto& place) { return place.expired(); });
  for (const auto& old : next) {
    if (std::find(places.begin(), places.end(), old) == places.end()) retired.push_back(old);
  }
  for (const auto& place : places) {
    if (std::find(next.begin(), next.end(), place) != next.end()) continue;
    ++untried;
    loop->post([this, place = std::weak_ptr(place)] {
      loop->spawn(keep_fresh(shared_from_this(), place));
    });
  }
  rebuild();
  return {};
}

std::shared_ptr<const ArgumentSchema> ToolHost::Core::compile(const ToolSpec& spec) {
  Result<ArgumentSchema> compiled = ArgumentSchema::compile(spec.parameters.text);
  if (compiled) return std::make_shared<const ArgumentSchema>(std::move(*compiled));
  log("tool " + spec.name + ": its arguments are not checked: " + compiled.error().message);
  return nullptr;
}

CatalogueEntry ToolHost::Core::describe(const ToolConfig& config, const Tool& tool) {
  CatalogueEntry entry;
  entry.spec = tool.spec();
  entry.limits = tool.limits();
  entry.source = config.name;
  entry.kind = kind_name(config);
  return entry;
}

void ToolHost::Core::rebuild() {
  std::vector<CatalogueEntry> entries;
  tools.clear();
  const auto known = std::exchange(schemas, {});
  for (const std::shared_ptr<Place>& place : places) {
    for (const std::shared_ptr<Tool>& tool : place->source->tools()) {
      if (tools.contains(tool->spec().name)) {
        log("tool " + tool->spec().name + " of " + place->config.name +
            " is left out: the name is taken");
        continue;
      }
      CatalogueEntry entry = describe(place->config, *tool);
      const std::string& text = entry.spec.parameters.text;
      const auto [schema, is_new] = schemas.try_emplace(text);
      if (is_new) {
        const auto compiled = known.find(text);
        schema->second = compiled == known.end() ? compile(entry.spec) : compiled->second;
      }
      entry.schema = schema->second;
      tools.emplace(entry.spec.name, Known{tool, place, entry.schema});
      entries.push_back(std::move(entry));
    }
  }
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.spec.name < b.spec.name; });
  auto made = std::make_shared<const Catalogue>(std::move(entries));
  {
    const std::lock_guard lock(mutex);
    catalogue = std::move(made);
    std::erase_if(errors, [this](const auto& error) { return !tools.contains(error.first); });
  }
  show_servers();
}

void ToolHost::Core::show_servers() {
  std::vector<ServerStatus> all;
  for (const std::shared_ptr<Place>& place : places) {
    if (!std::holds_alternative<McpToolConfig>(place->config.how)) continue;
    all.push_back({.name = place->config.name,
                   .state = place->source->state(),
                   .tools = place->source->tools().size()});
  }
  const std::lock_guard lock(mutex);
  servers = std::move(all);
}

// Also of a place that is no longer configured and still has runs: nobody wants to know.
void ToolHost::Core::take_state(const Place& place) {
  const auto same = [&](const std::shared_ptr<Place>& one) { return one.get() == &place; };
  if (std::none_of(places.begin(), places.end(), same)) return;
  show_servers();
  if (!observe_server) return;
  observe_server({.name = place.config.name,
                  .state = place.source->state(),
                  .tools = place.source->tools().size()});
}

void ToolHost::Core::note_result(const std::string& tool, const ToolResult& result) {
  if (!result.is_error) return;
  if (result.refused) log("tool " + tool + ": " + result.text);
  constexpr std::size_t kMostWords = 500;
  ToolError error{.text = result.text.substr(0, kMostWords), .at = net::unix_ms()};
  const std::lock_guard lock(mutex);
  errors.insert_or_assign(tool, std::move(error));
}

// The place may go while its source answers: sources allow that.
net::Task<> ToolHost::Core::keep_fresh([[maybe_unused]] std::shared_ptr<Core> self,
                                       std::weak_ptr<Place> place) {
  net::Millis pause = kFirstPause;
  bool tried = false;
  while (true) {
    Result<void> refreshed;
    if (ToolSource* source = place.expired() ? nullptr : place.lock()->source.get()) {
      refreshed = co_await source->refresh();
    }
    if (!std::exchange(tried, true) && --untried == 0) {
      const std::lock_guard lock(mutex);
      listed = true;
      news.notify_all();
    }
    if (refreshed || place.expired()) break;
    log("tool " + place.lock()->config.name + ": " + refreshed.error().message);
    co_await loop->sleep(pause);
    pause = std::min(pause * 2, kMostPause);
  }
}

net::Task<> ToolHost::Core::perform([[maybe_unused]] std::shared_ptr<Core> self,
                                    std::shared_ptr<Errand> errand) {
  running.insert(errand.get());
  ToolResult result;
  const auto found = tools.find(errand->call.name);
  const bool known_tool = found != tools.end();
  if (!known_tool) {
    result = error_result("there is no tool \"" + errand->call.name + "\"");
  } else {
    const Known known = found->second;
    const std::shared_ptr<HookChain> chain = hooks;
    try {
      result = co_await chain->run(*known.tool, known.schema.get(), errand->call, errand->timeout,
                                   errand->cancel);
    } catch (const std::exception& fault) {
      // The caller waits for a result, whatever happens.
      log("tool " + errand->call.name + ": " + fault.what());
      result = error_result(std::string("the tool could not be run: ") + fault.what());
    }
  }
  running.erase(errand.get());
  if (known_tool && !errand->cancel.cancelled()) note_result(errand->call.name, result);
  errand->tell([errand, result = std::move(result)]() mutable {
    errand->result = std::move(result);
    errand->done.notify();
  });
}

net::Task<> ToolHost::Core::hear([[maybe_unused]] std::shared_ptr<Core> self,
                                 std::shared_ptr<Hearing> hearing) {
  const std::shared_ptr<HookChain> chain = hooks;
  Judgement made{.denied = true, .failed = true, .hook = {}, .reason = {}, .rewritten = {}};
  try {
    if (chain != nullptr) made = co_await chain->judge(hearing->words, hearing->cancel);
  } catch (const std::exception& fault) {
    // The caller waits, whatever happens; what was not judged does not pass.
    log(std::string("hooks: ") + fault.what());
  }
  hearing->judgement = std::move(made);
  const std::lock_guard lock(hearing->mutex);
  if (hearing->caller == nullptr) co_return;
  hearing->caller->post([hearing] {
    hearing->over = true;
    hearing->done.notify();
  });
}

void ToolHost::Core::tell_hooks(const std::shared_ptr<const Told>& told) {
  if (hooks == nullptr) return;
  for (Webhook* hook : hooks->told_of(told->event)) {
    loop->spawn(tell_hook(shared_from_this(), hooks, *hook, told));
  }
}

net::Task<> ToolHost::Core::tell_hook([[maybe_unused]] std::shared_ptr<Core> self,
                                      std::shared_ptr<HookChain> chain, Webhook& hook,
                                      std::shared_ptr<const Told> told) {
  co_await chain->tell(hook, told->event);
}

net::Task<> ToolHost::Core::shut_down([[maybe_unused]] std::shared_ptr<Core> self) {
  const std::vector<Errand*> all(running.begin(), running.end());
  for (Errand* errand : all) {
    if (running.contains(errand)) errand->cancel.cancel();
  }
  const std::uint64_t limit = loop->now() + static_cast<std::uint64_t>(kEndTimeout.count());
  while (!running.empty() && loop->now() < limit) co_await loop->sleep(net::Millis(2));
  tools.clear();
  for (const std::weak_ptr<Place>& old : retired) {
    if (const auto place = old.lock()) place->source.reset();
  }
  for (const auto& place : std::exchange(places, {})) place->source.reset();
  hooks.reset();
  co_await loop->sleep(net::Millis(1));
  loop->stop();
}

ToolHost::ToolHost(std::shared_ptr<Core> core)
    : core_(std::move(core)), thread_([loop = core_->loop.get()] { loop->run(); }) {}

Result<std::unique_ptr<ToolHost>> ToolHost::start(const ToolSet& set, Log log, HookObserver observe,
                                                  ServerObserver servers) {
  auto core = std::make_shared<Core>();
  core->log = log ? std::move(log) : [](std::string_view) {};
  core->observe = std::move(observe);
  core->observe_server = std::move(servers);
  core->loop->set_fault_log([raw = core.get()](std::string_view what) { raw->log(what); });
  if (auto used = core->use(set); !used) return tl::unexpected(used.error());
  core->listed = set.tools.empty();
  return std::unique_ptr<ToolHost>(new ToolHost(std::move(core)));
}

Result<void> ToolHost::replace(const ToolSet& set) {
  std::promise<Result<void>> done;
  core_->post([this, &set, &done] { done.set_value(core_->use(set)); });
  return done.get_future().get();
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

std::vector<ServerStatus> ToolHost::servers() const {
  const std::lock_guard lock(core_->mutex);
  return core_->servers;
}

std::optional<ToolError> ToolHost::last_error(std::string_view tool) const {
  const std::lock_guard lock(core_->mutex);
  const auto found = core_->errors.find(tool);
  if (found == core_->errors.end()) return std::nullopt;
  return found->second;
}

bool ToolHost::wait_until_listed(net::Millis timeout) const {
  std::unique_lock lock(core_->mutex);
  return core_->news.wait_for(lock, timeout, [this] { return core_->listed; });
}

bool ToolHost::has_hooks(HookMoment moment) const {
  return (core_->told_moments.load(std::memory_order_relaxed) & bit_of(moment)) != 0;
}

bool ToolHost::judges(HookMoment moment, std::string_view key, std::string_view model) const {
  if (!has_hooks(moment)) return false;
  std::shared_ptr<const std::vector<HookConfig>> all;
  {
    const std::lock_guard lock(core_->mutex);
    all = core_->judges;
  }
  return all != nullptr && std::any_of(all->begin(), all->end(), [&](const HookConfig& hook) {
           return judges_words(hook, moment, key, model);
         });
}

net::Task<ToolHost::Judged> ToolHost::judge(net::Loop& loop, WordQuestion question,
                                            CancelToken& cancel) const {
  const std::shared_ptr<Core> core = core_;
  const auto hearing = std::make_shared<Hearing>(loop, std::move(question));
  struct Leaving {
    const std::shared_ptr<Core>& core;
    const std::shared_ptr<Hearing>& hearing;
    ~Leaving() {
      {
        const std::lock_guard lock(hearing->mutex);
        hearing->caller = nullptr;
      }
      if (!hearing->over) core->post([same = hearing] { same->cancel.cancel(); });
    }
  } leaving{core, hearing};
  core->post([core, hearing] { core->loop->spawn(core->hear(core, hearing)); });
  const CancelToken::Hook hook(cancel, [&hearing] { hearing->done.notify(); });
  (void)co_await hearing->done.wait(core->longest_hearing());
  Judged judged;
  judged.judgement.denied = true;
  judged.judgement.failed = true;
  if (hearing->over) judged = {std::move(hearing->judgement), std::move(hearing->words)};
  co_return judged;
}

void ToolHost::tell(HookEvent event) const {
  if (!has_hooks(event.moment)) return;
  const std::shared_ptr<Core> core = core_;
  if (core->being_told.fetch_add(1) >= kMostTold) {
    --core->being_told;
    if (!core->observe) return;
    return core->observe({.hook = "*",
                          .when = to_string(event.moment),
                          .outcome = "dropped",
                          .tool = event.tool,
                          .fault = "too many hooks are slow to answer"});
  }
  const auto told = std::make_shared<const Told>(std::move(event), core->being_told);
  core->post([core, told] { core->tell_hooks(told); });
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
  if (errand->result) co_return std::move(*errand->result);
  ToolResult result = error_result(cancel.cancelled() ? kCancelledWords : timeout_words(timeout));
  result.duration = net::Millis(loop.now() - began);
  co_return result;
}

}  // namespace callgate::tool
