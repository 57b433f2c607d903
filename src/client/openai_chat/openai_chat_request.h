// A Chat Completions request body -> Request. A body with a fault is read twice: a fault of its JSON is reported before one of
// its meaning. Linear in the size of the body.
//
//   {"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function",
//     "function":{"name":"find","parameters":{"type":"object"}}}]}
//
// `null` for a field means that it is not given. Fields that callgate does not know are passed on.
#pragma once

#include <string_view>
#include <vector>

#include "callgate/request.h"
#include "callgate/result.h"
#include "chat/field_reader.h"
#include "json/reader.h"

namespace callgate::client {

class OpenaiRequestReader : private FieldReader {
 public:
  // `in` reads `body`; both must outlive the reader.
  OpenaiRequestReader(std::string_view body, json::Reader& in) : FieldReader(in), body_(body) {}

  Result<Request> read();

 private:
  // Every function returns false after the first fault.
  bool read_body();
  bool read_field(const std::string& name);
  bool read_number(const std::string& name, double least, double most, bool whole);
  bool read_choices();
  bool read_stream_options();
  bool check_whole();

  bool read_messages();

  bool read_tools();
  bool read_functions();
  bool read_tool_choice(std::string_view field);
  bool read_named_choice(std::string_view field);
  bool check_tool_choice();

  std::string_view body_;
  Request request_;
  std::vector<ToolSpec> functions_;
  std::string_view choice_field_ = "tool_choice";
  std::string_view raw_choice_;  // a tool_choice that callgate only passes on
  bool has_model_ = false;
  bool has_messages_ = false;
  bool has_stream_options_ = false;
  bool has_functions_ = false;
};

}  // namespace callgate::client
