// What wire formats share when they write a canonical request: arguments and schemas as objects, the key, and the fields that
// a format leaves behind. chat/content.h looks into messages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/request.h"
#include "chat/content.h"
#include "upstream/wire_format.h"

namespace callgate::upstream {

// The schema of a tool's parameters, with its type said.
void append_object_schema(std::string& out, std::string_view schema);

// What happens to a field of a request; docs/upstreams.md has the same table.
struct RequestField {
  std::string_view name;
  bool carried = true;  // false: reported as dropped
  std::string_view effect;
};

// The top-level fields of a request that are not among those `carried`, but for values that ask for nothing. `n`, `tool_choice`, `parallel_tool_calls`
// and `other_tools` go by these names.
std::vector<DroppedField> fields_left_behind(const Request& request,
                                             std::span<const std::string_view> carried);
std::vector<DroppedField> fields_left_behind(const Request& request,
                                             std::span<const RequestField> fields);

// The header that carries the key, if there is one: `own` is the wire format's way, bearer or the name of a header.
void add_key(UpstreamRequest& request, const EncodeOptions& options, std::string_view own);

}  // namespace callgate::upstream
