// Messages as they stand in a Chat Completions request, and back. This is the canonical form: upstreams of that format are sent
// it, and conversations are kept as it.
//
//   {"role":"assistant","content":null,"tool_calls":[{"id":"tc1","type":"function","function":{"name":"find",...}}]}
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/function_ref.h"
#include "callgate/request.h"
#include "callgate/result.h"
#include "json/writer.h"

namespace callgate {

// {"id":"tc1","type":"function","function":{"name":"find","arguments":"{}"}}, and what `add_fields` adds after it.
void append_call(std::string& out, std::string_view id, std::string_view name,
                 std::string_view arguments, FunctionRef<void(json::ObjectWriter&)> add_fields);
void append_message(std::string& out, const Message& message);
// The same with those of the message's extra fields that `keeps` wants.
void append_message(std::string& out, const Message& message,
                    FunctionRef<bool(std::string_view name)> keeps);
void append_extra(json::ObjectWriter& object, const std::vector<ExtraField>& extra);

std::string print_message(const Message& message);
// A JSON array.
std::string print_messages(const std::vector<Message>& messages);
// The reverse. The error names the member that is wrong, such as `messages[1].role`. Empty text is an empty array.
Result<std::vector<Message>> read_messages(std::string_view json);
// `[a,b]` of texts that are JSON.
std::string join_json(const std::vector<std::string>& values);

// Appends `[item,item]`; `append` writes one item to `out`.
template <class List, class Append>
void append_list(std::string& out, const List& list, Append append) {
  out.push_back('[');
  bool first = true;
  for (const auto& item : list) {
    if (!std::exchange(first, false)) out.push_back(',');
    append(item);
  }
  out.push_back(']');
}

}  // namespace callgate
