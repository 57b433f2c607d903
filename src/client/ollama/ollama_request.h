// A body of /api/chat or /api/generate -> Request.
//
//   {"model":"m","messages":[{"role":"user","content":"What is this?","images":["iVBORw0KGgo="]}],"options":{"num_predict":64},
//    "format":"json","think":true,"keep_alive":"5m"}
//
// `null` for a field means that it is not given. What callgate does not know rides along in `extra`: it reaches an upstream that
// speaks the same, and is reported as dropped by others.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/request.h"
#include "callgate/result.h"
#include "chat/field_reader.h"
#include "client/call_ids.h"
#include "json/reader.h"

namespace callgate::client {

class OllamaRequestReader : private FieldReader {
 public:
  // REQUIRES: `in` reads a body that check_body() accepts, and outlives the reader.
  OllamaRequestReader(json::Reader& in, bool generate) : FieldReader(in), generate_(generate) {}

  Result<Request> read();

 private:
  // What a message has before it is a Message.
  struct Draft {
    std::string role;
    std::string text;
    std::string tool_name;
    std::vector<std::string_view> images;  // JSON strings
  };

  // Every function returns false after the first fault.
  bool read_field(const std::string& name);
  bool read_generate_field(const std::string& name, bool& known);
  bool read_number(const FieldPath& path, std::string_view field, bool above_zero);
  bool read_options();
  bool read_option(const std::string& name, std::string& others);
  bool read_format();
  bool read_think();
  bool read_tools();
  bool check_whole();

  bool read_messages();
  bool read_message(std::size_t index);
  bool read_message_field(const FieldPath& path, const std::string& name, Draft& draft,
                          Message& message);
  bool read_images(FieldPath path, std::vector<std::string_view>& images);
  bool read_calls(FieldPath path, std::vector<CallRecord>& calls);
  bool read_call(const FieldPath& path, CallRecord& call);
  bool read_function(const FieldPath& path, CallRecord& call);
  bool end_message(const FieldPath& path, const Draft& draft, Message& message);

  const bool generate_;
  Request request_;
  CallIds ids_;
  bool has_model_ = false;
  bool has_messages_ = false;
  // Of /api/generate.
  std::string system_;
  std::string prompt_;
  std::vector<std::string_view> images_;
};

}  // namespace callgate::client
