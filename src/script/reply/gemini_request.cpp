#include "script/reply/gemini_request.h"

#include <string>
#include <utility>

#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "script/each_element.h"
#include "script/reply/reply_encoder.h"

namespace callgate::script {
namespace {

using json::Kind;

constexpr std::string_view kWhole = ":generateContent";
constexpr std::string_view kStreamed = ":streamGenerateContent";

// The fields of a part that matter, whatever its kind.
struct WirePart {
  bool has_text = false;
  std::string text;
  bool thought = false;
  std::string signature;
  std::string url;            // of a file, also as data
  std::string_view call;      // JSON of a functionCall
  std::string_view response;  // JSON of a functionResponse
};

WirePart read_part(std::string_view json) {
  WirePart part{.has_text = !json::given_member(json, "text").empty(),
                .text = json::member_text(json, "text"),
                .thought = json::given_member(json, "thought") == "true",
                .signature = json::member_text(json, "thoughtSignature"),
                .url = json::member_text(json::given_member(json, "fileData"), "fileUri"),
                .call = json::given_member(json, "functionCall"),
                .response = json::given_member(json, "functionResponse")};
  const std::string_view data = json::given_member(json, "inlineData");
  if (!data.empty()) {
    part.url = "data:" + json::member_text(data, "mimeType") + ";base64," +
               json::member_text(data, "data");
  }
  return part;
}

// Content as Chat Completions has it: a string for a text alone, else parts.
RawJson gemini_content(const std::vector<WirePart>& parts) {
  RawJson content;
  if (parts.empty()) return {"null"};
  if (parts.size() == 1 && parts.front().has_text) {
    json::append_string(content.text, parts.front().text);
    return content;
  }
  content.text.push_back('[');
  for (const WirePart& part : parts) {
    if (content.text.size() > 1) content.text.push_back(',');
    json::ObjectWriter object(content.text);
    object.string("type", part.has_text ? "text" : "image_url");
    if (part.has_text) {
      object.string("text", part.text);
    } else {
      json::ObjectWriter image(object.key("image_url"));
      image.string("url", part.url);
      image.close();
    }
    object.close();
  }
  content.text.push_back(']');
  return content;
}

// {"output":"text"} and {"error":"text"} are that text; any other object is its JSON.
Message to_result(std::string_view json) {
  Message result{.role = Role::tool,
                 .name = json::member_text(json, "name"),
                 .tool_call_id = json::member_text(json, "id")};
  const std::string_view response = json::given_member(json, "response");
  const std::string output = json::member_text(response, "output");
  const std::string error = json::member_text(response, "error");
  json::append_string(result.content.text, !error.empty()    ? std::string_view(error)
                                           : !output.empty() ? std::string_view(output)
                                                             : response);
  if (!error.empty()) result.extra.push_back({"is_error", {"true"}});
  return result;
}

void append_gemini_detail(std::string& out, const WirePart& part) {
  if (!out.empty()) out.push_back(',');
  json::ObjectWriter item(out);
  item.string("type", "reasoning.encrypted");
  item.string("data", part.signature);
  item.string("format", "google-gemini-v1");
  item.close();
}

void add_model(std::vector<WirePart> parts, Request& request) {
  Message message{.role = Role::assistant};
  std::vector<WirePart> prose;
  std::string details;
  for (WirePart& part : parts) {
    if (!part.signature.empty()) append_gemini_detail(details, part);
    if (!part.call.empty()) {
      message.calls.push_back({.id = json::member_text(part.call, "id"),
                               .name = json::member_text(part.call, "name"),
                               .arguments = std::string(json::given_member(part.call, "args")),
                               .extra = {}});
    } else if (!part.thought && (!part.text.empty() || !part.url.empty())) {
      prose.push_back(std::move(part));
    }
  }
  message.content = gemini_content(prose);
  if (!details.empty()) message.extra.push_back({"reasoning_details", {"[" + details + "]"}});
  request.messages.push_back(std::move(message));
}

// Results are messages of their own.
void add_gemini_user(std::vector<WirePart> parts, Request& request, Role role) {
  std::vector<WirePart> rest;
  for (WirePart& part : parts) {
    if (part.response.empty()) {
      rest.push_back(std::move(part));
    } else {
      request.messages.push_back(to_result(part.response));
    }
  }
  if (!rest.empty()) request.messages.push_back({.role = role, .content = gemini_content(rest)});
}

void read_content(std::string_view json, Request& request, Role other) {
  std::vector<WirePart> parts;
  each_element(json::given_member(json, "parts"),
               [&](std::string_view part) { parts.push_back(read_part(part)); });
  if (json::member_text(json, "role") == "model") return add_model(std::move(parts), request);
  add_gemini_user(std::move(parts), request, other);
}

void read_gemini_tool(std::string_view json, Request& request) {
  const std::string_view declared = json::given_member(json, "functionDeclarations");
  if (declared.empty()) return request.other_tools.push_back({std::string(json)});
  each_element(declared, [&](std::string_view declaration) {
    std::string_view schema = json::given_member(declaration, "parametersJsonSchema");
    if (schema.empty()) schema = json::given_member(declaration, "parameters");
    request.tools.push_back({.name = json::member_text(declaration, "name"),
                             .description = json::member_text(declaration, "description"),
                             .parameters = {std::string(schema)},
                             .extra = {},
                             .outer_extra = {}});
  });
}

void read_tool_config(std::string_view json, ToolChoice& choice) {
  using Mode = ToolChoice::Mode;
  const std::string_view config = json::given_member(json, "functionCallingConfig");
  const std::string mode = json::member_text(config, "mode");
  if (mode == "AUTO") choice.mode = Mode::automatic;
  if (mode == "NONE") choice.mode = Mode::none;
  if (mode == "ANY") choice.mode = Mode::required;
  each_element(json::given_member(config, "allowedFunctionNames"), [&](std::string_view name) {
    json::Reader in(name);
    if (in.peek() != Kind::string) return;
    choice = {.mode = Mode::named, .name = std::string(in.string())};
  });
}

void read_config(json::Reader& in, Request& request) {
  if (in.peek() != Kind::object) return in.skip();
  for (std::string_view key; in.next_member(key);) {
    if (key == "candidateCount" && in.peek() == Kind::number) {
      const std::int64_t count = in.integer().value_or(1);
      request.choices = count >= 1 && count <= 16 ? static_cast<std::uint32_t>(count) : 1;
      continue;
    }
    std::string name(key);
    if (name == "stopSequences") name = "stop";
    if (name == "maxOutputTokens") name = "max_tokens";
    request.extra.push_back({std::move(name), {std::string(in.raw())}});
  }
}

}  // namespace

bool is_gemini_path(std::string_view path) {
  return path.ends_with(kWhole) || path.ends_with(kStreamed);
}

Result<Request> decode_gemini_request(std::string_view target, std::string_view body) {
  const std::size_t question = std::min(target.find('?'), target.size());
  const std::string_view path = target.substr(0, question);
  const std::string_view model = path.substr(path.rfind('/') + 1);
  Request request{.model = std::string(model.substr(0, model.rfind(':'))),
                  .stream = path.ends_with(kStreamed),
                  .include_usage = true};
  if (target.substr(question).find("alt=sse") == std::string_view::npos) {
    request.stream_options.push_back({std::string(kArrayOption), {"true"}});
  }
  Request system;
  json::Reader in(body);
  for (std::string_view key; in.next_member(key);) {
    if (key == "contents") {
      each_element(in.raw(),
                   [&](std::string_view json) { read_content(json, request, Role::user); });
    } else if (key == "systemInstruction") {
      read_content(in.raw(), system, Role::system);
    } else if (key == "tools") {
      each_element(in.raw(), [&](std::string_view json) { read_gemini_tool(json, request); });
    } else if (key == "toolConfig") {
      read_tool_config(in.raw(), request.tool_choice);
    } else if (key == "generationConfig") {
      read_config(in, request);
    } else {
      const std::string name(key);
      request.extra.push_back({name, {std::string(in.raw())}});
    }
  }
  if (!in.finish()) {
    return fail(ErrorCode::invalid_request,
                "the body is not a JSON object: " + std::string(in.error().message));
  }
  request.messages.insert(request.messages.begin(), system.messages.begin(), system.messages.end());
  return request;
}

}  // namespace callgate::script
