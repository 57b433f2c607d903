#include "upstream/anthropic_tool.h"

#include "json/writer.h"
#include "upstream/anthropic_block.h"

namespace callgate::upstream {
namespace {

// The API wants the type of the schema said.
void append_schema(std::string& out, std::string_view schema) {
  if (schema.empty()) {
    out.append(R"({"type":"object","properties":{}})");
  } else if (!member_of(schema, "type").empty() || !schema.starts_with('{')) {
    out.append(schema);
  } else {
    const bool empty = is_blank(schema.substr(1, schema.size() - 2));
    out.append(R"({"type":"object")").append(empty ? "" : ",").append(schema.substr(1));
  }
}

}  // namespace

void append_anthropic_tool(std::string& out, const ToolSpec& tool) {
  json::ObjectWriter object(out);
  object.string("name", tool.name);
  if (!tool.description.empty()) object.string("description", tool.description);
  append_schema(object.key("input_schema"), tool.parameters.text);
  if (raw_field(tool.extra, "strict") == "true") object.boolean("strict", true);
  for (const std::string_view name :
       {"cache_control", "defer_loading", "eager_input_streaming", "input_examples"}) {
    std::string_view json = raw_field(tool.outer_extra, name);
    if (json.empty()) json = raw_field(tool.extra, name);
    if (!json.empty()) object.raw(name, json);
  }
  object.close();
}

}  // namespace callgate::upstream
