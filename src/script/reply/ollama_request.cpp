#include "script/reply/ollama_request.h"

#include <utility>

#include "json/reader.h"
#include "json/writer.h"

namespace callgate::script {
namespace {

using json::Kind;

std::string ollama_text(json::Reader& in) {
  if (in.peek() == Kind::string) return std::string(in.string());
  in.skip();
  return {};
}

CallRecord read_call(json::Reader& in) {
  CallRecord call;
  for (std::string_view key; in.next_member(key);) {
    if (key == "id") {
      call.id = ollama_text(in);
    } else if (key == "function" && in.peek() == Kind::object) {
      for (std::string_view inner; in.next_member(inner);) {
        if (inner == "name") {
          call.name = ollama_text(in);
        } else if (inner == "arguments") {
          call.arguments = in.raw();
        } else {
          in.skip();
        }
      }
    } else {
      in.skip();
    }
  }
  return call;
}

// Content as Chat Completions has it: a string for a text alone, else parts. What kind of image it is is not said.
RawJson ollama_content(std::string_view text, const std::vector<std::string>& images) {
  RawJson content;
  if (images.empty()) {
    json::append_string(content.text, text);
    return content;
  }
  content.text = "[";
  if (!text.empty()) {
    json::ObjectWriter part(content.text);
    part.string("type", "text");
    part.string("text", text);
    part.close();
  }
  for (const std::string& data : images) {
    if (content.text.size() > 1) content.text.push_back(',');
    json::ObjectWriter part(content.text);
    part.string("type", "image_url");
    json::ObjectWriter image(part.key("image_url"));
    image.string("url", "data:application/octet-stream;base64," + data);
    image.close();
    part.close();
  }
  content.text.push_back(']');
  return content;
}

Role role_of(std::string_view word) {
  if (word == "system") return Role::system;
  if (word == "assistant") return Role::assistant;
  if (word == "tool") return Role::tool;
  return Role::user;
}

void read_ollama_message(json::Reader& in, Request& request) {
  if (in.peek() != Kind::object) return in.skip();
  Message message;
  std::string text;
  std::vector<std::string> images;
  for (std::string_view key; in.next_member(key);) {
    if (key == "role") {
      message.role = role_of(ollama_text(in));
    } else if (key == "content") {
      text = ollama_text(in);
    } else if (key == "thinking") {
      message.extra.push_back({"reasoning_content", {std::string(in.raw())}});
    } else if (key == "images" && in.peek() == Kind::array) {
      while (in.next_element()) images.push_back(ollama_text(in));
    } else if (key == "tool_calls" && in.peek() == Kind::array) {
      while (in.next_element()) message.calls.push_back(read_call(in));
    } else if (key == "tool_name") {
      message.name = ollama_text(in);
    } else if (key == "tool_call_id") {
      message.tool_call_id = ollama_text(in);
    } else {
      in.skip();
    }
  }
  message.content = ollama_content(text, images);
  request.messages.push_back(std::move(message));
}

void read_ollama_tool(json::Reader& in, Request& request) {
  if (in.peek() != Kind::object) return in.skip();
  ToolSpec tool;
  for (std::string_view key; in.next_member(key);) {
    if (key != "function" || in.peek() != Kind::object) {
      in.skip();
      continue;
    }
    for (std::string_view inner; in.next_member(inner);) {
      if (inner == "name") {
        tool.name = ollama_text(in);
      } else if (inner == "description") {
        tool.description = ollama_text(in);
      } else if (inner == "parameters") {
        tool.parameters.text = in.raw();
      } else {
        in.skip();
      }
    }
  }
  request.tools.push_back(std::move(tool));
}

void read_ollama_member(json::Reader& in, std::string_view key, Request& request) {
  if (key == "model") {
    request.model = ollama_text(in);
  } else if (key == "messages" && in.peek() == Kind::array) {
    while (in.next_element()) read_ollama_message(in, request);
  } else if (key == "tools" && in.peek() == Kind::array) {
    while (in.next_element()) read_ollama_tool(in, request);
  } else if (key == "stream" && in.peek() == Kind::boolean) {
    request.stream = in.boolean();
  } else if (key == "options" && in.peek() == Kind::object) {
    for (std::string_view inner; in.next_member(inner);) {
      const std::string name(inner == "num_predict" ? "max_tokens" : inner);
      request.extra.push_back({name, {std::string(in.raw())}});
    }
  } else {
    const std::string name(key);
    request.extra.push_back({name, {std::string(in.raw())}});
  }
}

}  // namespace

Result<Request> decode_ollama_request(std::string_view body) {
  Request request{.stream = true, .include_usage = true};
  json::Reader in(body);
  for (std::string_view key; in.next_member(key);) read_ollama_member(in, key, request);
  if (!in.finish()) {
    return fail(ErrorCode::invalid_request,
                "the body is not a JSON object: " + std::string(in.error().message));
  }
  return request;
}

std::string ollama_model_named(std::string_view body) {
  json::Reader in(body);
  std::string model;
  if (in.peek() != Kind::object) return model;
  for (std::string_view key; in.next_member(key);) {
    if (key == "model" || key == "name") {
      model = ollama_text(in);
    } else {
      in.skip();
    }
  }
  return model;
}

}  // namespace callgate::script
