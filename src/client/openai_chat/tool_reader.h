// The `tools` of a request as Chat Completions and Ollama write them:
//
//   [{"type":"function","function":{"name":"find","description":"Finds tea.","parameters":{"type":"object"}}}]
#pragma once

#include <cstddef>
#include <vector>

#include "callgate/request.h"
#include "chat/field_reader.h"

namespace callgate::client {

inline constexpr std::size_t kMaxTools = 4096;

class ToolReader : public FieldReader {
 public:
  using FieldReader::FieldReader;

  // An array of tools. Those that are not functions go to `others` as they are.
  bool read(std::vector<ToolSpec>& tools, std::vector<RawJson>& others);
  // One function. REQUIRES: an object comes next.
  bool read_function(const FieldPath& path, ToolSpec& tool);
  bool check_tool(const FieldPath& path, const ToolSpec& tool);

 private:
  bool read_tool(std::size_t index, std::vector<ToolSpec>& tools, std::vector<RawJson>& others);
};

}  // namespace callgate::client
