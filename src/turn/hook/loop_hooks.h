// What the owner's hooks are told of a tool loop: that it began, each round when it is whole, a call that waits for approval, the
// end. Costs nothing where no hook wants to know.
//   {"type":"round","loop":"loop_1","at":1795000000000,"round":0,"calls":[{"id":"c1","name":"find",...}],"context":{...}}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/loop.h"
#include "json/writer.h"
#include "tool/tool.h"
#include "tool/webhook.h"

namespace callgate::tool {
class ToolHost;
}

namespace callgate::server {

class LoopHooks {
 public:
  struct Call {  // that the gateway ran
    std::string id;
    std::string name;
    bool is_error = false;
    std::int64_t duration_ms = 0;
  };

  // `host` may be nullptr: then nobody is told. REQUIRES: the host outlives it.
  LoopHooks(const tool::ToolHost* host, tool::ToolContext context, std::string loop_id);

  void loop_started() const;
  void waits(const loop::WaitForApproval& wait) const;
  // A tool of the current round has given its result.
  void call_ended(Call call);
  // The model is asked again, or the loop ends: the round before is whole.
  void round_ended(std::uint32_t round);
  struct End {
    std::string_view reason;
    std::uint32_t rounds = 0;
    std::uint32_t calls = 0;
  };
  void loop_ended(const End& end) const;

 private:
  bool is_wanted(tool::HookMoment moment) const;
  json::ObjectWriter begin(std::string& out, std::string_view type) const;
  void tell(tool::HookMoment moment, json::ObjectWriter& object, std::string& json,
            std::string_view tool_name = {}) const;

  const tool::ToolHost* const host_;
  const tool::ToolContext context_;
  const std::string loop_id_;
  std::vector<Call> calls_;  // of the current round
};

}  // namespace callgate::server
