#include "dialect/render/tool_prompt.h"

#include <algorithm>
#include <array>

#include "dialect/render/render.h"
#include "dialect/tool_schema.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::dialect {
namespace {

// What models of a dialect were taught to read. Most know a list of JSON objects.
enum class PromptStyle : std::uint8_t { json, tags, lines, typescript };

PromptStyle prompt_style(std::string_view dialect) {
  struct Row {
    std::string_view dialect;
    PromptStyle style;
  };
  static constexpr std::array<Row, 9> kRows = {{
      {"anthropic_xml", PromptStyle::lines},
      {"generic_xml", PromptStyle::lines},
      {"harmony", PromptStyle::typescript},
      {"kimi_k2", PromptStyle::typescript},
      {"kimi_k3", PromptStyle::typescript},
      {"qwen3_coder", PromptStyle::tags},
      {"seed_oss", PromptStyle::tags},
      {"step3", PromptStyle::lines},
      {"use_tool", PromptStyle::lines},
  }};
  for (const Row& row : kRows) {
    if (row.dialect == dialect) return row.style;
  }
  return PromptStyle::json;
}

std::string_view parameters_text(const ToolSpec& tool) {
  return tool.parameters.empty() ? R"({"type": "object", "properties": {}})"
                                 : std::string_view(tool.parameters.text);
}

void append_json(const ToolSpec& tool, std::string& out) {
  out += "{\"type\": \"function\", \"function\": {\"name\": ";
  json::append_string(out, tool.name);
  if (!tool.description.empty()) {
    out += ", \"description\": ";
    json::append_string(out, tool.description);
  }
  out.append(", \"parameters\": ").append(parameters_text(tool)).append("}}\n");
}

void append_prompt_element(std::string_view name, std::string_view text, std::string& out) {
  if (text.empty()) return;
  out.append("<").append(name).append(">").append(text);
  out.append("</").append(name).append(">\n");
}

void append_tags(const ToolSpec& tool, std::string& out) {
  out += "<function>\n";
  append_prompt_element("name", tool.name, out);
  append_prompt_element("description", tool.description, out);
  out += "<parameters>\n";
  std::string required;
  for (const Parameter& parameter : parameters_of(tool)) {
    out += "<parameter>\n";
    append_prompt_element("name", parameter.name, out);
    append_prompt_element("type", parameter.type, out);
    append_prompt_element("description", parameter.description, out);
    append_prompt_element("enum", parameter.values, out);
    append_prompt_element("default", parameter.standard, out);
    if (parameter.type.starts_with("object") || parameter.type.starts_with("array")) {
      append_prompt_element("schema", parameter.schema, out);
    }
    out += "</parameter>\n";
    if (!parameter.required) continue;
    required += required.empty() ? "[" : ", ";
    json::append_string(required, parameter.name);
  }
  if (!required.empty()) append_prompt_element("required", required + "]", out);
  out += "</parameters>\n</function>\n";
}

// - city (string, required, one of ["Paris"], default "Paris"): where
void append_lines(const ToolSpec& tool, std::string& out) {
  out.append("## ").append(tool.name).append("\n");
  if (!tool.description.empty()) out.append(tool.description).append("\n");
  const std::vector<Parameter> parameters = parameters_of(tool);
  out += parameters.empty() ? "It has no parameters.\n" : "Parameters:\n";
  for (const Parameter& parameter : parameters) {
    out.append("- ").append(parameter.name).append(" (");
    out.append(parameter.type.empty() ? "any value" : parameter.type);
    out.append(parameter.required ? ", required" : ", optional");
    if (!parameter.values.empty()) out.append(", one of ").append(parameter.values);
    if (!parameter.standard.empty()) out.append(", default ").append(parameter.standard);
    out += ")";
    if (!parameter.description.empty()) out.append(": ").append(parameter.description);
    const bool nested = parameter.type.starts_with("object") || parameter.type.starts_with("array");
    if (nested) out.append(" Schema: ").append(parameter.schema);
    out += "\n";
  }
}

// ["a", "b"] -> "a" | "b"
std::string union_of(std::string_view values) {
  std::string text;
  json::Reader in(values);
  while (in.next_element()) text.append(text.empty() ? "" : " | ").append(in.raw());
  return text;
}

std::string typescript_type(const Parameter& parameter) {
  if (!parameter.values.empty()) return union_of(parameter.values);
  std::string type = parameter.type.empty() ? "any" : parameter.type;
  for (std::size_t at = 0; (at = type.find(" or ", at)) != std::string::npos;) {
    type.replace(at, 4, " | ");
  }
  for (std::size_t at = 0; (at = type.find("integer", at)) != std::string::npos;) {
    type.replace(at, 7, "number");
  }
  if (type == "array") return "any[]";
  return type;
}

void append_comment(std::string_view indent, std::string_view text, std::string& out) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out.append(indent).append("// ").append(text.substr(0, end)).append("\n");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void append_typescript(const ToolSpec& tool, std::string& out) {
  append_comment("", tool.description, out);
  out.append("type ").append(tool.name).append(" = (_: {\n");
  for (const Parameter& parameter : parameters_of(tool)) {
    append_comment("  ", parameter.description, out);
    if (parameter.type.starts_with("object") || parameter.type.starts_with("array")) {
      append_comment("  ", parameter.schema, out);
    }
    if (!parameter.standard.empty()) append_comment("  ", "default: " + parameter.standard, out);
    out.append("  ").append(parameter.name).append(parameter.required ? ": " : "?: ");
    out.append(typescript_type(parameter)).append(",\n");
  }
  out += "}) => any;\n";
}

void append_definitions(PromptStyle style, std::span<const ToolSpec> tools, std::string& out) {
  switch (style) {
    case PromptStyle::json:
      out += "<tools>\n";
      for (const ToolSpec& tool : tools) append_json(tool, out);
      out += "</tools>\n";
      return;
    case PromptStyle::tags:
      out += "<tools>\n";
      for (const ToolSpec& tool : tools) append_tags(tool, out);
      out += "</tools>\n";
      return;
    case PromptStyle::lines:
      for (const ToolSpec& tool : tools) append_lines(tool, out);
      return;
    case PromptStyle::typescript:
      out += "namespace functions {\n";
      for (const ToolSpec& tool : tools) append_typescript(tool, out);
      out += "}\n";
      return;
  }
}

void append_rules(const ToolPromptOptions& options, std::string& out) {
  out += "- Use only the tools above, by their exact names, and give every required parameter.\n";
  out += options.parallel
             ? "- You may use several tools in one answer: write the calls one after the other.\n"
             : "- Use one tool per answer at most.\n";
  out += "- Write nothing after your calls. Their results come in the next message.\n";
  switch (options.choice.mode) {
    case ToolChoice::Mode::unset:
    case ToolChoice::Mode::automatic:
      out += "- When no tool is needed, answer in plain text.\n";
      return;
    case ToolChoice::Mode::none:
      return;
    case ToolChoice::Mode::required:
    case ToolChoice::Mode::named:
      out.append("- ").append(required_call_rule(options.choice)).append("\n");
      return;
  }
}

const ToolSpec& example_tool(std::span<const ToolSpec> tools, const ToolChoice& choice) {
  const auto named = std::find_if(tools.begin(), tools.end(), [&](const ToolSpec& tool) {
    return choice.mode == ToolChoice::Mode::named && tool.name == choice.name;
  });
  return named == tools.end() ? tools.front() : *named;
}

void append_result(PromptStyle style, const ToolResult& result, std::string& out) {
  const std::string_view text =
      result.text.empty() ? std::string_view("(the tool returned nothing)") : result.text;
  switch (style) {
    case PromptStyle::json: {
      out += "<tool_response>\n";
      json::ObjectWriter object(out);
      if (!result.name.empty()) object.string("name", result.name);
      object.string("tool_call_id", result.id);
      object.string("content", text);
      object.close();
      out += "\n</tool_response>";
      return;
    }
    case PromptStyle::tags:
    case PromptStyle::lines: {
      const std::string_view tag = style == PromptStyle::tags ? "tool_response" : "tool_result";
      out.append("<").append(tag);
      if (!result.name.empty()) out.append(" name=\"").append(result.name).append("\"");
      out.append(" id=\"").append(result.id).append("\">\n").append(text);
      out.append("\n</").append(tag).append(">");
      return;
    }
    case PromptStyle::typescript:
      out.append("## Return of ").append(result.id).append("\n").append(text);
      return;
  }
}

}  // namespace

std::string required_call_rule(const ToolChoice& choice) {
  switch (choice.mode) {
    case ToolChoice::Mode::unset:
    case ToolChoice::Mode::automatic:
    case ToolChoice::Mode::none:
      return {};
    case ToolChoice::Mode::required:
      return "You must use a tool in this answer.";
    case ToolChoice::Mode::named:
      return "You must use the tool " + choice.name + " in this answer.";
  }
  return {};
}

bool render_tool_prompt(std::string_view dialect, std::span<const ToolSpec> tools,
                        const ToolPromptOptions& options, std::string& out) {
  const ToolSpec& shown = example_tool(tools, options.choice);
  CallRecord call;
  call.id = "call_1";
  call.name = shown.name;
  call.arguments = sample_arguments(shown);
  std::string example;
  if (!render_calls(dialect, {&call, 1}, example)) return false;
  out += "# Tools\n\nYou can use these tools:\n\n";
  append_definitions(prompt_style(dialect), tools, out);
  out.append("\nTo use a tool, write this, with your own values:\n\n").append(example);
  out += "\n\nRules:\n";
  append_rules(options, out);
  return true;
}

void render_results(std::string_view dialect, std::span<const ToolResult> results,
                    std::string& out) {
  const PromptStyle style = prompt_style(dialect);
  bool first = true;
  for (const ToolResult& result : results) {
    if (!first) out += "\n";
    first = false;
    append_result(style, result, out);
  }
}

}  // namespace callgate::dialect
