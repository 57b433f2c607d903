// What the tests of the wire formats share: the field table in the code, in docs/upstreams.md, and in the facts.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/source_path_testing.h"
#include "upstream/request_parts.h"
#include "upstream/wire_format.h"

namespace callgate::upstream {

// Name by name, with a ! after those that change the meaning.
inline std::string print_dropped(const std::vector<DroppedField>& fields) {
  std::string text;
  for (const DroppedField& field : fields) {
    text += (text.empty() ? "" : " ") + field.name + (field.changes_meaning ? "!" : "");
  }
  return text;
}

inline std::string header_of(const UpstreamRequest& request, std::string_view name) {
  for (const auto& [key, value] : request.headers) {
    if (key == name) return value;
  }
  return "";
}

// A request that has this field, whatever its value.
inline Request request_with(std::string_view field) {
  Request request{.model = "m"};
  request.messages.push_back({.role = Role::user, .content = {"\"hi\""}});
  if (field == "n") {
    request.choices = 2;
  } else if (field == "parallel_tool_calls") {
    request.parallel_tool_calls = false;
  } else if (field == "tool_choice") {
    request.tool_choice.mode = ToolChoice::Mode::required;
  } else if (field == "other_tools") {
    request.other_tools.push_back({R"({"type":"web_search"})"});
  } else if (field == "tools") {
    request.tools.push_back({.name = "find"});
  } else {
    request.extra.push_back({std::string(field), {"7"}});
  }
  return request;
}

// The docs have the same table, and what it says is left out is reported.
inline void expect_fields(const WireFormat& format, std::span<const RequestField> fields) {
  std::ifstream docs(source_path("docs/upstreams.md"));
  std::vector<std::string> rows;
  bool inside = false;
  for (std::string line; std::getline(docs, line);) {
    if (line.starts_with("## ")) inside = std::string_view(line).substr(3) == format.name;
    if (inside && line.starts_with("| `")) rows.push_back(line);
  }
  std::vector<std::string> wanted;
  for (const RequestField& field : fields) {
    wanted.push_back("| `" + std::string(field.name) + "` | " + std::string(field.effect) + " |");
    const bool is_field = field.name.find(' ') == std::string_view::npos;
    if (field.carried || !is_field) continue;
    const auto made = format.encode(request_with(field.name), {});
    const bool named =
        made && std::any_of(made->dropped.begin(), made->dropped.end(),
                            [&](const auto& each) { return each.name == field.name; });
    EXPECT_TRUE(named) << field.name;
  }
  EXPECT_EQ(rows, wanted);
}

}  // namespace callgate::upstream
