// Messages as they stand in a Chat request, and back: what a loop's memory is kept as.
//
//   {"role":"assistant","content":null,"tool_calls":[{"id":"tc1","type":"function","function":{"name":"find",...}}]}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "callgate/request.h"
#include "callgate/result.h"

namespace callgate::server {

std::string print_message(const Message& message);
// A JSON array.
std::string print_messages(const std::vector<Message>& messages);
Result<std::vector<Message>> read_messages(std::string_view json);
// `[a,b]` of texts that are JSON.
std::string join_json(const std::vector<std::string>& values);

}  // namespace callgate::server
