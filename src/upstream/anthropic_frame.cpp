#include "upstream/anthropic_frame.h"

#include "upstream/read_text.h"
#include "upstream/repaired_read.h"

namespace callgate::upstream {

void AnthropicBlock::clear() {
  for (Text* each : {&type, &text, &thinking, &signature, &data, &id, &name, &input}) {
    each->clear();
  }
  input_given = false;
  input_renamed = false;
}

void AnthropicDelta::clear() {
  for (Text* each : {&plain, &name, &text, &thinking, &signature, &partial_json}) each->clear();
  object = false;
}

void AnthropicFrame::clear() {
  type.clear();
  index.reset();
  block.clear();
  delta.clear();
  content.clear();
  has_content = false;
  stop_reason.clear();
  explanation.clear();
  usage.clear();
  error = {};
}

bool AnthropicFrameReader::read(std::string_view document) {
  const auto read_text_of = [this](std::string_view text) {
    document_ = text;
    return read_document();
  };
  if (read_repaired(document, sanitized_, mended_, read_text_of)) return true;
  frame_.clear();
  return false;
}

bool AnthropicFrameReader::read_document() {
  frame_.clear();
  in_.reset(document_);
  for (std::string_view key; in_.next_member(key);) {
    if (key == "type") {
      read_text(in_, document_, frame_.type);
    } else if (key == "index") {
      frame_.index = read_count(in_);
    } else if (key == "delta") {
      read_delta();
    } else if (key == "content_block") {
      if (enter_object(in_)) read_block(frame_.block);
    } else if (key == "content") {
      read_content();
    } else if (key == "message") {
      read_message();
    } else if (key == "usage") {
      read_usage();
    } else if (key == "stop_reason") {
      read_text(in_, document_, frame_.stop_reason);
    } else if (key == "stop_details") {
      read_stop_details();
    } else if (key == "error") {
      frame_.error = read_error(in_);
    } else {
      in_.skip();
    }
  }
  return in_.finish();
}

// Of message_start only the usage matters: its content is empty.
void AnthropicFrameReader::read_message() {
  if (!enter_object(in_)) return;
  for (std::string_view key; in_.next_member(key);) {
    if (key == "usage") {
      read_usage();
    } else {
      in_.skip();
    }
  }
}

// The delta of a block, or of the message.
void AnthropicFrameReader::read_delta() {
  AnthropicDelta& delta = frame_.delta;
  if (in_.peek() == json::Kind::string) return read_fragment(in_, delta.plain);
  if (!enter_object(in_)) return;
  for (std::string_view key; in_.next_member(key);) {
    if (key == "text") {
      read_texts(in_, delta.text);
    } else if (key == "partial_json" || is_arguments_key(key)) {
      read_partial_json();
    } else if (key == "name") {
      read_text(in_, document_, delta.name);
    } else if (key == "thinking") {
      read_texts(in_, delta.thinking);
    } else if (key == "signature") {
      read_text(in_, document_, delta.signature);
    } else if (key == "stop_reason") {
      read_text(in_, document_, frame_.stop_reason);
    } else if (key == "stop_details") {
      read_stop_details();
    } else if (key == "citation") {
      dropped_.skip(in_, "citations");
    } else {
      in_.skip();
    }
  }
}

void AnthropicFrameReader::read_block(AnthropicBlock& block) {
  block.clear();
  for (std::string_view key; in_.next_member(key);) {
    if (key == "type") {
      read_text(in_, document_, block.type);
    } else if (key == "text") {
      read_texts(in_, block.text);
    } else if (key == "thinking") {
      read_texts(in_, block.thinking);
    } else if (key == "signature") {
      read_text(in_, document_, block.signature);
    } else if (key == "data") {
      read_text(in_, document_, block.data);
    } else if (key == "id") {
      read_text(in_, document_, block.id);
    } else if (key == "name") {
      read_text(in_, document_, block.name);
    } else if (is_arguments_key(key)) {
      block.input_renamed = key != "input";
      read_input(block);
    } else if (key == "citations") {
      dropped_.skip(in_, key);
    } else {
      in_.skip();
    }
  }
  const std::string_view type = block.type.view();
  const bool known =
      type == "text" || type == "thinking" || type == "redacted_thinking" || type == "tool_use";
  if (!known) dropped_.add(type);
}

void AnthropicFrameReader::read_partial_json() {
  AnthropicDelta& delta = frame_.delta;
  delta.object = in_.peek() == json::Kind::object || in_.peek() == json::Kind::array;
  if (!delta.object) return read_fragment(in_, delta.partial_json);
  delta.partial_json = in_.raw();
}

// Blocks; from some servers one block without its list, or nothing but text.
void AnthropicFrameReader::read_content() {
  const json::Kind kind = in_.peek();
  frame_.content.clear();
  frame_.has_content =
      kind == json::Kind::array || kind == json::Kind::object || kind == json::Kind::string;
  if (!frame_.has_content) return in_.skip();
  if (kind == json::Kind::object) return read_block(frame_.content.add());
  if (kind == json::Kind::string) {
    AnthropicBlock& block = frame_.content.add();
    block.type = "text";
    return read_fragment(in_, block.text);
  }
  while (in_.next_element()) {
    if (enter_object(in_)) read_block(frame_.content.add());
  }
}

void AnthropicFrameReader::read_input(AnthropicBlock& block) {
  switch (in_.peek()) {
    case json::Kind::string:
      read_text(in_, document_, block.input);
      block.input_given = !block.input.empty();
      return;
    case json::Kind::null:
    case json::Kind::invalid:
      return in_.skip();
    case json::Kind::object:
    case json::Kind::array:
    case json::Kind::number:
    case json::Kind::boolean:
      block.input = in_.raw();
      block.input_given = block.input.view().find_first_not_of("{} \t\r\n") != std::string::npos;
      return;
  }
}

void AnthropicFrameReader::read_stop_details() {
  if (!enter_object(in_)) return;
  for (std::string_view key; in_.next_member(key);) {
    if (key == "explanation") {
      read_text(in_, document_, frame_.explanation);
    } else {
      in_.skip();
    }
  }
}

void AnthropicFrameReader::read_usage() {
  if (!enter_object(in_)) return;
  AnthropicUsage& usage = frame_.usage;
  for (std::string_view key; in_.next_member(key);) {
    if (key == "input_tokens") {
      usage.input = read_count(in_);
    } else if (key == "cache_read_input_tokens") {
      usage.cache_read = read_count(in_);
    } else if (key == "cache_creation_input_tokens") {
      usage.cache_creation = read_count(in_);
    } else if (key == "output_tokens") {
      usage.output = read_count(in_);
    } else if (key == "output_tokens_details" && in_.peek() == json::Kind::object) {
      for (std::string_view inner; in_.next_member(inner);) {
        if (inner == "thinking_tokens") {
          usage.thinking = read_count(in_);
        } else {
          in_.skip();
        }
      }
    } else {
      in_.skip();
    }
  }
}

}  // namespace callgate::upstream
