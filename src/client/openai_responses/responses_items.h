// The `input` of a Responses request -> Messages. An answer's items (reasoning, message, calls) become one assistant message again.
//
//   [{"role":"user","content":[{"type":"input_text","text":"Find tea"}]},
//    {"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"},
//    {"type":"function_call","call_id":"call_1","name":"find","arguments":"{\"q\":\"tea\"}"},
//    {"type":"function_call_output","call_id":"call_1","output":"3 results"}]
//
// Items of kinds that callgate does not know are kept as text if they have any, else skipped and reported.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "callgate/request.h"
#include "chat/field_reader.h"
#include "client/openai_responses/responses_tools.h"

namespace callgate::client {

class ResponsesItemReader : public FieldReader {
 public:
  // Appends to the messages of `request`. REQUIRES: what comes next in `in` is well-formed JSON, and the references outlive
  // the reader.
  ResponsesItemReader(json::Reader& in, Request& request, ResponsesTools& tools)
      : FieldReader(in), request_(request), tools_(tools) {}

  // A string or an array of items. False: see take_error().
  bool read();

 private:
  // The members of one item as JSON; empty: not given, or null.
  struct Item {
    std::string_view json, type, id, role, content, call_id, name, space, arguments, input, output,
        summary, encrypted, tools, text, author;
  };
  using Add = bool (ResponsesItemReader::*)(const Item& item);

  bool read_item();
  bool read_members(Item& item);
  bool add_message(const Item& item);
  bool add_function_call(const Item& item);
  bool add_custom_call(const Item& item);
  bool add_search_call(const Item& item);
  bool add_output(const Item& item);
  bool add_search_output(const Item& item);
  bool add_reasoning(const Item& item);
  bool add_compaction(const Item& item);
  bool add_trigger(const Item& item);
  bool add_agent_message(const Item& item);
  bool add_reference(const Item& item);
  bool skip_item(const Item& item);
  bool keep_unknown(const Item& item);
  static Add find_kind(std::string_view type);

  bool add_call(const Item& item, std::string arguments);
  bool read_content(std::string_view json, std::string_view member, RawJson& content);
  bool append_medium(bool image, std::string_view part, const FieldPath& path, std::string& list);
  bool append_part(std::string_view part, const FieldPath& path, std::string& list,
                   std::string& text, bool& plain);
  bool text_member(std::string_view json, std::string_view name, bool required, std::string& text);
  Message& answer();
  void add_detail(Message& message, std::string_view element);

  FieldPath here() const { return {"input", at_}; }

  Request& request_;
  ResponsesTools& tools_;
  std::size_t at_ = 0;
  std::size_t position_ = 0;  // of the next item in the open assistant message
};

}  // namespace callgate::client
