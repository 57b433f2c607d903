#include "admin/answer_beside.h"

#include <string>
#include <utility>

#include "front/admission.h"

namespace callgate::server {

net::Task<> answer_beside(Desk& desk, Ask& ask, QueryPool::Work work, std::string_view missing) {
  Result<std::string> answer = fail(ErrorCode::unavailable, std::string(missing));
  if (desk.world.queries != nullptr) {
    answer = co_await desk.world.queries->run(desk.loop, std::move(work));
  }
  if (!answer) co_return co_await desk.refuse(ask, answer.error());
  const auto held = reserve_for(desk.world, ask, answer->size());
  if (!held) co_return co_await desk.refuse(ask, held.error());
  ask.headers.add("cache-control", "no-store");
  co_await respond_json(ask, 200, *answer);
}

}  // namespace callgate::server
