#include "upstream/responses_frame.h"

#include "upstream/openai_usage.h"
#include "upstream/repaired_read.h"

namespace callgate::upstream {

void ResponsesPart::clear() {
  for (Text* each : {&type, &text, &refusal}) each->clear();
  logprobs = {};
  annotations = {};
}

void ResponsesItem::clear() {
  for (Text* each : {&type, &id, &call_id, &name, &status, &arguments, &input, &encrypted}) {
    each->clear();
  }
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
  item.clear();
  has_item = false;
  response.clear();
}

bool ResponsesFrameReader::read(std::string_view document) {
  const auto read_text_of = [this](std::string_view text) {
    document_ = text;
    return read_document();
  };
  if (read_repaired(document, sanitized_, mended_, read_text_of)) return true;
  frame_.clear();
  return false;
}

bool ResponsesFrameReader::read_document() {
  frame_.clear();
  in_.reset(document_);
  for (std::string_view key; in_.next_member(key);) read_member(key);
  return in_.finish();
}

void ResponsesFrameReader::read_member(std::string_view key) {
  if (key == "type") {
    read_text(frame_.type);
  } else if (key == "delta") {
    read_delta();
  } else if (key == "item_id") {
    read_text(frame_.item_id);
  } else if (key == "name") {
    read_text(frame_.name);
  } else if (key == "output_index") {
    frame_.output_index = read_count(in_);
  } else if (key == "content_index" || key == "summary_index") {
    frame_.part_index = read_count(in_);
  } else if (key == "sequence_number") {
    frame_.sequence = read_count(in_);
  } else if (key == "logprobs") {
    frame_.logprobs = read_list();
  } else if (key == "text" || key == "refusal" || key == "input") {
    read_text(frame_.whole);
  } else if (key == "arguments") {
    read_arguments(frame_.whole, frame_.whole_object);
  } else if (key == "item") {
    frame_.has_item = in_.peek() == json::Kind::object;
    if (enter_object(in_)) read_item(frame_.item);
  } else if (key == "annotation") {
    frame_.annotation = read_given();
  } else if (key == "response" && in_.peek() == json::Kind::object) {
    for (std::string_view inner; in_.next_member(inner);) {
      if (!read_body_member(inner)) in_.skip();
    }
  } else if (!read_body_member(key)) {
    in_.skip();
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
    read_usage();
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
  for (std::string_view key; in_.next_member(key);) {
    if (key == "type") {
      read_text(item.type);
    } else if (key == "id") {
      read_text(item.id);
    } else if (key == "call_id") {
      read_text(item.call_id);
    } else if (key == "name") {
      read_text(item.name);
    } else if (key == "status") {
      read_text(item.status);
    } else if (is_arguments_key(key) && key != "input") {
      item.arguments_renamed = key != "arguments";
      read_arguments(item.arguments, item.arguments_object);
    } else if (key == "input") {
      read_arguments(item.input, item.input_object);
    } else if (key == "encrypted_content") {
      read_text(item.encrypted);
    } else if (key == "content") {
      read_parts(item.content);
    } else if (key == "summary") {
      read_parts(item.summary);
    } else {
      in_.skip();
    }
  }
  const std::string_view type = item.type.view();
  const bool known = type == "message" || type == "function_call" || type == "custom_tool_call" ||
                     type == "reasoning";
  if (!known) dropped_.add(type);
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
  for (std::string_view key; in_.next_member(key);) {
    if (key == "type") {
      read_text(part.type);
    } else if (key == "text") {
      in_.peek() == json::Kind::object ? read_texts(in_, part.text) : read_text(part.text);
    } else if (key == "refusal") {
      read_text(part.refusal);
    } else if (key == "logprobs") {
      part.logprobs = read_list();
    } else if (key == "annotations") {
      part.annotations = read_list();
    } else {
      in_.skip();
    }
  }
}

void ResponsesFrameReader::read_usage() {
  if (!enter_object(in_)) return;
  Usage usage;
  std::optional<std::int64_t> input;
  std::optional<std::int64_t> output;
  std::optional<std::int64_t> total;
  for (std::string_view key; in_.next_member(key);) {
    if (key == "input_tokens") {
      input = read_count(in_);
    } else if (key == "output_tokens") {
      output = read_count(in_);
    } else if (key == "total_tokens") {
      total = read_count(in_);
    } else if (key == "input_tokens_details" || key == "output_tokens_details") {
      read_details(usage);
    } else {
      in_.skip();
    }
  }
  if (!input && !output) return;
  set_counts(usage, input, output, total);
  frame_.response.usage = usage;
}

void ResponsesFrameReader::read_details(Usage& usage) {
  if (!enter_object(in_)) return;
  for (std::string_view key; in_.next_member(key);) {
    if (key == "cached_tokens") {
      usage.cached_tokens = read_count(in_).value_or(0);
    } else if (key == "cache_write_tokens") {
      usage.cache_write_tokens = read_count(in_).value_or(0);
    } else if (key == "reasoning_tokens") {
      usage.reasoning_tokens = read_count(in_).value_or(0);
    } else {
      in_.skip();
    }
  }
}

void ResponsesFrameReader::read_incomplete() {
  if (!enter_object(in_)) return;
  for (std::string_view key; in_.next_member(key);) {
    if (key == "reason") {
      read_text(frame_.response.incomplete);
    } else {
      in_.skip();
    }
  }
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
