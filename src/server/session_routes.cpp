// GET /v1/sessions, GET and DELETE /v1/sessions/ID.
#include "admin/session_query.h"
#include "base/url_query.h"
#include "server/gateway.h"

namespace callgate::server {
namespace {

constexpr std::string_view kSessionPath = "/v1/sessions/";

Error no_store() {
  return {.code = ErrorCode::not_found, .message = "sessions are not stored: [store] url is none"};
}

}  // namespace

net::Task<> Gateway::list_sessions(Ask& ask) {
  const auto filter = read_session_filter(ask.exchange.head().query);
  if (!filter) co_return co_await refuse(ask, filter.error());
  store::Sessions* sessions = world_.conversations.answers.store();
  store::SessionPage none;
  Result<store::SessionPage> page = none;
  if (sessions != nullptr) {
    const auto query = [filter = *filter](store::Sessions::Tables& tables) {
      return tables.sessions.list(filter);
    };
    page = co_await sessions->ask(loop_, "list", query);
  }
  if (!page) co_return co_await refuse(ask, page.error());
  ask.headers.add("cache-control", "no-store");
  co_await respond_json(ask, 200, print_sessions(*page));
}

net::Task<> Gateway::show_session(Ask& ask) {
  const std::string id = percent_decoded(ask.exchange.head().path.substr(kSessionPath.size()));
  store::Sessions* sessions = world_.conversations.answers.store();
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
    answer = co_await sessions->ask(loop_, id, query);
    if (answer && answer->empty()) answer = tl::unexpected(no_session(id));
  }
  if (!answer) co_return co_await refuse(ask, answer.error());
  ask.headers.add("cache-control", "no-store");
  co_await respond_json(ask, 200, *answer);
}

net::Task<> Gateway::delete_session(Ask& ask) {
  const std::string id = percent_decoded(ask.exchange.head().path.substr(kSessionPath.size()));
  store::Sessions* sessions = world_.conversations.answers.store();
  Result<bool> erased = tl::unexpected(no_store());
  if (sessions != nullptr) {
    const auto query = [id](store::Sessions::Tables& tables) { return tables.sessions.erase(id); };
    erased = co_await sessions->ask(loop_, id, query);
    if (erased && !*erased) erased = tl::unexpected(no_session(id));
  }
  if (!erased) co_return co_await refuse(ask, erased.error());
  world_.conversations.answers.forget_session(id);
  co_await respond_json(ask, 200, print_deleted_session(id));
}

}  // namespace callgate::server
