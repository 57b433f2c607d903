#include "replay/replay_golden.h"

#include "client/protocol.h"
#include "engine/golden_case.h"
#include "json/writer.h"

namespace callgate::replay {
namespace {

void append_function(std::string& out, const ToolSpec& tool) {
  json::ObjectWriter function(out);
  function.string("name", tool.name);
  if (!tool.parameters.empty()) function.raw("parameters", tool.parameters.text);
  function.close();
}

void append_tools(std::string& out, const Request& request) {
  out += '[';
  for (const ToolSpec& tool : request.tools) {
    if (out.back() != '[') out += ',';
    if (request.legacy_functions) {
      append_function(out, tool);
      continue;
    }
    json::ObjectWriter object(out);
    object.string("type", "function");
    append_function(object.key("function"), tool);
    object.close();
  }
  for (const RawJson& tool : request.other_tools) {
    if (out.back() != '[') out += ',';
    out += tool.text;
  }
  out += ']';
}

void append_tool_choice(json::ObjectWriter& object, const Request& request) {
  const std::string_view key = request.legacy_functions ? "function_call" : "tool_choice";
  switch (request.tool_choice.mode) {
    case ToolChoice::Mode::unset:
      return;
    case ToolChoice::Mode::automatic:
      return object.string(key, "auto");
    case ToolChoice::Mode::none:
      return object.string(key, "none");
    case ToolChoice::Mode::required:
      return object.string(key, "required");
    case ToolChoice::Mode::named: {
      json::ObjectWriter choice(object.key(key));
      if (request.legacy_functions) {
        choice.string("name", request.tool_choice.name);
      } else {
        choice.string("type", "function");
        json::ObjectWriter function(choice.key("function"));
        function.string("name", request.tool_choice.name);
        function.close();
      }
      choice.close();
    }
  }
}

std::string policy_of(const PipelineOptions& options) {
  std::string text;
  const auto add = [&](std::string_view name, std::string_view value) {
    text.append(name).append(" ").append(value).append("\n");
  };
  if (options.dialect != nullptr) add("dialect", options.dialect->name);
  if (options.dialect != nullptr && options.dialect_is_default) add("dialect_is_default", "true");
  if (options.commit) add("commit", *options.commit == Commit::eager ? "eager" : "whole_call");
  if (options.reasoning_open) add("reasoning_open", "true");
  server::for_each_policy(options.policy, [&](std::string_view name, std::string_view value) {
    PolicyOptions changed;
    if (set_policy(changed, name, value) && changed != PolicyOptions{}) add(name, value);
  });
  return text;
}

}  // namespace

std::string shape_of(const Request& request, bool stream) {
  std::string out;
  json::ObjectWriter object(out);
  object.string("model", request.model);
  if (request.choices != 1) object.integer("n", request.choices);
  object.boolean("stream", stream);
  if (stream && request.include_usage) object.raw("stream_options", R"({"include_usage":true})");
  object.raw("messages", R"([{"role":"user","content":"hi"}])");
  if (!request.tools.empty() || !request.other_tools.empty()) {
    append_tools(object.key(request.legacy_functions ? "functions" : "tools"), request);
  }
  append_tool_choice(object, request);
  // `functions` knows no parallel calls.
  if (request.parallel_tool_calls && !request.legacy_functions) {
    object.boolean("parallel_tool_calls", *request.parallel_tool_calls);
  }
  object.close();
  return out;
}

Result<std::vector<GoldenFile>> to_golden(const ReplayCase& input) {
  if (input.status < 200 || input.status >= 300) {
    return fail(ErrorCode::invalid_request,
                "the upstream gave no answer that a golden case could hold");
  }
  const std::string bytes = upstream_bytes(input);
  std::vector<GoldenFile> files{{is_whole_body(bytes) ? ".body" : ".sse", bytes}};
  const auto usual = client::find("openai_chat")->decode({.body = engine::usual_golden_request()});
  const std::string body = shape_of(input.request, true) + "\n";
  if (body != shape_of(*usual, true) + "\n") files.push_back({".request.json", body});
  const std::string policy = policy_of(input.options);
  if (!policy.empty()) files.push_back({".policy", policy});
  // The request is read back, so that the case is run with what its file says.
  auto request = client::find("openai_chat")->decode({.body = body});
  if (!request) return tl::unexpected(request.error());
  // What other protocols write follows from this one; tests compare.
  PipelineOptions options = engine::golden_options(input.options.wire, "openai_chat");
  options.dialect = input.options.dialect;
  options.dialect_is_default = input.options.dialect_is_default;
  options.commit = input.options.commit;
  options.reasoning_open = input.options.reasoning_open;
  options.policy = input.options.policy;
  for (const bool stream : {true, false}) {
    request->stream = stream;
    engine::GoldenAnswer answer = engine::run_golden(*request, options, bytes);
    files.push_back({stream ? ".openai_chat.sse" : ".openai_chat.json", std::move(answer.bytes)});
    if (stream) files.push_back({".summary", std::move(answer.summary)});
  }
  return files;
}

}  // namespace callgate::replay
