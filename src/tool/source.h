// ToolSource: where tools come from. Most are one tool; an MCP server is as many as it lists, and they change.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/result.h"
#include "net/task.h"
#include "tool/config.h"
#include "tool/tool.h"

namespace callgate::tool {

// How a source is. One that is a single tool is always ready.
struct SourceState {
  enum class Kind : std::uint8_t {
    starting,
    ready,
    slow,  // it takes long to list its tools, or its last call ran out of time
    lost,  // it cannot be reached, or has ended; the next call tries it again
  };
  Kind kind = Kind::ready;
  std::string reason;  // of slow and lost

  bool operator==(const SourceState&) const = default;
};
std::string_view to_string(SourceState::Kind kind);

// Loop thread only.
class ToolSource {
 public:
  virtual ~ToolSource() = default;
  // A run holds on to its tool: the next call may give others.
  virtual std::vector<std::shared_ptr<Tool>> tools() const = 0;
  // Asks the source for its tools again. What it had stays when that fails.
  virtual net::Task<Result<void>> refresh() = 0;
  // Called when the tools are others than before, also outside refresh().
  virtual void on_change(std::function<void()> callback) = 0;
  virtual SourceState state() const { return {}; }
  // Called when the state is another than before.
  virtual void on_state(std::function<void()>) {}
};

// Fails if the configuration makes no sense; a server that cannot be reached is reported later.
// REQUIRES: the loop outlives the source, and the source outlives its runs.
Result<std::unique_ptr<ToolSource>> make_source(net::Loop& loop, const ToolConfig& config);

// `http`, `command`, `mcp`, `builtin` or `web_search`.
std::string_view kind_name(const ToolConfig& config);

}  // namespace callgate::tool
