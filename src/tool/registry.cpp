#include <array>

#include "tool/builtin_tool.h"
#include "tool/command_tool.h"
#include "tool/http_tool.h"
#include "tool/mcp_source.h"
#include "tool/search_tool.h"
#include "tool/source.h"

namespace callgate::tool {
namespace {

// One tool that never changes.
class SingleSource : public ToolSource {
 public:
  explicit SingleSource(std::shared_ptr<Tool> tool) : tool_(std::move(tool)) {}
  std::vector<std::shared_ptr<Tool>> tools() const override { return {tool_}; }
  net::Task<Result<void>> refresh() override { co_return Result<void>(); }
  void on_change(std::function<void()>) override {}

 private:
  std::shared_ptr<Tool> tool_;
};

using Made = Result<std::unique_ptr<ToolSource>>;

template <auto make>
Made single(net::Loop& loop, const ToolConfig& config) {
  Result<std::shared_ptr<Tool>> tool = make(loop, config);
  if (!tool) return tl::unexpected(tool.error());
  return std::make_unique<SingleSource>(std::move(*tool));
}

struct Kind {
  std::string_view name;
  Made (*make)(net::Loop& loop, const ToolConfig& config);
};

// In the order of ToolConfig::how.
constexpr std::array<Kind, 5> kKinds = {{
    {"http", single<HttpTool::make>},
    {"command", single<CommandTool::make>},
    {"mcp", make_mcp_source},
    {"builtin", single<make_builtin>},
    {"web_search", single<make_search_tool>},
}};
static_assert(kKinds.size() == std::variant_size_v<decltype(ToolConfig::how)>);

}  // namespace

std::string_view to_string(SourceState::Kind kind) {
  switch (kind) {
    case SourceState::Kind::starting:
      return "starting";
    case SourceState::Kind::ready:
      return "ready";
    case SourceState::Kind::slow:
      return "slow";
    case SourceState::Kind::lost:
      return "lost";
  }
  return "";
}

std::string_view kind_name(const ToolConfig& config) { return kKinds[config.how.index()].name; }

Made make_source(net::Loop& loop, const ToolConfig& config) {
  Made made = kKinds[config.how.index()].make(loop, config);
  if (!made) made.error().message = "tool " + config.name + ": " + made.error().message;
  return made;
}

}  // namespace callgate::tool
