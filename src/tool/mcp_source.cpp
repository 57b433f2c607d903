#include "tool/mcp_source.h"
namespace callgate::tool {
Result<std::unique_ptr<ToolSource>> make_mcp_source(net::Loop&, const ToolConfig&) {
  return fail(ErrorCode::internal, "later");
}
}  // namespace callgate::tool
