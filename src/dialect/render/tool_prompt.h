// How a model without native tools learns of them: definitions, one worked call in its own dialect, and rules, as text
// for the system prompt. And how it learns what came of its calls.
//
//   # Tools
//   You can use these tools:
//   <tools>
//   {"type": "function", "function": {"name": "find", "parameters": {...}}}
//   </tools>
//   To use a tool, write this, with your own values:
//   <tool_call>
//   {"name": "find", "arguments": {"q": "text"}}
//   </tool_call>
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "callgate/request.h"

namespace callgate::dialect {

struct ToolPromptOptions {
  ToolChoice choice;
  bool parallel = true;  // several calls in one turn are welcome
};

// Appends the text. False, with `out` as it was: render_calls() does not know the dialect.
// REQUIRES: there are tools.
bool render_tool_prompt(std::string_view dialect, std::span<const ToolSpec> tools,
                        const ToolPromptOptions& options, std::string& out);

// The sentence that asks for the call that `choice` insists on; empty when it insists on none.
std::string required_call_rule(const ToolChoice& choice);

struct ToolResult {
  std::string id;
  std::string name;  // of the tool, empty when it is not known
  std::string text;
};

// Appends what came of calls, in this order, each with its id. An empty result says that it is empty.
void render_results(std::string_view dialect, std::span<const ToolResult> results,
                    std::string& out);

}  // namespace callgate::dialect
