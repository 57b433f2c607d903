#include "upstream/openai_responses/responses_frame.h"

#include <algorithm>

#include "upstream/openai_chat/openai_usage.h"

namespace callgate::upstream {

void ResponsesPart::clear() {
  for (Text* each : {&type, &text, &refusal}) each->clear();
  json = {};
  logprobs = {};
  annotations = {};
}

void ResponsesItem::clear() {
  for (Text* each :
       {&type, &id, &call_id, &name, &space, &status, &arguments, &input, &encrypted}) {
    each->clear();
  }
  json = {};
  arguments_object = false;
  arguments_renamed = false;
  input_object = false;
  content.clear();
  summary.clear();
}

void ResponsesBody::clear() {
  status.clear();
  incomplete.clear();
  output.clear();
  has_output = false;
  usage.reset();
  usage_json = {};
  json = {};
  service_tier = {};
  error = {};
}

void ResponsesFrame::clear() {
  for (Text* each : {&type, &item_id, &name, &delta, &said, &whole}) each->clear();
  sequence.reset();
  output_index.reset();
  part_index.reset();
  delta_object = false;
  whole_object = false;
  logprobs = {};
  annotation = {};
  part = {};
  others.clear();
  item.clear();
  has_item = false;
  response.clear();
}

void ResponsesFrameReader::read_member(std::string_view key) {
  if (read_text_member(key, {{"type", &frame_.type},
                             {"item_id", &frame_.item_id},
                             {"name", &frame_.name},
                             {"text", &frame_.whole},
                             {"refusal", &frame_.whole},
                             {"input", &frame_.whole}})) {
    return;
  }
  if (key == "delta") {
    read_delta();
  } else if (key == "output_index") {
    frame_.output_index = read_count(in_);
  } else if (key == "content_index" || key == "summary_index") {
    frame_.part_index = read_count(in_);
  } else if (key == "sequence_number") {
    frame_.sequence = read_count(in_);
  } else if (key == "logprobs") {
    frame_.logprobs = read_list();
  } else if (key == "arguments") {
    read_arguments(frame_.whole, frame_.whole_object);
  } else if (key == "item") {
    frame_.has_item = in_.peek() == json::Kind::object;
    if (enter_object(in_)) read_item(frame_.item);
  } else if (key == "annotation") {
    frame_.annotation = read_given();
  } else if (key == "part") {
    frame_.part = read_given();
  } else if (key == "annotation_index" || key == "obfuscation") {
    in_.skip();  // callgate counts itself, and its frames have lengths of their own
  } else if (key == "response" && in_.peek() == json::Kind::object) {
    const std::size_t from = in_.offset();
    each_member([&](std::string_view inner) {
      if (!read_body_member(inner)) in_.skip();
    });
    frame_.response.json = object_from(from);
  } else if (!read_body_member(key)) {
    read_other(frame_.others, key, true);
  }
}

// True: the member was one of a response, and is read.
bool ResponsesFrameReader::read_body_member(std::string_view key) {
  ResponsesBody& body = frame_.response;
  if (key == "status") {
    read_text(body.status);
  } else if (key == "output" && in_.peek() == json::Kind::object) {
    body.has_output = true;
    body.output.clear();
    read_item(body.output.add());
  } else if (key == "output" && in_.peek() == json::Kind::array) {
    body.has_output = true;
    body.output.clear();
    while (in_.next_element()) {
      if (enter_object(in_)) read_item(body.output.add());
    }
  } else if (key == "usage") {
    body.usage_json = in_.raw();
    if (const auto usage = read_stated_usage(body.usage_json)) body.usage = usage;
  } else if (key == "incomplete_details") {
    read_incomplete();
  } else if (key == "service_tier") {
    body.service_tier = read_given();
  } else if (key == "error") {
    body.error = read_given();
  } else {
    return false;
  }
  return true;
}

void ResponsesFrameReader::read_item(ResponsesItem& item) {
  item.clear();
  const std::size_t from = in_.offset();
  each_member([&](std::string_view key) {
    const bool is_text = read_text_member(key, {{"type", &item.type},
                                                {"id", &item.id},
                                                {"call_id", &item.call_id},
                                                {"name", &item.name},
                                                {"namespace", &item.space},
                                                {"status", &item.status},
                                                {"encrypted_content", &item.encrypted}});
    if (is_text) return;
    if (key == "input") return read_arguments(item.input, item.input_object);
    if (key == "content") return read_parts(item.content);
    if (key == "summary") return read_parts(item.summary);
    if (!is_arguments_key(key)) return in_.skip();
    item.arguments_renamed = key != "arguments";
    read_arguments(item.arguments, item.arguments_object);
  });
  item.json = object_from(from);
  const std::string_view type = item.type.view();
  const bool known = type == "message" || type == "function_call" || type == "custom_tool_call" ||
                     type == "reasoning";
  if (!known) dropped_.add(type);
}

// The object that was read, which began after `from`.
std::string_view ResponsesFrameReader::object_from(std::size_t from) const {
  const std::size_t begin = std::min(document().find('{', from), document().size());
  return in_.offset() > begin ? document().substr(begin, in_.offset() - begin) : std::string_view();
}

void ResponsesFrameReader::read_parts(ReusedList<ResponsesPart>& parts) {
  parts.clear();
  switch (in_.peek()) {
    case json::Kind::object:
    case json::Kind::string:
      return read_part(parts.add());
    case json::Kind::array:
      while (in_.next_element()) read_part(parts.add());
      return;
    case json::Kind::number:
    case json::Kind::boolean:
    case json::Kind::null:
    case json::Kind::invalid:
      return in_.skip();
  }
}

// An object, or the text alone.
void ResponsesFrameReader::read_part(ResponsesPart& part) {
  if (in_.peek() != json::Kind::object) return read_text(part.text);
  const std::size_t from = in_.offset();
  each_member([&](std::string_view key) {
    if (key == "text" && in_.peek() == json::Kind::object) {
      read_texts(in_, part.text);
    } else if (key == "logprobs") {
      part.logprobs = read_list();
    } else if (key == "annotations") {
      part.annotations = read_list();
    } else if (!read_text_member(
                   key, {{"type", &part.type}, {"text", &part.text}, {"refusal", &part.refusal}})) {
      in_.skip();
    }
  });
  part.json = object_from(from);
}

void ResponsesFrameReader::read_incomplete() {
  each_member([&](std::string_view key) {
    if (!read_text_member(key, {{"reason", &frame_.response.incomplete}})) in_.skip();
  });
}

void ResponsesFrameReader::read_delta() {
  frame_.delta_object = in_.peek() == json::Kind::object || in_.peek() == json::Kind::array;
  if (!frame_.delta_object) return read_fragment(in_, frame_.delta);
  frame_.delta = in_.raw();
  json::Reader in(frame_.delta.view());
  read_texts(in, frame_.said);
}

void ResponsesFrameReader::read_arguments(Text& arguments, bool& object) {
  object = in_.peek() == json::Kind::object || in_.peek() == json::Kind::array;
  if (!object) return read_text(arguments);
  arguments = in_.raw();
}

// JSON of the next value, empty when it is null.
std::string_view ResponsesFrameReader::read_given() {
  const bool given = in_.peek() != json::Kind::null;
  const std::string_view json = in_.raw();
  return given ? json : std::string_view();
}

// JSON of an array, empty when it has nothing.
std::string_view ResponsesFrameReader::read_list() {
  const bool list = in_.peek() == json::Kind::array;
  const std::string_view json = in_.raw();
  return list && json.find('{') != std::string_view::npos ? json : std::string_view();
}

}  // namespace callgate::upstream
