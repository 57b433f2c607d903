// What encoders of protocols share that write a call in one piece: its arguments are an object there, not a text that grows.
#pragma once

#include <string>
#include <string_view>

#include "callgate/event.h"
#include "chat/field_fold.h"
#include "json/writer.h"

namespace callgate::client {

// A call that is being heard.
struct OpenCall {
  CallIndex index = 0;
  std::string id;
  std::string name;
  std::string arguments;
  FieldFold fields;

  void start(const CallStarted& event) {
    index = event.call;
    id = event.native_id;
    name = event.name;
    arguments.clear();
    fields = {};
  }
};

// JSON from elsewhere, on one line: line breaks can only stand between its values.
void append_json_line(std::string& out, std::string_view json);
// The arguments as a JSON object on one line; what is not an object is {"raw":"..."}.
void append_arguments_line(std::string& out, std::string_view arguments);
// Every field as a member.
void append_fold(json::ObjectWriter& object, const FieldFold& fields);
// The members of an object, each with a comma before it, on one line.
std::string object_members(std::string_view json);
// The elements of an array, without its brackets; empty when it is not an array or has none.
std::string_view array_elements(std::string_view json);

}  // namespace callgate::client
