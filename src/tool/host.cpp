#include "tool/host.h"

#include <algorithm>
#include <future>
#include <utility>

#include "base/quoted.h"
#include "tool/host_core.h"

namespace callgate::tool {

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
  core_->post([this, &set, &done] {
    try {
      done.set_value(core_->use(set));
    } catch (const std::exception& fault) {
      core_->log(std::string("tools: ") + fault.what());
      done.set_value(fail(ErrorCode::internal, "replacing the tools broke off inside the gateway"));
    }
  });
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
  // Dropping the waiting task, normally or by an exception, cancels the run.
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
  (void)co_await errand->done.wait(timeout == net::kNever ? net::kNever : timeout + kTravelTime);
  if (errand->result) co_return std::move(*errand->result);
  ToolResult result = error_result(cancel.cancelled() ? kCancelledWords : timeout_words(timeout));
  result.duration = net::Millis(loop.now() - began);
  co_return result;
}

}  // namespace callgate::tool
