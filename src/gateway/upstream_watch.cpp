#include "gateway/upstream_watch.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/masked_url.h"
#include "dial/plain_call.h"
#include "upstream/model_list.h"

namespace callgate::server {
namespace {

constexpr std::size_t kMostOfCheck = std::size_t{4} << 20;
constexpr std::size_t kMostOfList = std::size_t{16} << 20;
constexpr Milliseconds kListTime{10'000};
constexpr Milliseconds kListRetry{10'000};

// Nothing: it is well. A refused key, or a path that is not there, is a mistake in the configuration, which shows here first.
std::string problem_of(const Result<PlainAnswer>& answer, const UpstreamConfig& upstream) {
  const std::string asked = "check: GET " + masked_url(upstream.url) + upstream.check;
  if (!answer) return asked + ": " + answer.error().message;
  if (answer->status >= 200 && answer->status < 300) return {};
  return asked + " answered " + std::to_string(answer->status);
}

// A name that stands for another server now.
void forget_others(World& world, const Config& before, const Config& now) {
  for (const UpstreamConfig& old : before.upstreams) {
    const UpstreamConfig* same = now.find_upstream(old.name);
    if (same == nullptr || same->url != old.url || same->wire != old.wire) {
      world.catalogue->forget(old.name);
    }
  }
}

// Nothing: the catalogue has the list.
std::string take_list(World& world, const UpstreamConfig& upstream,
                      const Result<PlainAnswer>& answer) {
  if (!answer) return answer.error().message;
  if (answer->status != 200) return "it answered " + std::to_string(answer->status);
  auto models = upstream::read_model_list(upstream.wire, answer->body);
  if (!models) return "its answer is not a list of models";
  const std::size_t count = models->size();
  if (world.catalogue->set(upstream.name, std::move(*models))) {
    world.log.info("upstream lists its models", {{"upstream", upstream.name}, {"models", count}});
  }
  return {};
}

}  // namespace

void UpstreamWatch::stop() {
  if (job_ != nullptr) job_->wanted = false;
  job_.reset();
}

void UpstreamWatch::use(std::shared_ptr<const Snapshot> snapshot) {
  if (job_ != nullptr) forget_others(world_, job_->snapshot->config, snapshot->config);
  stop();
  job_ = std::make_shared<Job>(Job{world_, loop_, targets_, std::move(snapshot)});
  for (const UpstreamConfig& upstream : job_->snapshot->config.upstreams) {
    const bool over_http = !upstream.is_child() && !upstream.is_scripted();
    if (!upstream.check.empty() && over_http) loop_.spawn(check(job_, upstream));
    if (!upstream.models.empty() && over_http) loop_.spawn(list(job_, upstream));
  }
}

// The snapshot keeps the upstream's configuration alive.
net::Task<> UpstreamWatch::check(std::shared_ptr<Job> job, const UpstreamConfig& upstream) {
  co_await job->loop.sleep(net::Millis(0));
  while (job->wanted) {
    const std::shared_ptr<UpstreamTarget> target = job->targets.find(upstream.name);
    if (target == nullptr) co_return;
    UpstreamRequest request = plain_request(upstream, "GET", upstream.check);
    const auto answer = co_await ask_plainly(job->loop, *target, std::move(request),
                                             upstream.check_timeout, kMostOfCheck);
    if (!job->wanted) co_return;
    std::string problem = problem_of(answer, upstream);
    const bool well = problem.empty();
    job->world.metrics.upstream_probes.with(upstream.name, well ? "ok" : "failed").add();
    job->world.pools.checked(upstream.name, well, std::move(problem), job->loop.now());
    co_await job->loop.sleep(limit(upstream.check_interval));
  }
}

// What an upstream said last counts while it cannot be asked.
net::Task<> UpstreamWatch::list(std::shared_ptr<Job> job, const UpstreamConfig& upstream) {
  const std::string path(upstream::model_list_path(upstream.wire));
  co_await job->loop.sleep(net::Millis(0));
  while (job->wanted) {
    const std::shared_ptr<UpstreamTarget> target = job->targets.find(upstream.name);
    if (target == nullptr) co_return;
    UpstreamRequest request = plain_request(upstream, "GET", path);
    const auto answer =
        co_await ask_plainly(job->loop, *target, std::move(request), kListTime, kMostOfList);
    if (!job->wanted) co_return;
    const std::string problem = take_list(job->world, upstream, answer);
    if (!problem.empty()) {
      const std::string asked = masked_url(upstream.url) + path;
      job->world.log.repeated(telemetry::LogLevel::warning, "models of " + upstream.name,
                              "the list of an upstream's models cannot be read",
                              {{"upstream", upstream.name}, {"url", asked}, {"error", problem}});
    }
    const Milliseconds pause =
        problem.empty() ? upstream.models_refresh : std::min(upstream.models_refresh, kListRetry);
    co_await job->loop.sleep(limit(std::max(pause, Milliseconds(100))));
  }
}

}  // namespace callgate::server
