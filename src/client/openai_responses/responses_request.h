// A Responses request body -> Request. Reads the body once for its JSON and once for its meaning, so that the second pass meets
// no syntax fault. Linear in the size of the body.
//
//   {"model":"m","instructions":"Be brief.","input":"hi","stream":true,"tools":[{"type":"function","name":"find"}]}
//
// `null` for a field means that it is not given. Fields that have no place in a canonical request stay in its `body`: an upstream
// that speaks Responses gets them from there, for others they are reported.
#pragma once

#include <string_view>

#include "callgate/request.h"
#include "callgate/result.h"
#include "chat/field_reader.h"
#include "json/reader.h"

namespace callgate::client {

class ResponsesRequestReader : private FieldReader {
 public:
  // `in` reads `body`; both must outlive the reader.
  ResponsesRequestReader(std::string_view body, json::Reader& in) : FieldReader(in), body_(body) {}

  Result<Request> read();

 private:
  // Every function returns false after the first fault.
  bool read_body();
  bool read_field(std::string_view name, std::string_view value);
  bool read_switch(std::string_view name, std::string_view value, bool& into);
  bool read_whole_number(std::string_view name, std::string_view value);
  bool read_number(std::string_view name, std::string_view value, double most);
  bool read_logprobs(std::string_view value);
  bool read_metadata(std::string_view value);
  bool read_text(std::string_view value);
  bool read_format(std::string_view value);
  bool read_reasoning(std::string_view value);
  bool read_include(std::string_view value);
  bool read_conversation();
  void drop_idle_choice();
  void pass(std::string_view name, std::string_view value);
  void keep_to_itself(std::string_view name, bool changes_meaning);
  bool fault_of(const FieldPath& path, std::string_view value, std::string_view expected);

  std::string_view body_;
  Request request_;
  std::string_view instructions_;
  std::string_view input_;
  std::string_view tools_;
  std::string_view tool_choice_;
};

}  // namespace callgate::client
