// GET /v1/tools: the tools that the gateway runs, and how they and the servers that offer them are. POST /v1/tools/{name} runs one,
// as a test.
//
//   {"arguments": {"id": "ORD-42"}}  ->  {"object":"tool_result","tool":"lookup_order","is_error":false,"text":"...",...}
#include <algorithm>
#include <optional>
#include <utility>

#include "admin/admin_routes.h"
#include "admin/log_time.h"
#include "base/url_query.h"
#include "front/admission.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "tool/host.h"
#include "turn/observe.h"

namespace callgate::server {
namespace {

constexpr std::string_view kTools = "/v1/tools/";

// `server`: what offers it, nullptr for a tool that is a table of its own and always there.
void append_tool(std::string& out, const tool::CatalogueEntry& entry,
                 const tool::ServerStatus* server, const std::optional<tool::ToolError>& error) {
  json::ObjectWriter row(out);
  row.string("name", entry.spec.name);
  row.string("object", "tool");
  row.string("kind", entry.kind);
  row.string("source", entry.source);
  row.string("state", server == nullptr ? "ready" : tool::to_string(server->state.kind));
  if (error) {
    json::ObjectWriter last(row.key("last_error"));
    last.string("message", error->text);
    last.string("at", print_time(error->at));
    last.close();
  } else {
    row.null("last_error");
  }
  row.string("description", entry.spec.description);
  row.raw("parameters", entry.spec.parameters.text.empty()
                            ? std::string_view("{}")
                            : std::string_view(entry.spec.parameters.text));
  row.integer("timeout_ms", entry.limits.timeout.count());
  row.close();
}

void append_server(std::string& out, const tool::ServerStatus& server) {
  json::ObjectWriter row(out);
  row.string("name", server.name);
  row.string("state", tool::to_string(server.state.kind));
  if (!server.state.reason.empty()) row.string("reason", server.state.reason);
  row.integer("tools", static_cast<std::int64_t>(server.tools));
  row.close();
}

net::Task<> list_tools(Desk& desk, Ask& ask) {
  std::string tools;
  std::string servers;
  if (const tool::ToolHost* host = desk.world.tools) {
    const std::vector<tool::ServerStatus> all = host->servers();
    for (const tool::ServerStatus& server : all) {
      servers += servers.empty() ? "" : ",";
      append_server(servers, server);
    }
    const auto catalogue = host->catalogue();
    for (const tool::CatalogueEntry& entry : catalogue->entries()) {
      const auto server = std::find_if(all.begin(), all.end(), [&](const tool::ServerStatus& one) {
        return one.name == entry.source && entry.kind == "mcp";
      });
      tools += tools.empty() ? "" : ",";
      append_tool(tools, entry, server == all.end() ? nullptr : &*server,
                  host->last_error(entry.spec.name));
    }
  }
  ask.headers.add("cache-control", "no-store");
  const std::string body =
      R"({"object":"list","data":[)" + tools + R"(],"servers":[)" + servers + "]}";
  co_await respond_json(ask, 200, body);
}

// The JSON of the arguments; empty: the body has another form.
std::string read_arguments_of(std::string_view body) {
  json::Reader in(body);
  in.skip();
  if (!in.finish()) return {};
  const std::string_view given = json::given_member(body, "arguments");
  if (given.empty()) return "{}";
  return given.starts_with('{') ? std::string(given) : std::string();
}

std::string print_result(std::string_view name, const tool::ToolResult& result) {
  std::string out;
  json::ObjectWriter object(out);
  object.string("object", "tool_result");
  object.string("tool", name);
  object.boolean("is_error", result.is_error);
  object.string("text", result.text);
  object.boolean("truncated", result.truncated);
  object.integer("duration_ms", result.duration.count());
  object.close();
  return out;
}

net::Task<> run_tool_as_test(Desk& desk, Ask& ask) {
  const auto body = co_await read_body(desk.world, ask);
  if (!body) co_return co_await desk.refuse(ask, body.error());
  tool::ToolCall call;
  call.id = "test";
  call.name = percent_decoded(ask.exchange.head().path.substr(kTools.size()));
  call.arguments = read_arguments_of(*body);
  call.context.request_id = ask.id;
  if (ask.key != nullptr) call.context.key_name = ask.key->config.name;
  Error wrong{.code = ErrorCode::not_found,
              .message = "there is no tool \"" + call.name + "\"; GET /v1/tools lists all"};
  const tool::ToolHost* const host = desk.world.tools;
  const auto catalogue = host == nullptr ? nullptr : host->catalogue();
  if (catalogue == nullptr || catalogue->find(call.name) == nullptr) {
    co_return co_await desk.refuse(ask, wrong);
  }
  if (call.arguments.empty()) {
    wrong = {.code = ErrorCode::invalid_request,
             .message = "expected {\"arguments\": {...}}",
             .param = "arguments"};
    co_return co_await desk.refuse(ask, wrong);
  }
  if (const auto fits = catalogue->check(call.name, call.arguments); !fits) {
    wrong = {
        .code = ErrorCode::invalid_request, .message = fits.error().message, .param = "arguments"};
    co_return co_await desk.refuse(ask, wrong);
  }
  const std::string name = call.name;
  tool::CancelToken cancel;
  ask.exchange.on_client_gone([&cancel] { cancel.cancel(); });
  const tool::ToolResult result =
      co_await host->run(desk.loop, std::move(call), net::kNever, cancel);
  ask.exchange.on_client_gone({});
  observe_tool_run(desk.world, name,
                   cancel.cancelled() ? "cancelled"
                   : result.is_error  ? "error"
                                      : "ok",
                   result.duration);
  const std::string answer = print_result(name, result);
  co_await respond_json(ask, 200, answer);
}

}  // namespace

void add_tool_routes(Routes& routes, Desk& desk) {
  routes.add(
      {"GET", "/v1/tools", Guard::admin, [&desk](Ask& ask) { return list_tools(desk, ask); }});
  routes.add({"POST", "/v1/tools/*", Guard::admin,
              [&desk](Ask& ask) { return run_tool_as_test(desk, ask); }});
}

}  // namespace callgate::server
