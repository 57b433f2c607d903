#include "tool/host_core.h"

#include <algorithm>
#include <utility>

#include "net/unix_time.h"

namespace callgate::tool {
namespace {

constexpr net::Millis kFirstPause{1'000};
constexpr net::Millis kMostPause{60'000};
constexpr net::Millis kEndTimeout{500};

}  // namespace

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

// A place that is no longer configured may still have runs; its state is not reported.
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

}  // namespace callgate::tool
