#include "client/openai_responses/responses_request.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "chat/body_mark.h"
#include "chat/content.h"
#include "client/body.h"
#include "client/openai_responses/openai_responses.h"
#include "client/openai_responses/responses_items.h"
#include "client/openai_responses/responses_tools.h"
#include "json/member.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

// Fields that Chat Completions, or servers that speak it, have under the same name.
constexpr std::array<std::string_view, 15> kSharedFields = {"callgate",
                                                            "chat_template_kwargs",
                                                            "frequency_penalty",
                                                            "logit_bias",
                                                            "min_p",
                                                            "presence_penalty",
                                                            "prompt_cache_key",
                                                            "prompt_cache_retention",
                                                            "repetition_penalty",
                                                            "safety_identifier",
                                                            "seed",
                                                            "service_tier",
                                                            "stop",
                                                            "top_k",
                                                            "user"};

// Fields that callgate serves itself, or that change nothing for a model.
constexpr std::array<std::string_view, 9> kServedFields = {
    "background", "client_metadata", "generate",       "metadata", "previous_response_id",
    "store",      "stream_id",       "stream_options", "type"};

// Fields that are text wherever they go.
constexpr std::array<std::string_view, 7> kTextFields = {"previous_response_id",
                                                         "prompt_cache_key",
                                                         "prompt_cache_retention",
                                                         "safety_identifier",
                                                         "service_tier",
                                                         "truncation",
                                                         "user"};

template <std::size_t N>
bool is_among(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Result<Request> ResponsesRequestReader::read() {
  in_.skip();
  if (!in_.finish()) return tl::unexpected(syntax_error(body_, in_.error()));
  in_.reset(body_);
  if (!read_body() || !read_conversation()) return tl::unexpected(std::move(error_));
  request_.include_usage = true;
  request_.origin = kOpenaiResponses.name;
  request_.body.text = body_;
  mark_body(request_);
  return std::move(request_);
}

bool ResponsesRequestReader::read_body() {
  if (in_.peek() != json::Kind::object) {
    error_ = {
        .code = ErrorCode::invalid_request,
        .message = "the body is " + std::string(name_of(in_.peek())) + ", expected a JSON object"};
    return false;
  }
  std::string name;
  for (std::string_view key; in_.next_member(key);) {
    name = key;
    const std::string_view value = in_.raw();
    if (value != "null" && !read_field(name, value)) return false;
  }
  if (request_.model.empty()) return fault({"model"}, "missing", "the name of a model");
  return true;
}

bool ResponsesRequestReader::read_field(std::string_view name, std::string_view value) {
  if (name == "input") return (input_ = value, true);
  if (name == "tools") return (tools_ = value, true);
  if (name == "tool_choice") return (tool_choice_ = value, true);
  if (name == "instructions") return (instructions_ = value, true);
  if (name == "model") {
    json::Reader in(value);
    if (in.peek() != json::Kind::string) return fault_of({name}, value, "the name of a model");
    request_.model = in.string();
    return true;
  }
  if (name == "stream") return read_switch(name, value, request_.stream);
  if (name == "parallel_tool_calls") {
    return read_switch(name, value, request_.parallel_tool_calls.emplace());
  }
  if (name == "store" || name == "background" || name == "generate") {
    bool ignored = false;
    return read_switch(name, value, ignored);
  }
  if (name == "max_output_tokens" || name == "max_tool_calls") {
    return read_whole_number(name, value);
  }
  if (name == "temperature") return read_number(name, value, 2);
  if (name == "top_p") return read_number(name, value, 1);
  if (name == "text") return read_text(value);
  if (name == "reasoning") return read_reasoning(value);
  if (name == "include") return read_include(value);
  if (name == "top_logprobs") return read_logprobs(value);
  if (name == "metadata") return read_metadata(value);
  if (name == "stream_options" && !value.starts_with('{')) {
    return fault_of({name}, value, "an object");
  }
  if (name == "conversation" && json::member_text(value, "id").empty() &&
      (!value.starts_with('"') || value == "\"\"")) {
    return fault_of({name}, value, "an id, or an object with one");
  }
  if (is_among(kTextFields, name) && !value.starts_with('"')) {
    return fault_of({name}, value, "a string");
  }
  if (name == "truncation") {
    if (value != "\"disabled\"") keep_to_itself(name, false);
    return true;
  }
  if (is_among(kSharedFields, name)) {
    pass(name, value);
  } else if (!is_among(kServedFields, name)) {
    keep_to_itself(name, name == "prompt" || name == "conversation");
  }
  return true;
}

void ResponsesRequestReader::pass(std::string_view name, std::string_view value) {
  request_.extra.push_back({std::string(name), {std::string(value)}});
}

void ResponsesRequestReader::keep_to_itself(std::string_view name, bool changes_meaning) {
  request_.client.own_fields.push_back({std::string(name), changes_meaning});
}

bool ResponsesRequestReader::fault_of(const FieldPath& path, std::string_view value,
                                      std::string_view expected) {
  json::Reader in(value);
  return fault(path, name_of(in.peek()), expected);
}

bool ResponsesRequestReader::read_switch(std::string_view name, std::string_view value,
                                         bool& into) {
  if (value != "true" && value != "false") return fault_of({name}, value, "true or false");
  into = value == "true";
  return true;
}

bool ResponsesRequestReader::read_whole_number(std::string_view name, std::string_view value) {
  constexpr std::string_view kExpected = "a whole number of at least 1";
  json::Reader in(value);
  if (in.peek() != json::Kind::number) return fault_of({name}, value, kExpected);
  if (in.integer().value_or(0) < 1) return fault({name}, value, kExpected);
  if (name == "max_output_tokens") {
    pass("max_completion_tokens", value);
  } else {
    keep_to_itself(name, false);
  }
  return true;
}

bool ResponsesRequestReader::read_number(std::string_view name, std::string_view value,
                                         double most) {
  const std::string expected = most > 1 ? "a number from 0 to 2" : "a number from 0 to 1";
  json::Reader in(value);
  if (in.peek() != json::Kind::number) return fault_of({name}, value, expected);
  double read = 0;
  const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), read);
  if (status != std::errc() || read < 0 || read > most) return fault({name}, value, expected);
  pass(name, value);
  return true;
}

bool ResponsesRequestReader::read_logprobs(std::string_view value) {
  constexpr std::string_view kExpected = "a whole number from 0 to 20";
  json::Reader in(value);
  if (in.peek() != json::Kind::number) return fault_of({"top_logprobs"}, value, kExpected);
  const std::int64_t count = in.integer().value_or(-1);
  if (count < 0 || count > 20) return fault({"top_logprobs"}, value, kExpected);
  if (count > 0) pass("top_logprobs", value);
  return true;
}

// {"trace":"a1"}: it stays here, and is repeated in the answer.
bool ResponsesRequestReader::read_metadata(std::string_view value) {
  json::Reader in(value);
  if (in.peek() != json::Kind::object) return fault_of({"metadata"}, value, "an object");
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    if (in.peek() != json::Kind::string) {
      return fault(FieldPath{"metadata"}.with(name), name_of(in.peek()), "a string");
    }
    in.skip();
  }
  return true;
}

// {"format":{"type":"json_schema","name":"x","schema":{...}},"verbosity":"low"}
bool ResponsesRequestReader::read_text(std::string_view value) {
  if (!value.starts_with('{')) return fault_of({"text"}, value, "an object");
  if (const auto verbosity = json::given_member(value, "verbosity"); !verbosity.empty()) {
    if (!verbosity.starts_with('"')) {
      return fault_of(FieldPath{"text"}.with("verbosity"), verbosity, "a string");
    }
    pass("verbosity", verbosity);
  }
  const std::string_view format = json::given_member(value, "format");
  return format.empty() || read_format(format);
}

// Chat Completions nests what is flat here.
bool ResponsesRequestReader::read_format(std::string_view value) {
  const FieldPath path = FieldPath{"text"}.with("format");
  if (!value.starts_with('{')) return fault_of(path, value, "an object");
  const std::string type = json::member_text(value, "type");
  if (type.empty()) return fault(path.with("type"), "missing", "text|json_object|json_schema");
  if (type == "text") return true;
  if (type != "json_schema") {
    pass("response_format", value);
    return true;
  }
  for (const std::string_view member : {"name", "schema"}) {
    const bool text = member == "name";
    const std::string_view given = json::given_member(value, member);
    if (given.starts_with(text ? '"' : '{')) continue;
    const std::string at = "format." + std::string(member);
    const std::string_view expected = text ? "a string" : "a JSON schema object";
    return given.empty() ? fault(FieldPath{"text"}.with(at), "missing", expected)
                         : fault_of(FieldPath{"text"}.with(at), given, expected);
  }
  std::string format;
  json::ObjectWriter object(format);
  object.string("type", type);
  json::ObjectWriter schema(object.key("json_schema"));
  json::Reader in(value);
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    const std::string_view member = in.raw();
    if (name != "type" && member != "null") schema.raw_escaped(name, member);
  }
  schema.close();
  object.close();
  pass("response_format", format);
  return true;
}

bool ResponsesRequestReader::read_reasoning(std::string_view value) {
  if (!value.starts_with('{')) return fault_of({"reasoning"}, value, "an object");
  const std::string_view summary = json::given_member(value, "summary");
  if (!summary.empty() && !summary.starts_with('"')) {
    return fault_of(FieldPath{"reasoning"}.with("summary"), summary, "a string");
  }
  const std::string_view effort = json::given_member(value, "effort");
  if (effort.empty()) return true;
  if (!effort.starts_with('"')) {
    return fault_of(FieldPath{"reasoning"}.with("effort"), effort, "a string");
  }
  pass("reasoning_effort", effort);
  return true;
}

bool ResponsesRequestReader::read_include(std::string_view value) {
  json::Reader in(value);
  if (in.peek() != json::Kind::array) return fault_of({"include"}, value, "an array of strings");
  for (std::size_t i = 0; in.next_element(); ++i) {
    if (in.peek() != json::Kind::string) {
      return fault(FieldPath{"include", i}, name_of(in.peek()), "a string");
    }
    if (in.string() == "message.output_text.logprobs") pass("logprobs", "true");
  }
  return true;
}

bool ResponsesRequestReader::read_conversation() {
  json::Reader in;
  ResponsesTools tools(in, request_);
  if (!tools_.empty() && !tools.read(tools_)) return (error_ = tools.take_error(), false);
  if (!instructions_.empty()) {
    if (!instructions_.starts_with('"'))
      return fault_of({"instructions"}, instructions_, "a string");
    if (instructions_ != "\"\"") {
      request_.messages.push_back({.role = Role::system, .content = {std::string(instructions_)}});
    }
  }
  if (input_.empty()) return fault({"input"}, "missing", "a string or an array of items");
  in.reset(input_);
  ResponsesItemReader items(in, request_, tools);
  if (!items.read()) return (error_ = items.take_error(), false);
  if (!tool_choice_.empty() && !tools.read_choice(tool_choice_)) {
    return (error_ = tools.take_error(), false);
  }
  if (request_.client.compacts) request_.tool_choice = {.mode = ToolChoice::Mode::none};
  if (request_.tools.empty()) drop_idle_choice();
  return true;
}

// Chat Completions refuses settings of tools where there are none; here they are usual.
void ResponsesRequestReader::drop_idle_choice() {
  using Mode = ToolChoice::Mode;
  const Mode mode = request_.tool_choice.mode;
  if (mode == Mode::automatic || mode == Mode::none) request_.tool_choice = {};
  request_.parallel_tool_calls.reset();
}

Result<Request> decode_openai_responses(std::string_view body) {
  json::Reader in(body);
  return ResponsesRequestReader(body, in).read();
}

}  // namespace callgate::client
