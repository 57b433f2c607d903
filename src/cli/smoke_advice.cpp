#include "cli/smoke_advice.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>

#include "callgate/dialect.h"
#include "callgate/pipeline.h"
#include "chat/event_log.h"
#include "contract/smoke_request.h"
#include "dialect/models.h"
#include "dialect/render/render.h"
#include "replay/call_distance.h"

namespace callgate::cli {
namespace {

// As of autumn 2026: vllm/tool_parsers/__init__.py and sglang/srt/function_call/function_call_parser.py.
constexpr std::array<ServerParsers, 41> kParsers{{
    {"apertus", "apertus", "apertus2509"},
    {"cohere_command_r7b", "cohere_command3", ""},
    {"deepseek_v3", "deepseek_v3", "deepseekv3"},
    {"deepseek_v31", "deepseek_v31", "deepseekv31"},
    {"deepseek_v32", "deepseek_v32", "deepseekv32"},
    {"deepseek_v4", "deepseek_v4", "deepseekv4"},
    {"dots", "", "dots"},
    {"ernie45", "ernie45", ""},
    {"functiongemma", "functiongemma", ""},
    {"gemma4", "gemma4", "gemma4"},
    {"gigachat3", "gigachat3", "gigachat3"},
    {"glm45", "glm45", "glm45"},
    {"glm47", "glm47", "glm47"},
    {"granite", "granite", ""},
    {"granite20b_fc", "granite-20b-fc", ""},
    {"granite4", "granite4", ""},
    {"harmony", "openai", "gpt-oss"},
    {"hermes", "hermes", "hermes"},
    {"hunyuan", "hy_v3", "hunyuan"},
    {"hunyuan_a13b", "hunyuan_a13b", ""},
    {"inkling", "inkling", "inkling"},
    {"internlm2", "internlm", "interns1"},
    {"jamba", "jamba", ""},
    {"kimi_k2", "kimi_k2", "kimi_k2"},
    {"kimi_k3", "kimi_k3", "kimi_k3"},
    {"lfm2", "lfm2", "lfm2"},
    {"llama3_json", "llama3_json", "llama3"},
    {"longcat", "longcat", ""},
    {"minicpm5", "minicpm5", "minicpm5"},
    {"minimax_m2", "minimax_m2", "minimax-m2"},
    {"minimax_m3", "minimax_m3", "minimax-m3"},
    {"mistral_old", "mistral", "mistral"},
    {"mistral_v13", "mistral", "mistral"},
    {"muse_glimmer", "", "muse"},
    {"olmo3", "olmo3", ""},
    {"phi4_mini", "phi4_mini_json", ""},
    {"pythonic", "pythonic", "pythonic"},
    {"qwen3_coder", "qwen3_coder", "qwen3_coder"},
    {"seed_oss", "seed_oss", ""},
    {"step3", "step3", "step3"},
    {"xlam", "xlam", ""},
}};

ServerParsers parsers_of(std::string_view dialect) {
  const auto at = std::find_if(kParsers.begin(), kParsers.end(),
                               [&](const ServerParsers& row) { return row.dialect == dialect; });
  return at == kParsers.end() ? ServerParsers{dialect, "", ""} : *at;
}

// What the answer says, nothing of it read as calls.
EventLog said_by(std::string_view bytes, std::string_view model, std::string_view wire) {
  EventLog said;
  const Request request{.model = std::string(model), .stream = true};
  Result<Pipeline> pipeline = Pipeline::make(request, {.wire = std::string(wire), .sink = &said});
  if (!pipeline) return said;
  std::string nothing;
  pipeline->push(bytes, nothing);
  pipeline->finish(nothing);
  return said;
}

EventLog read_as(const Dialect& dialect, const EventLog& said) {
  EventLog read;
  const auto parser =
      dialect.make({.tools = {&contract::smoke_tool(), 1}, .commit = dialect.commit});
  for (const LoggedEvent& event : said.events()) {
    if (event.kind == LoggedEvent::Kind::text) parser->push(event.text, Channel::text, read);
    if (event.kind == LoggedEvent::Kind::reasoning) {
      parser->push(event.text, Channel::reasoning, read);
    }
  }
  parser->finish(read);
  return read;
}

// How well a dialect explains an answer; the smallest is the best.
using Rank = std::tuple<int, bool, std::size_t, std::size_t, std::string_view>;

std::string joined(const std::vector<std::string_view>& names, std::size_t from) {
  std::string text;
  for (std::size_t i = from; i < names.size(); ++i) {
    if (i > from) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

std::string flags_of(const ServerParsers& parsers) {
  std::string text;
  if (!parsers.vllm.empty()) {
    text.append("start vLLM with `--enable-auto-tool-choice --tool-call-parser ")
        .append(parsers.vllm)
        .append("`, ");
  }
  if (!parsers.sglang.empty()) {
    text.append(text.empty() ? "start SGLang" : "or SGLang")
        .append(" with `--tool-call-parser ")
        .append(parsers.sglang)
        .append("`, ");
  }
  return text.empty() ? text : text + "or ";
}

}  // namespace

std::span<const ServerParsers> server_parsers() { return kParsers; }

std::vector<std::string_view> recognise_calls(std::string_view bytes, std::string_view model,
                                              std::string_view wire) {
  const EventLog said = said_by(bytes, model, wire);
  const std::string text = said.text() + said.reasoning();
  const Dialect* expected = dialect::default_for(model);
  std::vector<Rank> ranks;
  for (const Dialect* dialect : dialect::all()) {
    if (!dialect::writes_calls_as_text(dialect->name)) continue;
    const EventLog read = read_as(*dialect, said);
    const std::vector<LoggedCall> calls = read.calls();
    const auto call = std::find_if(calls.begin(), calls.end(), [](const LoggedCall& made) {
      return made.name == contract::smoke_tool().name && made.outcome == CallOutcome::complete;
    });
    if (call == calls.end()) continue;
    // What was written counts more than the model's name: another server's parser reads nothing but its own format. Of
    // dialects that read the same, the one that more families of models write is the likelier.
    ranks.emplace_back(replay::distance(*dialect, *call, text), dialect != expected,
                       read.text().size(), SIZE_MAX - dialect->models.size(), dialect->name);
  }
  std::sort(ranks.begin(), ranks.end());
  std::vector<std::string_view> names;
  for (const Rank& rank : ranks) names.push_back(std::get<std::string_view>(rank));
  return names;
}

std::string advice_on_text(const std::vector<std::string_view>& dialects) {
  if (dialects.empty()) return {};
  const std::string name(dialects.front());
  std::string text = "this is " + name + ": " + flags_of(parsers_of(name)) +
                     "put Callgate in front, with `dialect = \"" + name +
                     "\"`; docs/recipes.md has the rest";
  if (dialects.size() > 1) {
    text += ". It can also be read as " + joined(dialects, 1);
  }
  return text;
}

std::string advice_on_refusal(int status, std::string_view body, std::string_view model) {
  if (status != 400) return {};
  const auto says = [&](std::string_view words) {
    return body.find(words) != std::string_view::npos;
  };
  if (says("--enable-auto-tool-choice") || says("--tool-call-parser")) {
    const Dialect* dialect = dialect::default_for(model);
    const std::string_view parser = dialect == nullptr ? "" : parsers_of(dialect->name).vllm;
    return "This is vLLM without a parser for tool calls. Start it with `--enable-auto-tool-choice "
           "--tool-call-parser " +
           std::string(parser.empty() ? "NAME" : parser) +
           "`, or put Callgate in front, with `tools = \"text\"`; docs/recipes.md has the rest.";
  }
  if (says("does not support tools")) {
    return "This is Ollama, and the template of the model has no place for tools. Put Callgate in "
           "front, with `tools = \"prompt\"`; docs/recipes.md has the rest.";
  }
  return {};
}

}  // namespace callgate::cli
