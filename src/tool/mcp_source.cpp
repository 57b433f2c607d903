#include "tool/mcp_source.h"

#include "tool/mcp_client.h"

namespace callgate::tool {
namespace {

class McpTool : public Tool {
 public:
  McpTool(net::Loop& loop, ToolSpec spec, ToolLimits limits, std::shared_ptr<McpClient> client,
          std::string name)
      : Tool(loop, std::move(spec), limits), client_(std::move(client)), name_(std::move(name)) {}

 private:
  net::Task<ToolResult> perform(const ToolCall& call, net::Millis timeout,
                                CancelToken& cancel) override {
    return client_->call(name_, call, timeout, limits().result_bytes, cancel);
  }

  std::shared_ptr<McpClient> client_;
  const std::string name_;  // as the server knows it
};

class McpSource : public ToolSource {
 public:
  McpSource(net::Loop& loop, const ToolConfig& config, std::shared_ptr<McpClient> client)
      : loop_(loop), config_(config), client_(std::move(client)) {
    client_->on_tools([this] { take_tools(); });
  }
  ~McpSource() override { client_->close(); }

  std::vector<std::shared_ptr<Tool>> tools() const override { return tools_; }

  net::Task<Result<void>> refresh() override {
    CancelToken never;
    const net::Millis timeout = std::get<McpToolConfig>(config_.how).start_timeout;
    const std::shared_ptr<McpClient> client = client_;
    const bool listed = !client->tools().empty();
    const Result<void> up = co_await client->ready(timeout * 3, never);
    if (!up || !listed) co_return up;
    co_return co_await client->list(timeout);
  }

  void on_change(std::function<void()> callback) override { on_change_ = std::move(callback); }
  SourceState state() const override { return client_->state(); }
  void on_state(std::function<void()> callback) override { client_->on_state(std::move(callback)); }

 private:
  void take_tools() {
    tools_.clear();
    for (const McpToolEntry& entry : client_->tools()) {
      ToolSpec spec;
      const bool qualify = std::get<McpToolConfig>(config_.how).qualify;
      spec.name = qualified_name(qualify ? config_.name : "", entry.name);
      spec.description = entry.description;
      spec.parameters.text = entry.schema;
      tools_.push_back(
          std::make_shared<McpTool>(loop_, std::move(spec), config_.limits, client_, entry.name));
    }
    if (on_change_) on_change_();
  }

  net::Loop& loop_;
  const ToolConfig config_;
  std::shared_ptr<McpClient> client_;
  std::vector<std::shared_ptr<Tool>> tools_;
  std::function<void()> on_change_;
};

}  // namespace

Result<std::unique_ptr<ToolSource>> make_mcp_source(net::Loop& loop, const ToolConfig& config) {
  auto client = McpClient::make(loop, std::get<McpToolConfig>(config.how));
  if (!client) return tl::unexpected(client.error());
  return std::make_unique<McpSource>(loop, config, std::move(*client));
}

}  // namespace callgate::tool
