// GET /v1/loops and POST /v1/loops/{id}: the tool loops that run, and steering of one.
//
//   {"action": "cancel"}                          {"action": "inject", "text": "Hurry up."}
//   {"action": "system_prompt", "text": "..."}    {"action": "approve", "run": 3}    {"action": "deny", "run": 3}
#include <optional>

#include "admin/admin_routes.h"
#include "front/admission.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::server {
namespace {

constexpr std::string_view kLoops = "/v1/loops/";

// A key sees its own loops; on an open gateway, or with an admin's key, all are seen.
const std::string* only_key(const Ask& ask) {
  return ask.key == nullptr || ask.key->config.admin ? nullptr : &ask.key->config.name;
}

void append_approval(std::string& out, const loop::WaitForApproval& wait) {
  json::ObjectWriter object(out);
  object.integer("run", wait.run);
  object.string("call", wait.call_id);
  object.string("tool", wait.name);
  object.string("arguments", wait.arguments);
  object.close();
}

void append_loop(std::string& out, const LoopSight& sight) {
  json::ObjectWriter object(out);
  object.string("id", sight.id);
  object.string("request", sight.request);
  object.string("model", sight.model);
  object.string("key", sight.key);
  object.integer("started_at", sight.started_at);
  object.integer("rounds", sight.rounds);
  object.integer("calls", sight.calls);
  std::string& tools = object.key("running");
  tools += '[';
  for (const std::string& tool : sight.tools) {
    if (tools.back() != '[') tools += ',';
    json::append_string(tools, tool);
  }
  tools += ']';
  std::string& approvals = object.key("approvals");
  approvals += '[';
  for (const loop::WaitForApproval& wait : sight.approvals) {
    if (approvals.back() != '[') approvals += ',';
    append_approval(approvals, wait);
  }
  approvals += ']';
  object.close();
}

struct Action {
  std::string_view word;
  LoopCommand::Kind kind;
};
constexpr Action kActions[] = {{"cancel", LoopCommand::Kind::cancel},
                               {"inject", LoopCommand::Kind::inject},
                               {"system_prompt", LoopCommand::Kind::system_prompt},
                               {"approve", LoopCommand::Kind::approve},
                               {"deny", LoopCommand::Kind::deny}};

Result<LoopCommand> read_command(std::string_view body) {
  LoopCommand command;
  bool known = false;
  bool has_text = false;
  json::Reader in(body);
  for (std::string_view key; in.next_member(key);) {
    if (key == "action") {
      const std::string_view word = in.string();
      for (const Action& action : kActions) {
        if (action.word != word) continue;
        known = true;
        command.kind = action.kind;
      }
    } else if (key == "text" || key == "reason") {
      has_text = true;
      command.text = in.string();
    } else if (key == "run") {
      command.run = static_cast<loop::RunId>(in.integer().value_or(0));
    } else {
      in.skip();
    }
  }
  if (!in.finish()) return fail(ErrorCode::invalid_request, "the body is not a JSON object");
  if (!known) {
    return fail(ErrorCode::invalid_request,
                "action: expected cancel, inject, system_prompt, approve or deny", "action");
  }
  const bool needs_text =
      command.kind == LoopCommand::Kind::inject || command.kind == LoopCommand::Kind::system_prompt;
  if (needs_text && !has_text) {
    return fail(ErrorCode::invalid_request, "text: missing, expected a string", "text");
  }
  return command;
}

net::Task<> list_loops(Desk& desk, Ask& ask) {
  const std::string* key = only_key(ask);
  std::string body = "{\"object\":\"list\",\"data\":[";
  for (const LoopSight& sight : desk.world.loops.list()) {
    if (key != nullptr && sight.key != *key) continue;
    if (body.back() != '[') body += ',';
    append_loop(body, sight);
  }
  body += "]}";
  ask.headers.add("cache-control", "no-store");
  co_await respond_json(ask, 200, body);
}

net::Task<> steer_loop(Desk& desk, Ask& ask) {
  const auto body = co_await read_body(desk.world, ask);
  if (!body) co_return co_await desk.refuse(ask, body.error());
  auto command = read_command(*body);
  if (!command) co_return co_await desk.refuse(ask, command.error());
  const std::string id(ask.exchange.head().path.substr(kLoops.size()));
  const auto answer = desk.world.loops.steer(id, only_key(ask), std::move(*command));
  Error error{.code = ErrorCode::not_found};
  switch (answer) {
    case RunningLoops::Answer::taken:
      co_return co_await respond_json(ask, 202, "{\"status\":\"accepted\"}");
    case RunningLoops::Answer::no_loop:
      error.message = "there is no running loop \"" + id + "\"; GET /v1/loops lists all";
      error.upstream_code = "loop_not_found";
      break;
    case RunningLoops::Answer::no_run:
      error.message = "run: no call of that number waits for approval; GET /v1/loops lists them";
      error.upstream_code = "run_not_found";
      break;
  }
  co_await desk.refuse(ask, error);
}

}  // namespace

void add_loop_routes(Routes& routes, Desk& desk) {
  routes.add({"GET", "/v1/loops", Guard::key, [&desk](Ask& ask) { return list_loops(desk, ask); }});
  routes.add(
      {"POST", "/v1/loops/*", Guard::key, [&desk](Ask& ask) { return steer_loop(desk, ask); }});
}

}  // namespace callgate::server
