#include "contract/smoke_request.h"

#include "base/url_query.h"
#include "json/writer.h"

namespace callgate::contract {
namespace {

constexpr std::string_view kMarkers[] = {
    "<tool_call>",
    "<tool_calls>",
    "</tool_call>",
    "<function_calls>",
    "<function_call>",
    "<function=",
    "<function name=",
    "<invoke",
    "<|tool_call",
    "<|tool▁call",
    "<｜tool▁call",
    "<｜tool_call",
    "<|function_call|>",
    "<|python_tag|>",
    "<|python_start|>",
    "<|action_start|>",
    "<|START_ACTION|>",
    "<|tools_prefix|>",
    "<|channel|>",
    "<|open|>",
    "<|content_invoke_tool_",
    "<|recipient|>",
    "<｜DSML｜",
    "<|DSML|",
    "<TOOLCALL>",
    "[TOOL_CALLS]",
    "functools[",
    "function call<|role_sep|>",
    "<longcat_tool_call>",
    "<dots_function_call>",
    "<seed:tool_call>",
    "<minimax:tool_call>",
    "<atem:invoke",
    "]<]minimax[>[",
    "<steptml:invoke",
    "<start_function_call>",
    "<use_tool",
    // Calls without markers of their own, of the tool that was asked for.
    ">>>get_weather",
    "<get_weather>",
    "\"name\": \"get_weather\"",
    "\"name\":\"get_weather\"",
    "'name': 'get_weather'",
    "[get_weather(",
};

}  // namespace

std::span<const std::string_view> smoke_markers() { return kMarkers; }

const ToolSpec& smoke_tool() {
  static const ToolSpec tool{
      .name = "get_weather",
      .description = "The current weather of a city.",
      .parameters = {
          R"({"type":"object","properties":{"city":{"type":"string","description":"The name of the city."}},"required":["city"],"additionalProperties":false})"}};
  return tool;
}

ContractTerms smoke_terms(const SmokeQuestion& question) {
  return {.tools = {&smoke_tool(), 1},
          .include_usage = question.include_usage,
          .call_expected = true,
          .forced_tool = question.force_tool ? smoke_tool().name : std::string_view(),
          .markers = smoke_markers()};
}

std::string_view smoke_wire(const SmokeQuestion& question) {
  if (question.protocol == "responses") return "openai_responses";
  if (question.protocol == "messages") return "anthropic_messages";
  if (question.protocol == "gemini") return "gemini";
  if (question.protocol == "ollama") return "ollama";
  return "openai_chat";
}

std::string smoke_path(const SmokeQuestion& question) {
  if (question.protocol == "ollama") return "/api/chat";
  if (question.protocol == "gemini") {
    return "/models/" + percent_encoded(question.model) + ":streamGenerateContent?alt=sse";
  }
  if (question.protocol == "responses") return "/responses";
  if (question.protocol == "messages") return "/messages";
  return "/chat/completions";
}

static void append_smoke_function(std::string& out, std::string_view schema_name) {
  const ToolSpec& tool = smoke_tool();
  json::ObjectWriter function(out);
  function.string("name", tool.name);
  function.string("description", tool.description);
  function.raw(schema_name, tool.parameters.text);
  function.close();
}

static std::string gemini_smoke_request(const SmokeQuestion& question) {
  std::string out;
  json::ObjectWriter body(out);
  body.raw("contents",
           R"([{"role":"user","parts":[{"text":"What is the weather in Paris? Use the tool."}]}])");
  body.key("tools") += R"([{"functionDeclarations":[)";
  append_smoke_function(out, "parametersJsonSchema");
  out += "]}]";
  if (question.force_tool) {
    body.raw("toolConfig",
             R"({"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["get_weather"]}})");
  }
  if (!question.temperature.empty()) {
    body.raw("generationConfig", R"({"temperature":)" + question.temperature + "}");
  }
  body.close();
  return out;
}

static std::string ollama_smoke_request(const SmokeQuestion& question) {
  std::string out;
  json::ObjectWriter body(out);
  body.string("model", question.model);
  body.raw("messages",
           R"([{"role":"user","content":"What is the weather in Paris? Use the tool."}])");
  body.key("tools") += R"([{"type":"function","function":)";
  append_smoke_function(out, "parameters");
  out += "}]";
  if (!question.temperature.empty()) {
    body.raw("options", R"({"temperature":)" + question.temperature + "}");
  }
  body.close();
  return out;
}

static std::string responses_smoke_request(const SmokeQuestion& question) {
  const ToolSpec& tool = smoke_tool();
  std::string out;
  json::ObjectWriter body(out);
  body.string("model", question.model);
  body.boolean("stream", true);
  body.boolean("store", false);
  if (!question.temperature.empty()) body.raw("temperature", question.temperature);
  body.string("input", "What is the weather in Paris? Use the tool.");
  body.key("tools") += "[";
  json::ObjectWriter function(out);
  function.string("type", "function");
  function.string("name", tool.name);
  function.string("description", tool.description);
  function.raw("parameters", tool.parameters.text);
  function.boolean("strict", false);
  function.close();
  out += "]";
  body.raw("tool_choice",
           question.force_tool ? R"({"type":"function","name":"get_weather"})" : R"("auto")");
  body.close();
  return out;
}

static std::string messages_smoke_request(const SmokeQuestion& question) {
  std::string out;
  json::ObjectWriter body(out);
  body.string("model", question.model);
  body.integer("max_tokens", 4096);
  body.boolean("stream", true);
  if (!question.temperature.empty()) body.raw("temperature", question.temperature);
  body.raw("messages",
           R"([{"role":"user","content":"What is the weather in Paris? Use the tool."}])");
  body.key("tools") += "[";
  append_smoke_function(out, "input_schema");
  out += "]";
  body.raw("tool_choice",
           question.force_tool ? R"({"type":"tool","name":"get_weather"})" : R"({"type":"auto"})");
  body.close();
  return out;
}

std::string smoke_request(const SmokeQuestion& question) {
  if (question.protocol == "responses") return responses_smoke_request(question);
  if (question.protocol == "messages") return messages_smoke_request(question);
  if (question.protocol == "gemini") return gemini_smoke_request(question);
  if (question.protocol == "ollama") return ollama_smoke_request(question);
  std::string out;
  json::ObjectWriter body(out);
  body.string("model", question.model);
  body.boolean("stream", true);
  if (question.include_usage) body.raw("stream_options", R"({"include_usage":true})");
  if (!question.temperature.empty()) body.raw("temperature", question.temperature);
  body.raw("messages",
           R"([{"role":"user","content":"What is the weather in Paris? Use the tool."}])");
  body.key("tools") += R"([{"type":"function","function":)";
  append_smoke_function(out, "parameters");
  out += "}]";
  body.raw("tool_choice", question.force_tool
                              ? R"({"type":"function","function":{"name":"get_weather"}})"
                              : R"("auto")");
  body.close();
  return out;
}

}  // namespace callgate::contract
