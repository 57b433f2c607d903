#include "room/room_input.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/quoted.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::server {
namespace {

constexpr std::size_t kLongestId = 128;

struct Type {
  std::string_view word;
  RoomInput::Kind kind;
};
constexpr Type kTypes[] = {{"user_message", RoomInput::Kind::user_message},
                           {"cancel", RoomInput::Kind::cancel},
                           {"inject", RoomInput::Kind::inject},
                           {"approve", RoomInput::Kind::approve},
                           {"deny", RoomInput::Kind::deny}};

// Members of a Chat request that a room decides.
constexpr std::string_view kNotHere[] = {"messages", "stream",    "stream_options",
                                         "n",        "functions", "function_call"};

tl::unexpected<Error> wrong(std::string_view name, std::string_view what) {
  return fail(ErrorCode::invalid_request, shortened(name) + ": " + std::string(what),
              shortened(name));
}

// What the frame says, before it is known what type it has.
struct Frame {
  std::optional<std::string> type;
  std::optional<std::string> id;
  std::optional<std::string> text;
  std::optional<std::string> system;
  std::optional<std::string> model;
  std::optional<std::int64_t> run;
  std::string content;   // JSON
  std::string tools;     // JSON, a list
  std::string callgate;  // JSON, an object
  std::string rest;      // members of the request, as they are
};

std::optional<std::string>* string_member(Frame& frame, std::string_view name) {
  if (name == "type") return &frame.type;
  if (name == "id") return &frame.id;
  if (name == "text" || name == "reason") return &frame.text;
  if (name == "system") return &frame.system;
  if (name == "model") return &frame.model;
  return nullptr;
}

Result<void> read_member(json::Reader& in, const std::string& name, Frame& frame) {
  const json::Kind kind = in.peek();
  if (auto* text = string_member(frame, name); text != nullptr) {
    if (kind != json::Kind::string) return wrong(name, "expected a string");
    text->emplace(in.string());
  } else if (name == "run") {
    if (kind == json::Kind::number) frame.run = in.integer();
    if (!frame.run || *frame.run < 1 || *frame.run > UINT32_MAX) {
      return wrong(name, "expected the number of a run");
    }
  } else if (name == "content") {
    frame.content = in.raw();
  } else if (name == "tools") {
    if (kind != json::Kind::array) return wrong(name, "expected a list of names");
    frame.tools = in.raw();
  } else if (name == "callgate") {
    if (kind != json::Kind::object) return wrong(name, "expected an object");
    frame.callgate = in.raw();
  } else {
    const bool refused =
        std::find(std::begin(kNotHere), std::end(kNotHere), name) != std::end(kNotHere);
    if (refused) return wrong(name, "not here, the room keeps the conversation and streams");
    json::append_string(frame.rest.append(","), name);
    frame.rest.append(":").append(in.raw());
  }
  return {};
}

// The room's own wishes come first, so that the message may say otherwise.
std::string loop_member(const Frame& frame, std::string_view conversation) {
  std::string out = "{\"loop\":true,\"show_tool_calls\":true";
  if (!conversation.empty()) json::append_string(out.append(",\"conversation\":"), conversation);
  if (!frame.tools.empty()) out.append(",\"tools\":").append(frame.tools);
  std::string_view own = frame.callgate;
  if (!own.empty()) own = own.substr(1, own.size() - 2);
  if (own.find_first_not_of(" \t\r\n") != std::string_view::npos) out.append(",").append(own);
  return out += '}';
}

Result<std::string> chat_body(const Frame& frame, const RoomDefaults& defaults) {
  if (frame.text.has_value() == !frame.content.empty()) {
    return wrong("text", "expected either text or content");
  }
  if (frame.text && frame.text->empty()) return wrong("text", "is empty");
  const std::string_view chosen = frame.model ? std::string_view(*frame.model) : defaults.model;
  if (chosen.empty()) return wrong("model", "missing, and the room was joined without ?model=");
  std::string body = "{\"model\":";
  json::append_string(body, chosen);
  body.append(",\"stream\":true,\"messages\":[");
  if (frame.system) {
    json::append_string(body.append("{\"role\":\"system\",\"content\":"), *frame.system);
    body.append("},");
  }
  body.append("{\"role\":\"user\",\"content\":");
  if (frame.text) {
    json::append_string(body, *frame.text);
  } else {
    body.append(frame.content);
  }
  return body.append("}],\"callgate\":")
      .append(loop_member(frame, defaults.conversation))
      .append(frame.rest)
      .append("}");
}

}  // namespace

Result<RoomInput> read_room_input(std::string_view json, const RoomDefaults& defaults) {
  json::Reader check(json);
  check.skip();
  if (!check.finish()) {
    return fail(ErrorCode::invalid_request,
                "the frame is not valid JSON: " + std::string(check.error().message) + " at byte " +
                    std::to_string(check.error().offset));
  }
  json::Reader in(json);
  if (in.peek() != json::Kind::object) {
    return fail(ErrorCode::invalid_request, "the frame is not a JSON object");
  }
  Frame frame;
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    if (auto read = read_member(in, name, frame); !read) return tl::unexpected(read.error());
  }
  const auto* type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                  [&](const Type& known) { return frame.type == known.word; });
  if (type == std::end(kTypes)) {
    return wrong("type", "expected user_message, cancel, inject, approve or deny");
  }
  RoomInput input;
  input.kind = type->kind;
  if (frame.id && (frame.id->empty() || frame.id->size() > kLongestId)) {
    return wrong("id", "expected 1 to 128 bytes");
  }
  input.id = frame.id.value_or("");
  switch (input.kind) {
    case RoomInput::Kind::user_message: {
      auto body = chat_body(frame, defaults);
      if (!body) return tl::unexpected(body.error());
      input.body = std::move(*body);
      return input;
    }
    case RoomInput::Kind::cancel:
      return input;
    case RoomInput::Kind::inject:
      if (!frame.text || frame.text->empty()) return wrong("text", "missing, expected a string");
      input.text = std::move(*frame.text);
      return input;
    case RoomInput::Kind::approve:
    case RoomInput::Kind::deny:
      if (!frame.run) return wrong("run", "missing, expected the number of a run");
      input.run = static_cast<loop::RunId>(*frame.run);
      input.text = frame.text.value_or("");
      return input;
  }
  return input;
}

Error as_room_error(Error error) {
  constexpr std::string_view kPrefix = "messages[";
  if (!error.param.starts_with(kPrefix)) return error;
  const std::size_t dot = error.param.find("].");
  if (dot == std::string::npos) return error;
  const std::string whole = error.param;
  error.param = whole.substr(dot + 2);
  if (error.message.starts_with(whole)) error.message.replace(0, whole.size(), error.param);
  return error;
}

}  // namespace callgate::server
