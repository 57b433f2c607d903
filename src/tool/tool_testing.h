// For tests: a tool's run from its call to its result.
#pragma once

#include <string>
#include <utility>

#include "net/net_testing.h"
#include "tool/source.h"

namespace callgate::tool {

inline std::shared_ptr<Tool> make_tool(net::Loop& loop, const ToolConfig& config) {
  auto source = make_source(loop, config);
  if (!source) throw std::runtime_error(source.error().message);
  return (*source)->tools().front();
}

inline ToolResult run_tool(net::Loop& loop, Tool& tool, const ToolCall& call,
                           net::Millis timeout = net::Millis(10'000), int cancel_after_ms = -1) {
  ToolResult result;
  CancelToken cancel;
  const auto task = [](net::Loop& on, Tool& it, const ToolCall& asked, net::Millis limit,
                       CancelToken& token, int after, ToolResult& out) -> net::Task<> {
    if (after >= 0) {
      on.spawn([](net::Loop& same, CancelToken& end, int ms) -> net::Task<> {
        co_await same.sleep(net::Millis(ms));
        end.cancel();
      }(on, token, after));
    }
    out = co_await it.run(asked, limit, token);
  };
  net::run_to_end(loop, task(loop, tool, call, timeout, cancel, cancel_after_ms, result));
  return result;
}

inline ToolCall call_with(std::string arguments) {
  return {.id = "call_1",
          .name = "it",
          .arguments = std::move(arguments),
          .context = {.request_id = "req_7", .key_name = "alice", .model = "m1", .session = "s9"}};
}

}  // namespace callgate::tool
