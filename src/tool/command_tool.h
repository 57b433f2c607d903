// CommandTool: a tool that is a program. It gets the arguments as JSON on its standard input and answers on its standard
// output; exit status 0 is success. No shell is involved. It leads a process group, which ends with the run.
#pragma once

#include <memory>

#include "tool/config.h"
#include "tool/tool.h"

namespace callgate::tool {

class CommandTool : public Tool {
 public:
  // REQUIRES: `config` holds a CommandToolConfig.
  static Result<std::shared_ptr<Tool>> make(net::Loop& loop, const ToolConfig& config);

 private:
  CommandTool(net::Loop& loop, ToolSpec spec, ToolLimits limits, CommandToolConfig config);
  net::Task<ToolResult> perform(const ToolCall& call, net::Millis timeout,
                                CancelToken& cancel) override;
  net::ProcessOptions process(const ToolCall& call) const;

  const CommandToolConfig config_;
};

// The environment of a child: what any program needs, our variables of those names, and `set`.
NamedValues child_environment(const std::vector<std::string>& passed, const NamedValues& set);

}  // namespace callgate::tool
