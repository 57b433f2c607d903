// Several readers behind the same openers: the first byte that is not white space says which one reads the call.
//
//   [TOOL_CALLS] [{"name": "f", ...}]       '[' : marked_json
//   [TOOL_CALLS]f[ARGS]{...}                else: named_json
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "dialect/call_reader.h"
#include "dialect/turn_parser.h"

namespace callgate::dialect {

struct Alternative {
  std::string_view first;  // bytes that choose this reader; empty: any
  std::unique_ptr<CallReader> reader;
};

// The first alternative that fits is taken. An opener that ends with a bracket is its own first byte.
// REQUIRES: `prose` has static storage.
std::unique_ptr<CallReader> make_choice(const Prose& prose, std::vector<Alternative> alternatives);

}  // namespace callgate::dialect
