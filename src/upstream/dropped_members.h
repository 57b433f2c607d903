// Names of what an answer says and the client's protocol has no place for: `citations`, `groundingMetadata`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/reader.h"

namespace callgate::upstream {

class DroppedMembers {
 public:
  // A name that a header cannot carry, and one beyond the 32nd, is left out.
  void add(std::string_view name);
  // Skips the value, and adds the member's name unless the value is null or empty.
  void skip(json::Reader& in, std::string_view name);
  // `citations, server_tool_use`
  std::string print() const;

 private:
  bool has(std::string_view name) const;

  std::vector<std::string> names_;
};

}  // namespace callgate::upstream
