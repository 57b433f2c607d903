#include "turn/hook/loop_hooks.h"

#include <utility>

#include "net/unix_time.h"
#include "tool/host.h"

namespace callgate::server {

using tool::HookMoment;

LoopHooks::LoopHooks(const tool::ToolHost* host, tool::ToolContext context, std::string loop_id)
    : host_(host), context_(std::move(context)), loop_id_(std::move(loop_id)) {}

bool LoopHooks::is_wanted(HookMoment moment) const {
  return host_ != nullptr && host_->has_hooks(moment);
}

json::ObjectWriter LoopHooks::begin(std::string& out, std::string_view type) const {
  json::ObjectWriter object(out);
  object.string("type", type);
  object.string("loop", loop_id_);
  object.integer("at", net::unix_ms());
  return object;
}

void LoopHooks::tell(HookMoment moment, json::ObjectWriter& object, std::string& json,
                     std::string_view tool_name) const {
  json::ObjectWriter context(object.key("context"));
  context.string("request", context_.request_id);
  context.string("key", context_.key_name);
  context.string("model", context_.model);
  context.string("session", context_.session);
  context.close();
  object.close();
  host_->tell({.moment = moment,
               .tool = std::string(tool_name),
               .key = context_.key_name,
               .json = std::move(json)});
}

void LoopHooks::loop_started() const {
  if (!is_wanted(HookMoment::loop_start)) return;
  std::string json;
  auto object = begin(json, "loop_start");
  tell(HookMoment::loop_start, object, json);
}

void LoopHooks::waits(const loop::WaitForApproval& wait) const {
  if (!is_wanted(HookMoment::approval)) return;
  std::string json;
  auto object = begin(json, "approval_required");
  object.integer("run", wait.run);
  object.string("tool", wait.name);
  object.string("call_id", wait.call_id);
  object.raw("arguments", wait.arguments.empty() ? std::string_view("{}") : wait.arguments);
  tell(HookMoment::approval, object, json, wait.name);
}

void LoopHooks::call_ended(Call call) {
  if (is_wanted(HookMoment::round)) calls_.push_back(std::move(call));
}

void LoopHooks::round_ended(std::uint32_t round) {
  const std::vector<Call> calls = std::exchange(calls_, {});
  if (!is_wanted(HookMoment::round)) return;
  std::string json;
  auto object = begin(json, "round");
  object.integer("round", round);
  std::string& list = object.key("calls");
  list += '[';
  for (const Call& call : calls) {
    if (list.back() != '[') list += ',';
    json::ObjectWriter row(list);
    row.string("id", call.id);
    row.string("name", call.name);
    row.boolean("is_error", call.is_error);
    row.integer("duration_ms", call.duration_ms);
    row.close();
  }
  list += ']';
  tell(HookMoment::round, object, json);
}

void LoopHooks::loop_ended(const End& end) const {
  if (!is_wanted(HookMoment::loop_end)) return;
  std::string json;
  auto object = begin(json, "loop_end");
  object.string("end_reason", end.reason);
  object.integer("rounds", end.rounds);
  object.integer("calls", end.calls);
  tell(HookMoment::loop_end, object, json);
}

}  // namespace callgate::server
