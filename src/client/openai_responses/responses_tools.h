// The tools of a Responses request as functions, which every model knows, and which of them the model may call.
//
//   {"type":"function","name":"find","parameters":{...},"strict":true}
//   {"type":"custom","name":"apply_patch","format":{"type":"grammar","syntax":"lark","definition":"start: ..."}}
//   {"type":"namespace","name":"calendar","tools":[{"type":"function","name":"list",...}]}     -> calendar__list
//   {"type":"tool_search","execution":"client","parameters":{...}}
//
// Tools that the server itself would run are left to upstreams of the same format.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

#include "callgate/request.h"
#include "chat/field_reader.h"

namespace callgate::client {

inline constexpr std::string_view kToolSearch = "tool_search";

class ResponsesTools : public FieldReader {
 public:
  // Writes into `request`. REQUIRES: the references outlive the reader.
  ResponsesTools(json::Reader& in, Request& request) : FieldReader(in), request_(request) {}

  // The value of `tools`. False: see take_error(), here as below.
  bool read(std::string_view json);
  // Tools that a search found, an item of the input.
  bool add_found(std::string_view json, std::size_t item);
  // The value of `tool_choice`, after all tools.
  bool read_choice(std::string_view json);

  // What a tool of the client's is called upstream.
  std::string function_name(std::string_view space, std::string_view name) const;

 private:
  bool read_list(std::string_view json, const FieldPath& path);
  bool read_tool(std::string_view json, const FieldPath& path);
  bool read_function(std::string_view json, const FieldPath& path, std::string_view space);
  bool read_custom(std::string_view json, const FieldPath& path, std::string_view space);
  bool read_format(std::string_view format, const FieldPath& path);
  bool read_namespace(std::string_view json, const FieldPath& path);
  bool read_search(std::string_view json, const FieldPath& path);
  bool name_of_tool(std::string_view json, const FieldPath& path, std::string& name);
  void leave_to_others(const FieldPath& path) {
    request_.client.own_fields.push_back({path.text(), true});
  }
  void add(ToolSpec tool, ToolAlias alias);
  bool read_allowed(std::string_view json);
  std::string chosen_function(std::string_view choice) const;
  std::string unused_name(std::string name) const;

  static std::string alias_key(std::string_view space, std::string_view name) {
    return std::string(space) + '\n' + std::string(name);
  }

  Request& request_;
  std::size_t count_ = 0;
  std::size_t patterns_ = 0;
  std::unordered_map<std::string, std::string> functions_;  // namespace and name -> function
  std::unordered_map<std::string, std::size_t> used_;       // names of functions
};

}  // namespace callgate::client
