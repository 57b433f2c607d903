// The `messages` of a Chat Completions request -> Messages. Linear in the size of the text.
//
//   [{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"id":"tc1","type":"function","function":{...}}]}]
//
// The old form is read as well: `function_call` becomes a call with an id of its own, and the role `function` its result.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "chat/field_reader.h"

namespace callgate {

class MessageReader : public FieldReader {
 public:
  // REQUIRES: what comes next in `in` is well-formed JSON.
  using FieldReader::FieldReader;

  // Replaces `messages`. False: see take_error().
  bool read(std::vector<Message>& messages);

 private:
  bool read_message(std::size_t index, Message& message);
  bool read_role(const FieldPath& path, Message& message);
  bool read_content(const FieldPath& path, Message& message);
  bool read_calls(std::size_t index, Message& message);
  bool read_call(const FieldPath& path, CallRecord& call, bool& is_function);
  bool read_call_function(const FieldPath& path, CallRecord& call);
  bool read_function_call(const FieldPath& path, Message& message);
  bool check_message(const FieldPath& path, Message& message);
  void link_function_result(Message& message);

  bool role_given_ = false;        // of the message being read
  bool role_is_function_ = false;  // likewise
  std::size_t legacy_calls_ = 0;
  std::vector<std::pair<std::string, std::string>> legacy_ids_;  // function name, id
};

}  // namespace callgate
