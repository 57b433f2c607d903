#include "script/reply/responses_request.h"

#include <string>
#include <utility>

#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "script/each_element.h"

namespace callgate::script {
namespace {

// Parts in the form of Chat Completions.
void append_part(std::string& out, std::string_view part) {
  const std::string type = json::member_text(part, "type");
  json::ObjectWriter object(out);
  if (type == "input_image") {
    object.string("type", "image_url");
    json::ObjectWriter image(object.key("image_url"));
    image.string("url", json::member_text(part, "image_url"));
    image.close();
  } else if (type == "input_file") {
    object.string("type", "file");
    json::ObjectWriter file(object.key("file"));
    for (const std::string_view name : {"filename", "file_data", "file_id"}) {
      if (const std::string_view value = json::given_member(part, name); !value.empty())
        file.raw(name, value);
    }
    file.close();
  } else {
    object.string("type", "text");
    object.string("text", json::member_text(part, type == "refusal" ? "refusal" : "text"));
  }
  object.close();
}

// A string, or one text alone, is a string.
RawJson responses_content(std::string_view content) {
  if (!content.starts_with('[')) return {std::string(content.empty() ? "null" : content)};
  std::string list;
  std::string only;
  int count = 0;
  bool plain = true;
  each_element(content, [&](std::string_view part) {
    if (count++ > 0) list.push_back(',');
    const std::string type = json::member_text(part, "type");
    plain = plain && type.ends_with("text");
    only = json::member_text(part, "text");
    append_part(list, part);
  });
  RawJson made;
  if (count == 1 && plain) {
    json::append_string(made.text, only);
  } else {
    made.text = "[" + list + "]";
  }
  return made;
}

class ItemReader {
 public:
  explicit ItemReader(Request& request) : request_(request) {}

  void add(std::string_view item) {
    const std::string type = json::member_text(item, "type");
    if (type.empty() || type == "message") {
      add_message(item);
    } else if (type == "reasoning") {
      add_reasoning(item);
    } else if (type == "function_call") {
      add_call(item, json::member_text(item, "arguments"));
    } else if (type == "custom_tool_call") {
      std::string arguments;
      json::ObjectWriter object(arguments);
      object.string("input", json::member_text(item, "input"));
      object.close();
      add_call(item, std::move(arguments));
    } else if (type == "function_call_output" || type == "custom_tool_call_output") {
      Message result{.role = Role::tool, .tool_call_id = json::member_text(item, "call_id")};
      result.content = responses_content(json::given_member(item, "output"));
      request_.messages.push_back(std::move(result));
    }
  }

 private:
  // The message of an answer: calls belong to the message before them, and reasoning to the one behind it.
  Message& answer(bool is_new) {
    std::vector<Message>& messages = request_.messages;
    const bool has = !messages.empty() && messages.back().role == Role::assistant;
    const bool waits = has && messages.back().content.empty() && messages.back().calls.empty();
    if (!has || (is_new && !waits)) messages.push_back({.role = Role::assistant});
    return messages.back();
  }

  void add_message(std::string_view item) {
    const std::string role = json::member_text(item, "role");
    RawJson content = responses_content(json::given_member(item, "content"));
    if (role == "assistant") {
      answer(true).content = std::move(content);
      return;
    }
    Role who = Role::user;
    if (role == "system") who = Role::system;
    if (role == "developer") who = Role::developer;
    request_.messages.push_back({.role = who, .content = std::move(content)});
  }

  void add_call(std::string_view item, std::string arguments) {
    answer(false).calls.push_back({.id = json::member_text(item, "call_id"),
                                   .name = json::member_text(item, "name"),
                                   .arguments = std::move(arguments)});
  }

  void add_reasoning(std::string_view item) {
    std::string detail;
    json::ObjectWriter object(detail);
    object.string("type", "reasoning.encrypted");
    object.string("data", json::member_text(item, "encrypted_content"));
    object.string("id", json::member_text(item, "id"));
    object.string("format", "openai-responses-v1");
    object.close();
    std::vector<ExtraField>& extra = answer(false).extra;
    if (extra.empty()) {
      extra.push_back({"reasoning_details", {"[" + detail + "]"}});
    } else {
      std::string& list = extra.back().value.text;
      list.pop_back();
      list += "," + detail + "]";
    }
  }

  Request& request_;
};

void read_responses_tool(std::string_view tool, Request& request) {
  if (json::member_text(tool, "type") != "function") {
    request.other_tools.push_back({std::string(tool)});
    return;
  }
  ToolSpec made{.name = json::member_text(tool, "name"),
                .description = json::member_text(tool, "description"),
                .parameters = {std::string(json::given_member(tool, "parameters"))}};
  if (const std::string_view strict = json::given_member(tool, "strict"); !strict.empty()) {
    made.extra.push_back({"strict", {std::string(strict)}});
  }
  request.tools.push_back(std::move(made));
}

void read_responses_choice(std::string_view choice, Request& request) {
  using Mode = ToolChoice::Mode;
  if (choice == "\"auto\"") request.tool_choice.mode = Mode::automatic;
  if (choice == "\"none\"") request.tool_choice.mode = Mode::none;
  if (choice == "\"required\"") request.tool_choice.mode = Mode::required;
  if (json::member_text(choice, "type") == "function") {
    request.tool_choice = {.mode = Mode::named, .name = json::member_text(choice, "name")};
  }
}

void read_responses_member(std::string_view key, std::string_view value, Request& request) {
  if (key == "input" && value.starts_with('"')) {
    request.messages.push_back({.role = Role::user, .content = {std::string(value)}});
  } else if (key == "input") {
    add_responses_items(request, value);
  } else if (key == "tools") {
    each_element(value, [&](std::string_view tool) { read_responses_tool(tool, request); });
  } else if (key == "tool_choice") {
    read_responses_choice(value, request);
  } else if (key == "parallel_tool_calls") {
    if (value != "null") request.parallel_tool_calls = value == "true";
  } else if (key == "stream") {
    request.stream = value == "true";
  } else if (key != "model" && key != "instructions") {
    const bool limit = key == "max_output_tokens";
    const std::string name(limit ? "max_completion_tokens" : key);
    request.extra.push_back({name, {std::string(value)}});
  }
}

}  // namespace

void add_responses_items(Request& request, std::string_view items) {
  ItemReader reader(request);
  each_element(items, [&](std::string_view item) { reader.add(item); });
}

Result<Request> decode_responses_request(std::string_view body) {
  Request request{.model = json::member_text(body, "model"), .include_usage = true};
  if (const std::string_view system = json::given_member(body, "instructions"); !system.empty()) {
    request.messages.push_back({.role = Role::system, .content = {std::string(system)}});
  }
  json::Reader in(body);
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    read_responses_member(name, in.raw(), request);
  }
  if (!in.finish()) {
    return fail(ErrorCode::invalid_request,
                "the body is not a JSON object: " + std::string(in.error().message));
  }
  return request;
}

}  // namespace callgate::script
