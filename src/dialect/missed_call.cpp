#include "dialect/missed_call.h"

#include <algorithm>
#include <string>
#include <vector>

#include "callgate/dialect.h"
#include "chat/event_log.h"
#include "dialect/auto_signs.h"
#include "dialect/code_context.h"
#include "dialect/family/call_object.h"

namespace callgate::dialect {
namespace {

constexpr std::size_t kMostDialects = 8;  // that read the text

// The dialects that an opener is a sign of, the likeliest first.
std::vector<std::string_view> dialects_of(const Sign& sign) {
  switch (sign.look) {
    case Sign::Look::tool_call:
      return {"hermes", "qwen3_coder", "glm45", "glm47"};
    case Sign::Look::tool_calls:
      return {"hunyuan", "jamba"};
    case Sign::Look::invokes:
      return {"anthropic_xml", "olmo3"};
    case Sign::Look::list:
      return {"xlam", "pythonic"};
    case Sign::Look::token_list:
      return {"solar_open", "sarashina"};
    case Sign::Look::none:
    case Sign::Look::tag:
      break;
  }
  return {sign.dialect};
}

bool is_bracket(const Sign& sign) { return sign.text.size() == 1; }

bool names_tool(std::string_view text, std::span<const ToolSpec> tools) {
  return std::any_of(tools.begin(), tools.end(), [&](const ToolSpec& tool) {
    return text.find(tool.name) != std::string_view::npos;
  });
}

bool reads_call(std::string_view name, std::string_view text, std::span<const ToolSpec> tools) {
  const Dialect& dialect = *find(name);
  EventLog log;
  const auto parser = dialect.make({.tools = tools, .commit = dialect.commit});
  parser->push(text, Channel::text, log);
  parser->finish(log);
  const std::vector<LoggedCall> calls = log.calls();
  return std::any_of(calls.begin(), calls.end(), [&](const LoggedCall& call) {
    return call.outcome == CallOutcome::complete && is_declared(tools, call.name);
  });
}

// Not in code, and at the start of a line unless it is a special token.
bool may_be_call(const Sign& sign, std::string_view before) {
  if (sign.kind != Sign::Kind::token && sign.kind != Sign::Kind::text) return false;
  CodeContext context;
  context.push(before);
  return !context.quoted() && (sign.kind == Sign::Kind::token || context.line_start());
}

}  // namespace

std::string_view find_missed_call(std::string_view text, std::span<const ToolSpec> tools) {
  std::vector<std::string_view> candidates;
  std::string_view likely;
  const auto look = [&](const Sign& sign) {
    const std::size_t at = text.find(sign.text);
    if (at == std::string_view::npos) return;
    for (const std::string_view name : dialects_of(sign)) {
      const bool known = std::find(candidates.begin(), candidates.end(), name) != candidates.end();
      if (!known && candidates.size() < kMostDialects) candidates.push_back(name);
    }
    if (likely.empty() && !is_bracket(sign) && may_be_call(sign, text.substr(0, at))) {
      likely = dialects_of(sign).front();
    }
  };
  if (text.find_first_of("<[{\xe2") == std::string_view::npos) return {};
  // An opener of one dialect says more than one that several share. Brackets stand everywhere: they come last, and only
  // in a text that names a tool.
  for (const bool shared : {false, true}) {
    for (const Sign& sign : auto_signs()) {
      if (!is_bracket(sign) && shared == (sign.look != Sign::Look::none)) look(sign);
    }
  }
  const bool named = names_tool(text, tools);
  for (const Sign& sign : auto_signs()) {
    if (is_bracket(sign) && named) look(sign);
  }
  if (named) {
    for (const std::string_view name : candidates) {
      if (reads_call(name, text, tools)) return name;
    }
  }
  return likely;
}

}  // namespace callgate::dialect
