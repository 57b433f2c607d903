// Web search over any search API that answers with JSON. Models see one tool with a `query`; the request and where the
// results lie in the reply are the owner's:
//
//   {"web": {"results": [{"title": "Callgate", "url": "https://...", "description": "A gateway."}]}}
//   list = "web.results", snippet = "description"
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "callgate/result.h"
#include "tool/config.h"
#include "tool/tool.h"

namespace callgate::tool {

// REQUIRES: `config` holds a SearchToolConfig. The rules for addresses are those of http tools.
Result<std::shared_ptr<Tool>> make_search_tool(net::Loop& loop, const ToolConfig& config);

// The first `most` results as text, numbered; results without an address are left out. Fails when the reply is not JSON or
// has no list there.
Result<std::string> read_search_reply(std::string_view json, const SearchReply& reply,
                                      std::size_t most);

}  // namespace callgate::tool
