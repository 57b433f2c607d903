#include "gateway/upstream_watch.h"

#include <string>
#include <utility>

#include "base/masked_url.h"
#include "dial/plain_call.h"

namespace callgate::server {
namespace {

constexpr std::size_t kMostOfCheck = std::size_t{4} << 20;

// Nothing: it is well. A refused key, or a path that is not there, is a mistake in the configuration, which shows here first.
std::string problem_of(const Result<PlainAnswer>& answer, const UpstreamConfig& upstream) {
  const std::string asked = "check: GET " + masked_url(upstream.url) + upstream.check;
  if (!answer) return asked + ": " + answer.error().message;
  if (answer->status >= 200 && answer->status < 300) return {};
  return asked + " answered " + std::to_string(answer->status);
}

}  // namespace

void UpstreamWatch::stop() {
  if (job_ != nullptr) job_->wanted = false;
  job_.reset();
}

void UpstreamWatch::use(std::shared_ptr<const Snapshot> snapshot) {
  stop();
  job_ = std::make_shared<Job>(Job{world_, loop_, targets_, std::move(snapshot)});
  for (const UpstreamConfig& upstream : job_->snapshot->config.upstreams) {
    const bool over_http = !upstream.is_child() && !upstream.is_scripted();
    if (!upstream.check.empty() && over_http) loop_.spawn(check(job_, upstream));
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

}  // namespace callgate::server
