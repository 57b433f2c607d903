// GET /v1/sessions, GET and DELETE /v1/sessions/ID.
#include "admin/admin_routes.h"
#include "admin/session_query.h"
#include "base/url_query.h"

namespace callgate::server {
namespace {

constexpr std::string_view kSessionPath = "/v1/sessions/";

Error no_store() {
  return {.code = ErrorCode::not_found, .message = "sessions are not stored: [store] url is none"};
}

net::Task<> list_sessions(Desk& desk, Ask& ask) {
  const auto filter = read_session_filter(ask.exchange.head().query);
  if (!filter) co_return co_await desk.refuse(ask, filter.error());
  store::Sessions* sessions = desk.world.conversations.answers.store();
  store::SessionPage none;
  Result<store::SessionPage> page = none;
  if (sessions != nullptr) {
    const auto query = [filter = *filter](store::Sessions::Tables& tables) {
      return tables.sessions.list(filter);
    };
    page = co_await sessions->ask(desk.loop, "list", query);
  }
  if (!page) co_return co_await desk.refuse(ask, page.error());
  ask.headers.add("cache-control", "no-store");
  co_await respond_json(ask, 200, print_sessions(*page));
}

net::Task<> show_session(Desk& desk, Ask& ask) {
  const std::string id = percent_decoded(ask.exchange.head().path.substr(kSessionPath.size()));
  store::Sessions* sessions = desk.world.conversations.answers.store();
  Result<std::string> answer = tl::unexpected(no_store());
  if (sessions != nullptr) {
    const auto query = [id](store::Sessions::Tables& tables) -> store::Attempt<std::string> {
      const auto session = tables.sessions.get(id);
      if (!session) return tl::unexpected(session.error());
      if (!*session) return std::string();
      const auto answers = tables.sessions.answers(id, kMostAnswers);
      if (!answers) return tl::unexpected(answers.error());
      return print_session(**session, *answers);
    };
    answer = co_await sessions->ask(desk.loop, id, query);
    if (answer && answer->empty()) answer = tl::unexpected(no_session(id));
  }
  if (!answer) co_return co_await desk.refuse(ask, answer.error());
  ask.headers.add("cache-control", "no-store");
  co_await respond_json(ask, 200, *answer);
}

net::Task<> delete_session(Desk& desk, Ask& ask) {
  const std::string id = percent_decoded(ask.exchange.head().path.substr(kSessionPath.size()));
  store::Sessions* sessions = desk.world.conversations.answers.store();
  Result<bool> erased = tl::unexpected(no_store());
  if (sessions != nullptr) {
    const auto query = [id](store::Sessions::Tables& tables) { return tables.sessions.erase(id); };
    erased = co_await sessions->ask(desk.loop, id, query);
    if (erased && !*erased) erased = tl::unexpected(no_session(id));
  }
  if (!erased) co_return co_await desk.refuse(ask, erased.error());
  desk.world.conversations.answers.forget_session(id);
  co_await respond_json(ask, 200, print_deleted_session(id));
}

}  // namespace

void add_session_routes(Routes& routes, Desk& desk) {
  routes.add({"GET", "/v1/sessions", Guard::admin,
              [&desk](Ask& ask) { return list_sessions(desk, ask); }});
  routes.add({"GET", "/v1/sessions/*", Guard::admin,
              [&desk](Ask& ask) { return show_session(desk, ask); }});
  routes.add({"DELETE", "/v1/sessions/*", Guard::admin,
              [&desk](Ask& ask) { return delete_session(desk, ask); }});
}

}  // namespace callgate::server
