// POST, GET and DELETE /mcp: the gateway's tools for other MCP clients.
#include "gateway/mcp_route.h"

#include <memory>
#include <optional>
#include <utility>

#include "base/glob.h"
#include "config/tool_config.h"
#include "front/admission.h"
#include "net/companion.h"
#include "tool/host.h"
#include "tool/mcp_server.h"
#include "turn/event_stream.h"
#include "turn/observe.h"

namespace callgate::server {
namespace {

constexpr net::Millis kLook{1'000};  // how soon a change of the tools is noticed
constexpr std::uint64_t kSilence = 15'000;
constexpr std::string_view kKeepAlive = ": keep-alive\n\n";
constexpr std::size_t kMostProgress = std::size_t{64} << 10;  // that waits for a slow client

// Tools that need a person's approval are left out: MCP has no way to ask for it.
std::vector<ToolSpec> tools_for(const Ask& ask, const tool::Catalogue& catalogue) {
  static const std::vector<std::string> kAll{"*"};
  std::vector<ToolSpec> tools;
  for (loop::Tool& tool : loop_tools(catalogue, ask.snapshot->config, kAll)) {
    const bool allowed = ask.key == nullptr || may_use_tool(ask.key->config, tool.spec.name);
    if (allowed && !tool.approval) tools.push_back(std::move(tool.spec));
  }
  return tools;
}

tool::ToolCall call_of(const Ask& ask, const tool::McpRun& run) {
  tool::ToolCall call;
  call.name = run.tool;
  call.arguments = run.arguments;
  call.wants_content = true;
  call.context.request_id = ask.id;
  if (ask.key != nullptr) call.context.key_name = ask.key->config.name;
  return call;
}

// A run that reports its progress. Either side may end first.
struct WatchedRun {
  explicit WatchedRun(net::Loop& loop) : news(loop) {}
  tool::CancelToken cancel;
  net::Signal news;
  std::string frames;  // to be sent
  std::optional<tool::ToolResult> result;
};

net::Task<> play(std::shared_ptr<WatchedRun> run, const tool::ToolHost& host, net::Loop& loop,
                 tool::ToolCall call) {
  run->result = co_await host.run(loop, std::move(call), net::kNever, run->cancel);
  run->news.notify();
}

void observe_run(World& world, std::string_view tool, bool cancelled,
                 const tool::ToolResult& result) {
  const std::string_view outcome = cancelled ? "cancelled" : result.is_error ? "error" : "ok";
  observe_tool_run(world, tool, outcome, result.duration);
}

net::Task<tool::ToolResult> run_tool(Desk& desk, Ask& ask, const tool::McpRun& run,
                                     const tool::Catalogue& catalogue) {
  if (const auto checked = catalogue.check(run.tool, run.arguments); !checked) {
    co_return tool::error_result(checked.error().message);
  }
  tool::ToolCall call = call_of(ask, run);
  tool::CancelToken cancel;
  ask.exchange.on_client_gone([&cancel] { cancel.cancel(); });
  tool::ToolResult result =
      co_await desk.world.tools->run(desk.loop, std::move(call), net::kNever, cancel);
  ask.exchange.on_client_gone({});
  observe_run(desk.world, run.tool, cancel.cancelled(), result);
  co_return result;
}

net::Task<> stream_tool(Desk& desk, Ask& ask, const tool::McpServer& server,
                        const tool::McpRun& run, const tool::Catalogue& catalogue) {
  for (const auto& [name, value] : server.stream_head().headers) ask.headers.add(name, value);
  ask.exchange.start(200, ask.headers);
  const auto watched = std::make_shared<WatchedRun>(desk.loop);
  if (const auto checked = catalogue.check(run.tool, run.arguments); !checked) {
    watched->result = tool::error_result(checked.error().message);
  } else {
    tool::ToolCall call = call_of(ask, run);
    call.on_progress = [server, run, it = watched.get()](std::string_view progress) {
      if (it->frames.size() < kMostProgress) it->frames += server.progress_frame(run, progress);
      it->news.notify();
    };
    ask.exchange.on_client_gone([it = watched.get()] {
      it->cancel.cancel();
      it->news.notify();
    });
    auto playing = play(watched, *desk.world.tools, desk.loop, std::move(call));
    desk.loop.spawn(net::watched(std::move(playing), [watched] {
      watched->result = tool::error_result("the tool broke off inside the gateway");
      watched->news.notify();
    }));
  }
  while (!watched->result) {
    const bool notified = co_await watched->news.wait(net::Millis(kSilence));
    std::string out = std::exchange(watched->frames, {});
    if (!notified) out += kKeepAlive;
    if (out.empty() || ask.exchange.client_gone()) continue;
    const auto written = co_await ask.exchange.write(out);
    if (!written) watched->cancel.cancel();
  }
  ask.exchange.on_client_gone({});
  observe_run(desk.world, run.tool, watched->cancel.cancelled(), *watched->result);
  if (ask.exchange.client_gone()) co_return;
  const std::string last = watched->frames + server.last_frame(run, *watched->result);
  (void)co_await ask.exchange.end(last);
}

// Stays open until the client closes it, and reports changes of the tools.
net::Task<> listen_for_changes(Desk& desk, Ask& ask, const tool::McpServer& server,
                               const tool::McpListen& listen) {
  for (const auto& [name, value] : server.stream_head().headers) ask.headers.add(name, value);
  ask.exchange.start(200, ask.headers);
  auto known = desk.world.tools->catalogue();
  std::string out = listen.first;
  net::Signal gone(desk.loop);
  ask.exchange.on_client_gone([&gone] { gone.notify(); });
  std::uint64_t written_at = 0;
  while (!ask.exchange.client_gone()) {
    if (out.empty() && desk.loop.now() - written_at >= kSilence) out = kKeepAlive;
    if (!out.empty()) {
      const auto written = co_await ask.exchange.write(out);
      if (!written) break;
      written_at = desk.loop.now();
      out.clear();
    }
    (void)co_await gone.wait(kLook);
    if (auto now = desk.world.tools->catalogue(); now != known) {
      known = std::move(now);
      if (listen.tools_changes) out = server.list_changed_frame(listen);
    }
  }
  ask.exchange.on_client_gone({});
}

net::Task<> answer_mcp(Desk& desk, Ask& ask) {
  Error error{.code = ErrorCode::not_found,
              .message = "there is no MCP server here; mcp = true and a [[tool]] make one",
              .upstream_code = "unknown_url"};
  if (!ask.snapshot->config.mcp || ask.snapshot->config.tools.empty())
    co_return co_await desk.refuse(ask, error);
  const auto body = co_await read_body(desk.world, ask);
  if (!body) co_return co_await desk.refuse(ask, body.error());
  const net::RequestHead& head = ask.exchange.head();
  tool::McpHttpRequest request{.method = head.method, .body = *body};
  request.header = [&head](std::string_view name) { return head.headers.find(name); };
  const auto catalogue = desk.world.tools->catalogue();
  const tool::McpServer server;
  const tool::McpAction action = server.accept(request, tools_for(ask, *catalogue));
  tool::McpReply reply;
  if (const auto* listen = std::get_if<tool::McpListen>(&action)) {
    co_return co_await listen_for_changes(desk, ask, server, *listen);
  }
  if (const auto* run = std::get_if<tool::McpRun>(&action)) {
    const TurnSlots slots(desk.world, ask.key, ask.address);
    const auto busy = slots.refusal();
    if (busy) co_return co_await desk.refuse(ask, *busy);
    if (!run->progress_token.empty()) {
      co_return co_await stream_tool(desk, ask, server, *run, *catalogue);
    }
    const tool::ToolResult result = co_await run_tool(desk, ask, *run, *catalogue);
    reply = server.answer(*run, result);
  } else {
    reply = std::get<tool::McpReply>(action);
  }
  for (const auto& [name, value] : reply.headers) ask.headers.add(name, value);
  co_await ask.exchange.respond(reply.status, ask.headers, reply.body);
}

}  // namespace

void add_mcp_routes(Routes& routes, Desk& desk) {
  routes.add({"POST", "/mcp", Guard::model, [&desk](Ask& ask) { return answer_mcp(desk, ask); }});
  routes.add({"GET", "/mcp", Guard::key, [&desk](Ask& ask) { return answer_mcp(desk, ask); }});
  routes.add({"DELETE", "/mcp", Guard::key, [&desk](Ask& ask) { return answer_mcp(desk, ask); }});
}

}  // namespace callgate::server
