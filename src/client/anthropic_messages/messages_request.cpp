#include "client/anthropic_messages/messages_request.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "chat/content.h"
#include "client/anthropic_messages/anthropic_messages.h"
#include "json/member.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

Error body_error(const json::ReadError& fault) {
  return {.code = ErrorCode::invalid_request,
          .message = "the body is not valid JSON: " + std::string(fault.message) + " at byte " +
                     std::to_string(fault.offset)};
}

std::string quoted_text(std::string_view text) {
  std::string json;
  json::append_string(json, text);
  return json;
}

}  // namespace

Result<Request> MessagesReader::read(bool counting) {
  json::Reader whole(body_);
  whole.skip();
  if (!whole.finish()) return tl::unexpected(body_error(whole.error()));
  request_.origin = kMessagesName;
  request_.include_usage = true;
  const bool good =
      read_body() && (!request_.model.empty() || missing("model", "the name of a model")) &&
      (has_messages_ || missing("messages", "an array of messages")) &&
      (has_max_tokens_ || counting || missing("max_tokens", "a whole number of at least 1"));
  if (!good) return tl::unexpected(std::move(blocks_.error()));
  choose_tools();
  for (const std::string& lost : blocks_.lost()) add_native(lost, {});
  read_headers();
  request_.body.text = body_;
  return std::move(request_);
}

bool MessagesReader::read_body() {
  json::Reader in(body_);
  const bool object = in.peek() == json::Kind::object;
  if (!object) {
    blocks_.error() = {
        .code = ErrorCode::invalid_request,
        .message = "the body is " + std::string(found_kind(body_)) + ", expected a JSON object"};
    return false;
  }
  std::string name;
  for (std::string_view key; in.next_member(key);) {
    name = key;
    if (!read_field(name, in.raw())) return false;
  }
  return true;
}

bool MessagesReader::read_field(const std::string& name, std::string_view json) {
  const Path path(name);
  if (name == "messages") return read_messages(json);
  if (name == "model") return blocks_.take_text(path, json, request_.model);
  if (json == "null") return true;
  if (name == "system") return read_system(json);
  if (name == "tools") return read_tools(json);
  if (name == "tool_choice") return read_tool_choice(json);
  if (name == "stream") return read_stream(json);
  if (name == "stop_sequences") return read_stop(json);
  if (name == "max_tokens") {
    has_max_tokens_ = true;
    return read_number(path, json, 1, HUGE_VAL, true);
  }
  if (name == "temperature" || name == "top_p") return read_number(path, json, 0, 1, false);
  if (name == "top_k") return read_number(path, json, 0, HUGE_VAL, true);
  if (name == "output_config") return read_output_config(json);
  if (name == "metadata") return read_metadata(json);
  if (name == "service_tier") return read_service_tier(json);
  if (name == "callgate") {
    set_extra(name, json);
    return true;
  }
  if (name == "thinking" && !blocks_.expect(path, json, json.starts_with('{'), "an object")) {
    return false;
  }
  // The client believes that they were checked unless it is refused. Likewise a request that continues a thread holds only what is
  // new: the rest is with the API. One that begins a thread holds everything.
  const bool continues = name == "thread" && json::member_text(json, "type") != "create";
  const bool vital = name == "safeguards" || continues;
  add_native(name, json,
             vital                                         ? NativeField::Elsewhere::refused
             : name == "cache_control" || name == "thread" ? NativeField::Elsewhere::unsaid
                                                           : NativeField::Elsewhere::named);
  return true;
}

bool MessagesReader::read_number(const Path& path, std::string_view json, double least, double most,
                                 bool whole) {
  double value = 0;
  const auto [end, status] = std::from_chars(json.data(), json.data() + json.size(), value);
  const bool number = status == std::errc() && end == json.data() + json.size();
  const bool good =
      number && value >= least && value <= most && (!whole || std::floor(value) == value);
  if (!good) {
    std::string expected = whole ? "a whole number of at least " : "a number from ";
    json::append_integer(expected, static_cast<std::int64_t>(least));
    if (!whole) expected.append(" to ").append(std::to_string(static_cast<int>(most)));
    return blocks_.fault(path, number ? json : found_kind(json), expected);
  }
  set_extra(path.text(), json);
  return true;
}

bool MessagesReader::read_stream(std::string_view json) {
  if (!blocks_.expect(Path("stream"), json, json == "true" || json == "false", "true or false")) {
    return false;
  }
  request_.stream = json == "true";
  return true;
}

bool MessagesReader::read_stop(std::string_view json) {
  const Path path("stop_sequences");
  if (!blocks_.expect(path, json, json.starts_with('['), "an array of strings")) return false;
  json::Reader in(json);
  std::size_t count = 0;
  for (; in.next_element(); ++count) {
    const std::string_view element = in.raw();
    if (!blocks_.expect(Path(path, count), element, element.starts_with('"'), "a string")) {
      return false;
    }
  }
  if (count > 0) set_extra("stop", json);
  return true;
}

// {"effort":"high","format":{"type":"json_schema","schema":{...}}}
bool MessagesReader::read_output_config(std::string_view json) {
  const Path path("output_config");
  if (!blocks_.expect(path, json, json.starts_with('{'), "an object")) return false;
  json::Reader in(json);
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    const std::string_view value = in.raw();
    if (value == "null") continue;
    const std::string_view schema =
        name == "format" ? json::given_member(value, "schema") : std::string_view();
    if (name == "effort") {
      if (!blocks_.expect(Path(path, name), value, value.starts_with('"'), "a string"))
        return false;
      set_extra("reasoning_effort", value);
    } else if (name == "format" &&
               !blocks_.expect(Path(path, name), value, value.starts_with('{'), "an object")) {
      return false;
    } else if (!schema.empty() && json::member_text(value, "type") == "json_schema") {
      set_extra("response_format",
                R"({"type":"json_schema","json_schema":{"name":"answer","schema":)" +
                    std::string(schema) + "}}");
    } else {
      add_native("output_config." + name, {});
    }
  }
  return true;
}

bool MessagesReader::read_metadata(std::string_view json) {
  const Path path("metadata");
  if (!blocks_.expect(path, json, json.starts_with('{'), "an object")) return false;
  if (const std::string_view user = json::given_member(json, "user_id"); !user.empty()) {
    if (!blocks_.expect(Path(path, "user_id"), user, user.starts_with('"'), "a string")) {
      return false;
    }
    set_extra("user", user);
  }
  return true;
}

bool MessagesReader::read_service_tier(std::string_view json) {
  std::string tier;
  if (!blocks_.take_text(Path("service_tier"), json, tier)) return false;
  if (tier == "auto") {
    set_extra("service_tier", json);
  } else if (tier == "standard_only") {
    set_extra("service_tier", "\"default\"");
  } else {
    add_native("service_tier", json);
  }
  return true;
}

// Which of the betas an upstream gets is for its configuration to say.
void MessagesReader::read_headers() {
  for (const std::string_view name : {"anthropic-version", "anthropic-beta"}) {
    const std::string_view value = asked_.find_header(name);
    if (value.empty()) continue;
    add_native(
        name, quoted_text(value),
        name == "anthropic-beta" ? NativeField::Elsewhere::named : NativeField::Elsewhere::unsaid);
  }
}

void MessagesReader::add_native(std::string_view name, std::string_view json,
                                NativeField::Elsewhere elsewhere) {
  request_.native.push_back({std::string(name), {std::string(json)}, elsewhere});
}

void MessagesReader::set_extra(std::string_view name, std::string_view json) {
  std::erase_if(request_.extra, [&](const ExtraField& field) { return field.name == name; });
  request_.extra.push_back({std::string(name), {std::string(json)}});
}

bool MessagesReader::missing(std::string_view name, std::string_view expected) {
  return blocks_.expect(Path(name), {}, false, expected);
}

BodySpan MessagesReader::span_of(std::string_view json) const {
  return {static_cast<std::size_t>(json.data() - body_.data()), json.size()};
}

Result<Request> decode_messages(const ClientRequest& request) {
  return MessagesReader(request).read(request.path.ends_with("/count_tokens"));
}

}  // namespace callgate::client
