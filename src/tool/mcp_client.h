// McpClient: one MCP server as a place to call tools. It connects when it is first needed and again after it was lost,
// with growing pauses; it speaks the revision that the server speaks. Loop thread only; shared with its tasks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "callgate/result.h"
#include "tool/mcp_transport.h"
#include "tool/mcp_values.h"
#include "tool/source.h"
#include "tool/tool.h"

namespace callgate::tool {

class McpClient : public std::enable_shared_from_this<McpClient> {
 public:
  static Result<std::shared_ptr<McpClient>> make(net::Loop& loop, const McpToolConfig& config);
  McpClient(net::Loop& loop, const McpToolConfig& config);
  ~McpClient();

  // Completes when the server is connected and has listed its tools.
  net::Task<Result<void>> ready(net::Millis timeout, CancelToken& cancel);
  // Asks for the list again.
  net::Task<Result<void>> list(net::Millis timeout);
  net::Task<ToolResult> call(const std::string& tool, const ToolCall& call, net::Millis timeout,
                             std::size_t result_limit, CancelToken& cancel);

  const std::vector<McpToolEntry>& tools() const { return tools_; }
  // Which revision was found; empty before.
  const std::string& revision() const { return revision_; }
  void on_tools(std::function<void()> callback) { on_tools_ = std::move(callback); }
  const SourceState& state() const { return state_; }
  void on_state(std::function<void()> callback) { on_state_ = std::move(callback); }
  // Ends the connection for good.
  void close();

 private:
  struct Gate;
  using Answer = Result<std::string>;

  net::Task<> start();
  void break_start();
  void open_gates();
  net::Task<Result<void>> connect();
  net::Task<Result<bool>> probe_stateless();
  net::Task<Result<void>> shake_hands();
  net::Task<Answer> ask(std::string_view method, std::string_view members, net::Millis timeout,
                        CancelToken& cancel, const ToolCall* call = nullptr,
                        std::string_view tool = {});
  McpRequest request(std::string_view method, std::string_view members, const ToolCall* call);
  std::string meta(std::int64_t id, const ToolCall* call) const;
  net::Task<> list_again(std::shared_ptr<McpClient> self);
  void listen();
  void take_message(const McpMessage& message);
  void take_progress(std::string_view params);
  void lost(const Error& why);
  void set_state(SourceState::Kind kind, std::string reason = {});
  // What an answer, or its absence, says of the server.
  void judge(const Answer& answer, std::string_view tool, net::Millis timeout);
  net::Task<> watch_start(std::shared_ptr<McpClient> self);
  void failed();
  net::Millis pause() const;
  const McpToolEntry* find(std::string_view tool) const;
  bool stateless() const { return revision_ == kMcpStatelessRevision; }

  net::Loop& loop_;
  const McpToolConfig config_;
  std::shared_ptr<McpTransport> transport_;
  std::vector<McpToolEntry> tools_;
  std::function<void()> on_tools_;
  std::function<void()> on_state_;
  SourceState state_{.kind = SourceState::Kind::starting, .reason = {}};
  std::string revision_;
  bool lists_changes_ = false;
  bool up_ = false;
  bool alive_ = false;  // the transport has not reported its end
  bool starting_ = false;
  bool closed_ = false;
  bool listing_ = false;
  bool stale_ = false;  // the list changed while it was asked for
  std::optional<Error> start_error_;
  std::vector<Gate*> gates_;
  int failures_ = 0;  // since something last worked
  std::uint64_t failed_at_ = 0;
  std::int64_t next_id_ = 1;
  std::unordered_map<std::int64_t, const ToolCall*> running_;  // by progress token
};

}  // namespace callgate::tool
