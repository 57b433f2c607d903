// The notifications of `codex app-server`, its second protocol.
#include "json/member.h"
#include "upstream/codex/codex_decoder.h"
#include "upstream/codex/codex_error.h"
#include "upstream/openai_chat/openai_usage.h"
#include "upstream/read_text.h"

namespace callgate::upstream {
namespace {

// The member `delta`, without a copy where it has no escapes.
template <class Use>
void with_delta(CodexLine& line, json::Reader& in, Use use) {
  in.reset(line.params);
  if (line.params.empty() || in.peek() != json::Kind::object) return;
  for (std::string_view key; in.next_member(key);) {
    if (key == "delta" && in.peek() == json::Kind::string) {
      read_fragment(in, line.delta);
      use(line.delta.view());
    } else {
      in.skip();
    }
  }
}

std::string joined_texts(std::string_view array) {
  std::string text;
  json::Reader in(array);
  if (array.empty() || in.peek() != json::Kind::array) return text;
  while (in.next_element()) {
    if (in.peek() != json::Kind::string) {
      in.skip();
      continue;
    }
    if (!text.empty()) text += "\n\n";
    text += in.string();
  }
  return text;
}

std::string paths_in(std::string_view changes) {
  std::string text;
  json::Reader in(changes);
  if (changes.empty() || in.peek() != json::Kind::array) return text;
  while (in.next_element()) {
    const std::string_view change = in.raw();
    text.append(text.empty() ? "" : ", ").append(any_member_text(change, "path"));
  }
  return text;
}

void item_completed(std::string_view item, CodexTurn& turn, EventSink& sink) {
  const std::string type = any_member_text(item, "type");
  const std::string id = any_member_text(item, "id");
  const std::string status = any_member_text(item, "status");
  if (type == "agentMessage") {
    turn.say_whole(any_member_text(item, "text"), sink);
  } else if (type == "reasoning") {
    if (turn.in_thought()) return turn.end_thought();
    turn.think_whole(joined_texts(json::member_json(item, "summary")), sink);
  } else if (type == "commandExecution") {
    const std::string code = any_member_text(item, "exitCode");
    turn.own_tool({.kind = "exec",
                   .id = id,
                   .title = any_member_text(item, "command"),
                   .outcome = code.empty() ? status : "exit status " + code},
                  sink);
  } else if (type == "fileChange") {
    const std::string files = paths_in(json::member_json(item, "changes"));
    turn.own_tool({.kind = "patch", .id = id, .title = files, .outcome = status}, sink);
  } else if (type == "mcpToolCall") {
    const std::string name = any_member_text(item, "server") + "." + any_member_text(item, "tool");
    turn.own_tool({.kind = "mcp", .id = id, .title = name, .outcome = status}, sink);
  }
}

// The text of the arguments, or their JSON; some servers name them otherwise.
std::string arguments_in(std::string_view call) {
  std::string arguments;
  for (const std::string_view name :
       {"arguments", "parameters", "input", "args", "params", "kwargs"}) {
    if (arguments.empty()) arguments = any_member_text(call, name);
  }
  return arguments;
}

// An item of the model's response as the model wrote it, calls with their arguments' own text.
void raw_item(std::string_view item, CodexTurn& turn, EventSink& sink) {
  const std::string type = any_member_text(item, "type");
  if (type == "function_call") {
    const std::string name = any_member_text(item, "name");
    if (!turn.declares(name)) return;  // codex runs it itself
    turn.call(any_member_text(item, "call_id"), name, arguments_in(item), sink);
  } else if (type == "reasoning") {
    const std::string sealed = any_member_text(item, "encrypted_content");
    if (!sealed.empty()) turn.sealed_thought(any_member_text(item, "id"), sealed, sink);
  }
}

void plan_updated(std::string_view params, CodexTurn& turn, EventSink& sink) {
  OwnTool tool{.kind = "plan"};
  const std::string_view plan = json::member_json(params, "plan");
  json::Reader in(plan);
  if (plan.empty() || in.peek() != json::Kind::array) return;
  while (in.next_element()) {
    const std::string_view step = in.raw();
    tool.title.append(tool.title.empty() ? "" : ", ").append(any_member_text(step, "step"));
  }
  turn.own_tool(tool, sink);
}

void turn_completed(std::string_view params, CodexTurn& turn) {
  const std::string_view about = json::member_json(params, "turn");
  const std::string status = any_member_text(about, "status");
  if (status == "failed") return turn.fail(decode_codex_error(about));
  if (status == "interrupted") {
    return turn.fail({.code = ErrorCode::upstream_failed, .message = "codex was interrupted"});
  }
  turn.complete();
}

}  // namespace

void apply_codex_notification(CodexLine& line, json::Reader& reader, CodexTurn& turn,
                              EventSink& sink) {
  const std::string_view method = line.method;
  const std::string_view params = line.params;
  if (method == "item/agentMessage/delta") {
    with_delta(line, reader, [&](std::string_view text) { turn.say(text, sink); });
  } else if (method == "item/reasoning/summaryTextDelta" || method == "item/reasoning/textDelta") {
    with_delta(line, reader, [&](std::string_view text) { turn.think(text, sink); });
  } else if (method == "item/reasoning/summaryPartAdded") {
    turn.end_thought();
  } else if (method == "item/completed") {
    item_completed(json::member_json(params, "item"), turn, sink);
  } else if (method == "rawResponseItem/completed") {
    raw_item(json::member_json(params, "item"), turn, sink);
  } else if (method == "item/tool/call") {
    turn.call(any_member_text(params, "callId"), any_member_text(params, "tool"),
              arguments_in(params), sink);
  } else if (method == "rawResponse/completed") {
    const std::optional<Usage> usage = read_stated_usage(json::member_json(params, "usage"));
    if (usage) turn.add_usage(*usage, sink);
    turn.settle();
    if (turn.has_calls()) turn.complete();
  } else if (method == "thread/tokenUsage/updated") {
    const std::string_view usage = json::member_json(params, "tokenUsage");
    const std::optional<Usage> total = read_stated_usage(json::member_json(usage, "total"));
    const std::optional<Usage> last = read_stated_usage(json::member_json(usage, "last"));
    if (total) turn.total_usage(*total, last.value_or(Usage{}), sink);
    turn.settle();
  } else if (method == "turn/plan/updated") {
    plan_updated(params, turn, sink);
  } else if (method == "error") {
    if (json::member_json(params, "willRetry") == "true") return turn.retry();
    turn.fail(decode_codex_error(params));
  } else if (method == "turn/completed") {
    turn_completed(params, turn);
  }
}

}  // namespace callgate::upstream
