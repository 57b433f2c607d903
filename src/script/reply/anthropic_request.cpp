#include "script/reply/anthropic_request.h"

#include <string>
#include <utility>

#include "json/reader.h"
#include "json/writer.h"

namespace callgate::script {
namespace {

using json::Kind;

std::string messages_text(json::Reader& in) {
  if (in.peek() == Kind::string) return std::string(in.string());
  in.skip();
  return {};
}

// The fields of a content block that matter, whatever its type.
struct Block {
  std::string json;
  std::string type;
  std::string text;
  std::string thinking;
  std::string signature;
  std::string data;
  std::string id;
  std::string name;
  std::string input;    // JSON
  std::string content;  // JSON
  std::string tool_use_id;
  std::string is_error;  // JSON
  std::string url;       // of an image, also as data
};

void read_source(json::Reader& in, Block& block) {
  if (in.peek() != Kind::object) return in.skip();
  std::string media_type;
  std::string data;
  for (std::string_view key; in.next_member(key);) {
    if (key == "media_type") {
      media_type = messages_text(in);
    } else if (key == "data") {
      data = messages_text(in);
    } else if (key == "url") {
      block.url = messages_text(in);
    } else {
      in.skip();
    }
  }
  if (!data.empty()) block.url = "data:" + media_type + ";base64," + data;
}

Block read_block(std::string_view json) {
  Block block{.json = std::string(json)};
  json::Reader in(json);
  if (in.peek() != Kind::object) return block;
  for (std::string_view key; in.next_member(key);) {
    if (key == "type") {
      block.type = messages_text(in);
    } else if (key == "text") {
      block.text = messages_text(in);
    } else if (key == "thinking") {
      block.thinking = messages_text(in);
    } else if (key == "signature") {
      block.signature = messages_text(in);
    } else if (key == "data") {
      block.data = messages_text(in);
    } else if (key == "id") {
      block.id = messages_text(in);
    } else if (key == "name") {
      block.name = messages_text(in);
    } else if (key == "tool_use_id") {
      block.tool_use_id = messages_text(in);
    } else if (key == "input") {
      block.input = in.raw();
    } else if (key == "content") {
      block.content = in.raw();
    } else if (key == "is_error") {
      block.is_error = in.raw();
    } else if (key == "source") {
      read_source(in, block);
    } else {
      in.skip();
    }
  }
  return block;
}

// A string counts as one text block.
std::vector<Block> read_blocks(std::string_view content) {
  std::vector<Block> blocks;
  json::Reader in(content);
  if (in.peek() == Kind::string) {
    blocks.push_back({.type = "text", .text = std::string(in.string())});
  } else if (in.peek() == Kind::array) {
    while (in.next_element()) blocks.push_back(read_block(in.raw()));
  }
  return blocks;
}

// Content as Chat Completions has it: a string for a text alone, else parts.
RawJson messages_content(const std::vector<Block>& blocks) {
  RawJson content;
  if (blocks.empty()) return {"null"};
  if (blocks.size() == 1 && blocks.front().type == "text") {
    json::append_string(content.text, blocks.front().text);
    return content;
  }
  content.text.push_back('[');
  for (const Block& block : blocks) {
    if (content.text.size() > 1) content.text.push_back(',');
    if (block.type != "text" && block.type != "image") {
      content.text += block.json;
      continue;
    }
    json::ObjectWriter part(content.text);
    part.string("type", block.type == "text" ? "text" : "image_url");
    if (block.type == "text") {
      part.string("text", block.text);
    } else {
      json::ObjectWriter image(part.key("image_url"));
      image.string("url", block.url);
      image.close();
    }
    part.close();
  }
  content.text.push_back(']');
  return content;
}

void append_messages_detail(std::string& out, const Block& block) {
  if (!out.empty()) out.push_back(',');
  json::ObjectWriter item(out);
  if (block.type == "thinking") {
    item.string("type", "reasoning.text");
    item.string("text", block.thinking);
    item.string("signature", block.signature);
  } else {
    item.string("type", "reasoning.encrypted");
    item.string("data", block.data);
  }
  item.string("format", "anthropic-claude-v1");
  item.close();
}

void add_assistant(std::vector<Block> blocks, Request& request) {
  Message message{.role = Role::assistant};
  std::vector<Block> prose;
  std::string details;
  for (Block& block : blocks) {
    if (block.type == "tool_use") {
      message.calls.push_back({.id = block.id, .name = block.name, .arguments = block.input});
    } else if (block.type == "thinking" || block.type == "redacted_thinking") {
      append_messages_detail(details, block);
    } else {
      prose.push_back(std::move(block));
    }
  }
  message.content = messages_content(prose);
  if (!details.empty()) message.extra.push_back({"reasoning_details", {"[" + details + "]"}});
  request.messages.push_back(std::move(message));
}

// Results are messages of their own.
void add_messages_user(std::vector<Block> blocks, Request& request) {
  std::vector<Block> rest;
  for (Block& block : blocks) {
    if (block.type != "tool_result") {
      rest.push_back(std::move(block));
      continue;
    }
    Message result{.role = Role::tool, .tool_call_id = block.tool_use_id};
    result.content = messages_content(read_blocks(block.content));
    if (!block.is_error.empty()) result.extra.push_back({"is_error", {block.is_error}});
    request.messages.push_back(std::move(result));
  }
  if (rest.empty()) return;
  request.messages.push_back({.role = Role::user, .content = messages_content(rest)});
}

void read_messages_message(json::Reader& in, Request& request) {
  if (in.peek() != Kind::object) return in.skip();
  std::string role;
  std::vector<Block> blocks;
  for (std::string_view key; in.next_member(key);) {
    if (key == "role") {
      role = messages_text(in);
    } else if (key == "content") {
      blocks = read_blocks(in.raw());
    } else {
      in.skip();
    }
  }
  if (role == "assistant") return add_assistant(std::move(blocks), request);
  if (role == "user") return add_messages_user(std::move(blocks), request);
  request.messages.push_back({.role = Role::system, .content = messages_content(blocks)});
}

void read_messages_tool(std::string_view json, Request& request) {
  json::Reader in(json);
  ToolSpec tool;
  bool own = true;  // described by the caller
  if (in.peek() != Kind::object) return;
  for (std::string_view key; in.next_member(key);) {
    if (key == "name") {
      tool.name = messages_text(in);
    } else if (key == "description") {
      tool.description = messages_text(in);
    } else if (key == "input_schema") {
      tool.parameters.text = in.raw();
    } else if (key == "type" && in.peek() == Kind::string) {
      own = in.string() == "custom";
    } else if (key == "type") {
      in.skip();
    } else {
      const std::string name(key);
      tool.extra.push_back({name, {std::string(in.raw())}});
    }
  }
  if (own) {
    request.tools.push_back(std::move(tool));
  } else {
    request.other_tools.push_back({std::string(json)});
  }
}

void read_messages_choice(json::Reader& in, Request& request) {
  using Mode = ToolChoice::Mode;
  if (in.peek() != Kind::object) return in.skip();
  for (std::string_view key; in.next_member(key);) {
    if (key == "type") {
      const std::string type = messages_text(in);
      if (type == "auto") request.tool_choice.mode = Mode::automatic;
      if (type == "none") request.tool_choice.mode = Mode::none;
      if (type == "any") request.tool_choice.mode = Mode::required;
      if (type == "tool") request.tool_choice.mode = Mode::named;
    } else if (key == "name") {
      request.tool_choice.name = messages_text(in);
    } else if (key == "disable_parallel_tool_use" && in.peek() == Kind::boolean) {
      request.parallel_tool_calls = !in.boolean();
    } else {
      in.skip();
    }
  }
}

void read_messages_member(json::Reader& in, std::string_view key, Request& request,
                          Message& system) {
  if (key == "model") {
    request.model = messages_text(in);
  } else if (key == "messages" && in.peek() == Kind::array) {
    while (in.next_element()) read_messages_message(in, request);
  } else if (key == "system") {
    system.content = messages_content(read_blocks(in.raw()));
  } else if (key == "tools" && in.peek() == Kind::array) {
    while (in.next_element()) read_messages_tool(in.raw(), request);
  } else if (key == "tool_choice") {
    read_messages_choice(in, request);
  } else if (key == "stream" && in.peek() == Kind::boolean) {
    request.stream = in.boolean();
  } else {
    const std::string name(key == "stop_sequences" ? "stop" : key);
    request.extra.push_back({name, {std::string(in.raw())}});
  }
}

}  // namespace

Result<Request> decode_anthropic_request(std::string_view body) {
  Request request{.include_usage = true};
  Message system{.role = Role::system};
  json::Reader in(body);
  for (std::string_view key; in.next_member(key);) read_messages_member(in, key, request, system);
  if (!in.finish()) {
    return fail(ErrorCode::invalid_request,
                "the body is not a JSON object: " + std::string(in.error().message));
  }
  if (!system.content.empty() && system.content.text != "null") {
    request.messages.insert(request.messages.begin(), std::move(system));
  }
  return request;
}

}  // namespace callgate::script
