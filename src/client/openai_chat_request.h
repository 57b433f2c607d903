// A Chat Completions request body -> Request. Reads the body twice: once for its JSON, once for its meaning, so that
// the second pass meets no syntax fault. Linear in the size of the body.
//
//   {"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function",
//     "function":{"name":"find","parameters":{"type":"object"}}}]}
//
// `null` for a field means that it is not given. Fields that callgate does not know are passed on.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/request.h"
#include "callgate/result.h"
#include "json/reader.h"

namespace callgate::client {

// Where a field is: `messages[3].tool_calls[0].function.name`. Becomes text only for a fault.
struct FieldPath {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  std::string_view root;
  std::size_t index = kNone;
  std::string_view inner = {};
  std::size_t inner_index = kNone;
  std::string_view leaf = {};

  FieldPath with(std::string_view name) const;
  std::string text() const;
};

class OpenaiRequestReader {
 public:
  // `body` must outlive the reader.
  explicit OpenaiRequestReader(std::string_view body) : body_(body), in_(body) {}

  Result<Request> read();

 private:
  // Every function returns false after the first fault.
  bool read_body();
  bool read_field(const std::string& name);
  bool read_number(const std::string& name, double least, double most, bool whole);
  bool read_choices();
  bool read_stream_options();
  bool read_boolean(const FieldPath& path, bool& value);
  // A string; null leaves `value` as it is.
  bool read_string(const FieldPath& path, std::string& value);
  void keep(std::vector<ExtraField>& extra, std::string_view name);
  bool check_whole();

  bool read_messages();
  bool read_message(std::size_t index);
  bool read_role(const FieldPath& path, Message& message);
  bool read_content(const FieldPath& path, Message& message);
  bool read_calls(std::size_t index, Message& message);
  bool read_call(const FieldPath& path, CallRecord& call, bool& is_function);
  bool read_call_function(const FieldPath& path, CallRecord& call);
  bool read_function_call(const FieldPath& path, Message& message);
  bool check_message(const FieldPath& path, Message& message);
  void link_function_result(Message& message);

  bool read_tools();
  bool read_tool(std::size_t index);
  bool read_function(const FieldPath& path, ToolSpec& tool);
  bool check_tool(const FieldPath& path, const ToolSpec& tool);
  bool read_functions();
  bool read_tool_choice(std::string_view field);
  bool read_named_choice(std::string_view field);
  bool check_tool_choice();

  bool is_null();
  bool fault(const FieldPath& path, std::string_view found, std::string_view expected);
  bool fault_kind(const FieldPath& path, std::string_view expected);

  std::string_view body_;
  json::Reader in_;
  Request request_;
  std::vector<ToolSpec> functions_;
  std::string_view choice_field_ = "tool_choice";
  std::string_view raw_choice_;  // a tool_choice that callgate only passes on
  bool has_model_ = false;
  bool has_messages_ = false;
  bool has_stream_options_ = false;
  bool has_functions_ = false;
  bool role_given_ = false;        // of the message being read
  bool role_is_function_ = false;  // likewise
  std::size_t legacy_calls_ = 0;
  std::vector<std::pair<std::string, std::string>> legacy_ids_;  // function name, id
  Error error_;
};

}  // namespace callgate::client
