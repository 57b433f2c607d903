// One JSON document of a Responses answer, an event of a stream or a whole response, read into plain fields whatever the
// order of its members. What the fields mean is the decoder's to say.
//
//   {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Hi"}
//   {"type":"response.output_item.done","sequence_number":9,"output_index":1,"item":{"type":"function_call","id":"fc_1",
//    "call_id":"call_1","name":"find","arguments":"{\"q\":1}","status":"completed"}}
//   {"type":"response.completed","sequence_number":10,"response":{"id":"resp_1","status":"completed","output":[...],"usage":{...}}}
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "callgate/event.h"
#include "upstream/frame_reader.h"

namespace callgate::upstream {

// A part of a message, of a summary, or of reasoning.
struct ResponsesPart {
  Text type;
  Text text;
  Text refusal;
  std::string_view json;         // all of it, empty when it is a text alone
  std::string_view logprobs;     // a JSON array, empty when there are none
  std::string_view annotations;  // likewise

  void clear();
};

struct ResponsesItem {
  std::string_view json;  // all of it
  Text type;
  Text id;
  Text call_id;
  Text name;
  Text space;  // the namespace of the tool that a call names
  Text status;
  Text arguments;  // JSON; of a string its content
  bool arguments_object = false;
  bool arguments_renamed = false;  // they came under another name
  Text input;  // of a custom call; of other calls some servers name their arguments so
  bool input_object = false;
  Text encrypted;  // of reasoning
  ReusedList<ResponsesPart> content;
  ReusedList<ResponsesPart> summary;

  void clear();
};

struct ResponsesBody {
  Text status;
  Text incomplete;  // why it is
  ReusedList<ResponsesItem> output;
  bool has_output = false;
  std::optional<Usage> usage;
  std::string_view usage_json;
  std::string_view json;          // the object itself
  std::string_view service_tier;  // JSON, empty when null
  std::string_view error;         // likewise

  void clear();
};

struct ResponsesFrame {
  Text type;
  std::optional<std::int64_t> sequence;
  std::optional<std::int64_t> output_index;
  std::optional<std::int64_t> part_index;  // content_index or summary_index
  Text item_id;
  Text name;  // of a call
  Text delta;
  bool delta_object = false;  // it came as a JSON value instead of a string
  Text said;                  // the texts in that value
  Text whole;  // text, refusal, arguments or input of an event that says it all once more
  bool whole_object = false;
  std::string_view logprobs;
  std::string_view annotation;  // JSON, empty when there is none
  std::string_view part;        // likewise
  KeptMembers others;           // of the event
  ResponsesItem item;
  bool has_item = false;
  ResponsesBody response;  // `response`, or the document itself

  void clear();
};

class ResponsesFrameReader final : public FrameReader<ResponsesFrame> {
 private:
  void read_member(std::string_view key) override;
  bool read_body_member(std::string_view key);
  void read_item(ResponsesItem& item);
  void read_parts(ReusedList<ResponsesPart>& parts);
  void read_part(ResponsesPart& part);
  void read_incomplete();
  void read_delta();
  void read_arguments(Text& arguments, bool& object);
  std::string_view object_from(std::size_t from) const;
  std::string_view read_given();
  std::string_view read_list();
};

}  // namespace callgate::upstream
