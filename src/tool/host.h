// ToolHost: all tools of a gateway, on a thread and a loop of their own, so that one child program or one connection
// serves the callers of every loop.
//   auto host = ToolHost::start(set, log);
//   const ToolResult result = co_await (*host)->run(my_loop, call, net::Millis(30'000), cancel);
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "callgate/result.h"
#include "net/loop.h"
#include "net/task.h"
#include "tool/argument_schema.h"
#include "tool/config.h"
#include "tool/hook_chain.h"
#include "tool/source.h"
#include "tool/tool.h"

namespace callgate::tool {

// What there is to know of a tool without running it. Immutable.
struct CatalogueEntry {
  ToolSpec spec;
  ToolLimits limits;
  std::string source;  // the name in the configuration
  std::string_view kind;
  std::shared_ptr<const ArgumentSchema> schema;  // empty: its schema could not be compiled
};

class Catalogue {
 public:
  explicit Catalogue(std::vector<CatalogueEntry> entries) : entries_(std::move(entries)) {}
  // By name.
  const std::vector<CatalogueEntry>& entries() const { return entries_; }
  const CatalogueEntry* find(std::string_view name) const;
  // not_found if the tool is unknown, otherwise what its schema says. A tool whose schema is broken accepts anything.
  Result<void> check(std::string_view name, std::string_view arguments) const;

 private:
  std::vector<CatalogueEntry> entries_;
};

// An MCP server.
struct ServerStatus {
  std::string name;  // in the configuration
  SourceState state;
  std::size_t tools = 0;  // that it has listed
};
using ServerObserver = std::function<void(const ServerStatus&)>;

// The last failed run of a tool.
struct ToolError {
  std::string text;     // its beginning
  std::int64_t at = 0;  // Unix milliseconds
};

class ToolHost {
 public:
  using Log = std::function<void(std::string_view)>;

  // Fails when a configuration makes no sense. Servers that cannot be reached are tried again, and logged.
  // All are called on the host's thread, `observe` on any when something is dropped; `servers` whenever the state of an MCP
  // server changes.
  static Result<std::unique_ptr<ToolHost>> start(const ToolSet& set, Log log,
                                                 HookObserver observe = {},
                                                 ServerObserver servers = {});
  // Cancels the runs and ends the children. REQUIRES: no other run is asked for.
  ~ToolHost();
  ToolHost(const ToolHost&) = delete;
  ToolHost& operator=(const ToolHost&) = delete;

  // Other tools and hooks for calls from now on; on failure nothing changes. Runs end as they began. What is
  // configured as before stays as it is, its connections and children with it.
  // Any thread but the host's; waits for the host's.
  Result<void> replace(const ToolSet& set);

  // Any thread. Another value whenever the tools change.
  std::shared_ptr<const Catalogue> catalogue() const;
  // Any thread. The MCP servers, in the order of the configuration.
  std::vector<ServerStatus> servers() const;
  std::optional<ToolError> last_error(std::string_view tool) const;
  // Any thread but the host's: true once every source was asked for its tools.
  bool wait_until_listed(net::Millis timeout) const;

  // Runs the tool of that name. As Tool::run(), but on any loop: the caller's, which it names. Ends at once when
  // cancelled. `call.on_progress` is called on the caller's loop, never after the end.
  net::Task<ToolResult> run(net::Loop& loop, ToolCall call, net::Millis timeout,
                            CancelToken& cancel) const;

  // Any thread: some hook judges prompts or answers of that key and model.
  bool judges(HookMoment moment, std::string_view key, std::string_view model) const;
  struct Judged {
    Judgement judgement;
    WordQuestion words;  // as hooks rewrote them
  };
  // Asks those hooks, on any loop: the caller's, which it names. Ends at once when cancelled, as denied. No hook takes longer
  // than its timeout.
  net::Task<Judged> judge(net::Loop& loop, WordQuestion question, CancelToken& cancel) const;

  // Any thread: some hook is notified at that moment.
  bool has_hooks(HookMoment moment) const;
  // Any thread. Notifies the hooks of that moment, on the host's thread, without waiting for them. What comes while
  // kMostTold others are on their way is dropped, and observed as such on the caller's thread.
  void tell(HookEvent event) const;
  static constexpr std::size_t kMostTold = 256;

 private:
  struct Core;
  explicit ToolHost(std::shared_ptr<Core> core);

  std::shared_ptr<Core> core_;
  std::thread thread_;
};

}  // namespace callgate::tool
