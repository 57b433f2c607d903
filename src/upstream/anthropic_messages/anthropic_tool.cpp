#include "upstream/anthropic_messages/anthropic_tool.h"

#include "json/writer.h"
#include "upstream/anthropic_messages/anthropic_block.h"

namespace callgate::upstream {
void append_anthropic_tool(std::string& out, const ToolSpec& tool) {
  json::ObjectWriter object(out);
  object.string("name", tool.name);
  if (!tool.description.empty()) object.string("description", tool.description);
  append_object_schema(object.key("input_schema"), tool.parameters.text);
  if (find_field(tool.extra, "strict") == "true") object.boolean("strict", true);
  for (const std::string_view name :
       {"cache_control", "defer_loading", "eager_input_streaming", "input_examples"}) {
    std::string_view json = find_field(tool.outer_extra, name);
    if (json.empty()) json = find_field(tool.extra, name);
    if (!json.empty()) object.raw(name, json);
  }
  object.close();
}

}  // namespace callgate::upstream
