// Makes a schema of any draft one that our validator understands and that costs no more than it should.
#pragma once

#include "callgate/result.h"
#include "tool/schema_node.h"

namespace callgate::tool {

// Keywords that the validator gets under these names, and checks with our code.
inline constexpr const char* kPatternKey = "callgate:pattern";
inline constexpr const char* kMultipleKey = "callgate:multipleOf";

Result<void> rewrite_schema(SchemaNode& schema);

}  // namespace callgate::tool
