// The events of `codex proto` and of app-server 0.44 to 0.94.
#include "json/member.h"
#include "json/writer.h"
#include "upstream/codex/codex_decoder.h"
#include "upstream/codex/codex_error.h"
#include "upstream/openai_chat/openai_usage.h"
#include "upstream/read_text.h"

namespace callgate::upstream {
namespace {

// The members of an event that matter, each as JSON. Reused: reading a delta allocates nothing.
struct EventBody {
  std::string type;
  std::string text;  // delta, message or text
  std::string_view info;
  std::string_view command;
  std::string_view invocation;
  std::string_view call_id;
  std::string_view exit_code;
  std::string_view success;
  std::string_view changes;
  std::string_view plan;
  std::string_view last_message;
};

void read_event_member(json::Reader& in, std::string_view key, EventBody& body) {
  const bool is_text = in.peek() == json::Kind::string;
  if (key == "type" && is_text) {
    body.type = in.string();
  } else if (key == "delta" && is_text) {
    body.text.clear();
    json::append_unescaped_halves(body.text, read_escaped(in));
  } else if ((key == "message" || key == "text") && is_text) {
    body.text = in.string();
  } else if (key == "info") {
    body.info = in.raw();
  } else if (key == "command") {
    body.command = in.raw();
  } else if (key == "invocation") {
    body.invocation = in.raw();
  } else if (key == "call_id") {
    body.call_id = in.raw();
  } else if (key == "exit_code") {
    body.exit_code = in.raw();
  } else if (key == "success") {
    body.success = in.raw();
  } else if (key == "changes") {
    body.changes = in.raw();
  } else if (key == "plan") {
    body.plan = in.raw();
  } else if (key == "last_agent_message") {
    body.last_message = in.raw();
  } else {
    in.skip();
  }
}

std::string event_text(std::string_view json) {
  json::Reader in(json);
  if (json.empty() || in.peek() != json::Kind::string) return {};
  return std::string(in.string());
}

// ["bash","-lc","cat x"] as a person reads it.
std::string command_in(std::string_view json) {
  std::string text;
  json::Reader in(json);
  if (json.empty() || in.peek() != json::Kind::array) return event_text(json);
  std::vector<std::string> words;
  while (in.next_element()) {
    if (in.peek() == json::Kind::string) {
      words.emplace_back(in.string());
    } else {
      in.skip();
    }
  }
  const bool is_shell = words.size() == 3 && words[1].starts_with("-") && words[1].ends_with("c");
  if (is_shell) return words[2];
  for (const std::string& word : words) text.append(text.empty() ? "" : " ").append(word);
  return text;
}

// The names of the files of {"/a/b.txt":{"add":{...}}}.
std::string files_in(std::string_view json) {
  std::string text;
  json::Reader in(json);
  if (json.empty() || in.peek() != json::Kind::object) return text;
  for (std::string_view key; in.next_member(key); in.skip()) {
    text.append(text.empty() ? "" : ", ").append(key);
  }
  return text;
}

void count_tokens(const EventBody& body, CodexTurn& turn, EventSink& sink) {
  const std::optional<Usage> total =
      read_stated_usage(json::member_json(body.info, "total_token_usage"));
  if (!total) return;  // rate limits alone
  const std::optional<Usage> last =
      read_stated_usage(json::member_json(body.info, "last_token_usage"));
  turn.total_usage(*total, last.value_or(Usage{}), sink);
  turn.settle();
}

// True when the event is about a tool that codex runs.
bool apply_tool(const EventBody& body, CodexTurn& turn, EventSink& sink) {
  const std::string id = event_text(body.call_id);
  OwnTool tool{.id = id};
  if (body.type == "exec_command_begin") {
    tool.kind = "exec";
    tool.title = command_in(body.command);
  } else if (body.type == "patch_apply_begin") {
    tool.kind = "patch";
    tool.title = files_in(body.changes);
  } else if (body.type == "mcp_tool_call_begin") {
    tool.kind = "mcp";
    tool.title =
        any_member_text(body.invocation, "server") + "." + any_member_text(body.invocation, "tool");
  } else if (body.type == "plan_update") {
    tool.kind = "plan";
    json::Reader in(body.plan);
    if (body.plan.empty() || in.peek() != json::Kind::array) return true;
    while (in.next_element()) {
      const std::string_view step = in.raw();
      tool.title.append(tool.title.empty() ? "" : ", ").append(any_member_text(step, "step"));
    }
  } else {
    return false;
  }
  turn.own_tool(tool, sink);
  return true;
}

}  // namespace

void apply_codex_event(std::string_view msg, json::Reader& reader, CodexTurn& turn,
                       EventSink& sink) {
  EventBody body;
  reader.reset(msg);
  if (msg.empty() || reader.peek() != json::Kind::object) return;
  for (std::string_view key; reader.next_member(key);) read_event_member(reader, key, body);
  if (body.type == "agent_message_delta") {
    turn.say(body.text, sink);
  } else if (body.type == "agent_message") {
    turn.say_whole(body.text, sink);
  } else if (body.type == "agent_reasoning_delta" ||
             body.type == "agent_reasoning_raw_content_delta") {
    turn.think(body.text, sink);
  } else if (body.type == "agent_reasoning" || body.type == "agent_reasoning_raw_content") {
    turn.think_whole(body.text, sink);
  } else if (body.type == "token_count") {
    count_tokens(body, turn, sink);
  } else if (body.type == "stream_error") {
    turn.retry();
  } else if (body.type == "error") {
    turn.fail(decode_codex_error(msg));
  } else if (body.type == "turn_aborted") {
    turn.fail({.code = ErrorCode::upstream_failed, .message = "codex was interrupted"});
  } else if (body.type == "task_complete" || body.type == "turn_complete") {
    const std::string last = event_text(body.last_message);
    if (!turn.has_said() && !last.empty()) turn.say_whole(last, sink);
    turn.complete();
  } else {
    apply_tool(body, turn, sink);
  }
}

}  // namespace callgate::upstream
