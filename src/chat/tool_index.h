// Finds declared tools by name, in one step however many there are. The index is made at the first question, so that a turn
// without calls does not pay for it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <unordered_map>

#include "callgate/request.h"

namespace callgate {

class ToolIndex {
 public:
  ToolIndex() = default;
  // REQUIRES: `tools` outlive this.
  explicit ToolIndex(std::span<const ToolSpec> tools) : tools_(tools) {}

  std::span<const ToolSpec> tools() const { return tools_; }
  // The first tool of that name; nullptr: there is none.
  const ToolSpec* find(std::string_view name) const {
    if (tools_.size() <= kFew) {
      for (const ToolSpec& tool : tools_) {
        if (tool.name == name) return &tool;
      }
      return nullptr;
    }
    if (by_name_.empty()) {
      for (const ToolSpec& tool : tools_) by_name_.emplace(tool.name, &tool);
    }
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }

 private:
  static constexpr std::size_t kFew = 16;  // are looked through faster

  std::span<const ToolSpec> tools_;
  mutable std::unordered_map<std::string_view, const ToolSpec*> by_name_;
};

}  // namespace callgate
