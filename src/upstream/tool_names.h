// The name of a call, whatever a server makes of it: in pieces, growing, or with something around it. What would be a guess is
// decided by the names of the declared tools.
//
//   get_wea, ther     get, get_weather     functions.get_weather     get_weather<|channel|>commentary
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/request.h"
#include "chat/tool_index.h"

namespace callgate::upstream {

class ToolNames {
 public:
  ToolNames() = default;
  // REQUIRES: `tools` outlive this. None: every name is possible.
  explicit ToolNames(std::span<const ToolSpec> tools) : tools_(tools), index_(tools) {}

  bool declares(std::string_view name) const;
  // The name without what stands around it, a view into `name`. A declared name stays as it is.
  std::string_view cleaned(std::string_view name) const;
  // The name that `name` and a later `piece` are together: one after the other, or the piece alone where it is the whole name
  // so far. Empty: they are the names of two calls. `same_call`: nothing but the name says that the piece may belong to
  // another call; `same_id`: its id says that it does not.
  std::string joined(std::string_view name, std::string_view piece, bool same_call,
                     bool same_id) const;

  // Until when a later piece can make the name longer.
  enum class Growth : std::uint8_t { over, until_arguments, until_their_end };
  Growth growth(std::string_view name) const;

 private:
  // A declared name, after `prefix`, begins with `name` and is longer.
  bool begins_longer(std::string_view name, std::string_view prefix) const;
  bool fits(std::string_view name) const;

  std::span<const ToolSpec> tools_;
  ToolIndex index_;
  mutable std::vector<std::string_view> sorted_;  // where there are many; made when it is needed
};

}  // namespace callgate::upstream
