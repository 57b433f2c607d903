// POST /v1/reload: reads the configuration again, as SIGHUP does, and says what came of it.
//
//   200 {"status":"reloaded","needs_restart":["listen"]}     400 {"error":{"message":"callgate.toml:3: ..."}}
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admin/admin_routes.h"
#include "front/admission.h"
#include "json/writer.h"

namespace callgate::server {
namespace {

constexpr net::Millis kLongestReload{60'000};

struct ReloadWait {
  explicit ReloadWait(net::Loop& own) : loop(own), done(own) {}
  net::Loop& loop;
  net::Signal done;
  std::optional<ReloadOutcome> outcome;
};

std::string print_reloaded(const std::vector<std::string>& needs_restart) {
  std::string out;
  json::ObjectWriter object(out);
  object.string("status", "reloaded");
  std::string& list = object.key("needs_restart");
  list += '[';
  for (const std::string& key : needs_restart) {
    if (list.back() != '[') list += ',';
    json::append_string(list, key);
  }
  list += ']';
  object.close();
  return out;
}

net::Task<> reload(Desk& desk, Ask& ask) {
  Error error{.code = ErrorCode::unavailable,
              .message = "this gateway cannot read its configuration again"};
  if (!desk.world.reload) co_return co_await desk.refuse(ask, error);
  const auto wait = std::make_shared<ReloadWait>(desk.loop);
  desk.world.reload([wait](const ReloadOutcome& outcome) {
    wait->loop.post([wait, outcome] {
      wait->outcome = outcome;
      wait->done.notify();
    });
  });
  (void)co_await wait->done.wait(kLongestReload);
  if (!wait->outcome) {
    error = {.code = ErrorCode::timed_out,
             .message = "the reload takes longer than a minute; the log will say how it ends"};
    co_return co_await desk.refuse(ask, error);
  }
  if (!*wait->outcome) {
    error = {.code = ErrorCode::invalid_request,
             .message = "nothing changed: " + wait->outcome->error().message};
    co_return co_await desk.refuse(ask, error);
  }
  const std::string body = print_reloaded(**wait->outcome);
  co_await respond_json(ask, 200, body);
}

}  // namespace

void add_reload_route(Routes& routes, Desk& desk) {
  routes.add({"POST", "/v1/reload", Guard::admin, [&desk](Ask& ask) { return reload(desk, ask); }});
}

}  // namespace callgate::server
