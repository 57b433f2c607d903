#include "cli/probe.h"

#include <memory>
#include <utility>

#include "base/masked_url.h"
#include "dial/credential/credential.h"
#include "dial/plain_call.h"
#include "dial/upstream_call.h"
#include "net/loop.h"

namespace callgate::cli {
namespace {

constexpr std::size_t kMostOfList = std::size_t{16} << 20;

net::Task<> ask_once(net::Loop& loop, server::UpstreamTarget& target, UpstreamRequest request,
                     server::Milliseconds time, Result<server::PlainAnswer>& answer) {
  answer = co_await server::ask_plainly(loop, target, std::move(request), time, kMostOfList);
  loop.stop();
}

}  // namespace

Result<std::vector<upstream::ServedModel>> probe_upstream(const server::UpstreamConfig& upstream,
                                                          server::Milliseconds time) {
  const std::string path(upstream::model_list_path(upstream.wire));
  const std::string asked = "GET " + masked_url(upstream.url) + path;
  net::Loop loop;
  auto target = server::make_http_target(loop, upstream, server::Credential::make(upstream));
  if (!target) return tl::unexpected(target.error());
  Result<server::PlainAnswer> answer = fail(ErrorCode::internal, "it was not asked");
  UpstreamRequest request = server::plain_request(upstream, "GET", path);
  loop.spawn(ask_once(loop, **target, std::move(request), time, answer));
  loop.run();
  if (!answer) return tl::unexpected(answer.error());
  if (answer->status != 200) {
    std::string why = asked + " answered " + std::to_string(answer->status);
    if (answer->status == 401 && upstream.has_login()) {
      why += "; `callgate login " + upstream.name + "` logs in";
    }
    return fail(ErrorCode::upstream_failed, std::move(why));
  }
  auto models = upstream::read_model_list(upstream.wire, answer->body);
  if (!models) return fail(ErrorCode::upstream_failed, asked + " is not a list of models");
  return std::move(*models);
}

}  // namespace callgate::cli
