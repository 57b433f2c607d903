#include "upstream/anthropic_messages/anthropic_frame.h"

namespace callgate::upstream {
namespace {

// Of a block that does not say it.
std::string_view type_of(const AnthropicBlock& block) {
  if (!block.name.empty() || block.input_given) return "tool_use";
  if (!block.thinking.empty()) return "thinking";
  return block.text.empty() ? "" : "text";
}

}  // namespace

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
  strange = false;
  stop_sequence.clear();
}

void AnthropicFrameReader::read_member(std::string_view key) {
  if (key == "type") {
    read_text(frame_.type);
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
    read_text(frame_.stop_reason);
  } else if (key == "stop_sequence") {
    read_text(frame_.stop_sequence);
  } else if (key == "stop_details") {
    read_stop_details();
  } else if (key == "error") {
    frame_.error = read_error(in_);
  } else {
    frame_.strange = true;
    in_.skip();
  }
}

// Of message_start only the usage matters: its content is empty.
void AnthropicFrameReader::read_message() {
  each_member([&](std::string_view key) { key == "usage" ? read_usage() : in_.skip(); });
}

// The delta of a block, or of the message.
void AnthropicFrameReader::read_delta() {
  AnthropicDelta& delta = frame_.delta;
  if (in_.peek() == json::Kind::string) return read_fragment(in_, delta.plain);
  each_member([&](std::string_view key) {
    if (key == "text") {
      read_texts(in_, delta.text);
    } else if (key == "partial_json" || is_arguments_key(key)) {
      read_partial_json();
    } else if (key == "thinking") {
      read_texts(in_, delta.thinking);
    } else if (key == "stop_details") {
      read_stop_details();
    } else if (key == "citation") {
      frame_.strange = true;
      dropped_.skip(in_, "citations");
    } else if (!read_text_member(key, {{"name", &delta.name},
                                       {"signature", &delta.signature},
                                       {"stop_reason", &frame_.stop_reason},
                                       {"stop_sequence", &frame_.stop_sequence}})) {
      frame_.strange = frame_.strange || key != "type";
      in_.skip();
    }
  });
}

void AnthropicFrameReader::read_block(AnthropicBlock& block) {
  block.clear();
  each_member([&](std::string_view key) {
    if (key == "text") {
      read_texts(in_, block.text);
    } else if (key == "thinking") {
      read_texts(in_, block.thinking);
    } else if (is_arguments_key(key)) {
      block.input_renamed = key != "input";
      read_input(block);
    } else if (key == "citations") {
      frame_.strange = true;
      dropped_.skip(in_, key);
    } else if (!read_text_member(key, {{"type", &block.type},
                                       {"signature", &block.signature},
                                       {"data", &block.data},
                                       {"id", &block.id},
                                       {"name", &block.name}})) {
      frame_.strange = true;
      in_.skip();
    }
  });
  if (block.type.empty()) block.type = type_of(block);
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
  if (kind == json::Kind::string) return read_bare_text(frame_.content.add());
  while (in_.next_element()) {
    if (in_.peek() == json::Kind::string) {
      read_bare_text(frame_.content.add());
    } else if (enter_object(in_)) {
      read_block(frame_.content.add());
    }
  }
}

void AnthropicFrameReader::read_bare_text(AnthropicBlock& block) {
  block.type = "text";
  read_fragment(in_, block.text);
}

void AnthropicFrameReader::read_input(AnthropicBlock& block) {
  switch (in_.peek()) {
    case json::Kind::string:
      read_text(block.input);
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
  each_member([&](std::string_view key) {
    if (!read_text_member(key, {{"explanation", &frame_.explanation}})) in_.skip();
  });
}

void AnthropicFrameReader::read_usage() {
  AnthropicUsage& usage = frame_.usage;
  each_member([&](std::string_view key) {
    if (key == "output_tokens_details") return read_counts({{"thinking_tokens", &usage.thinking}});
    read_count_member(key, {{"input_tokens", &usage.input},
                            {"cache_read_input_tokens", &usage.cache_read},
                            {"cache_creation_input_tokens", &usage.cache_creation},
                            {"output_tokens", &usage.output}});
  });
}

}  // namespace callgate::upstream
