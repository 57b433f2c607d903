#include "client/ollama/ollama_request.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "chat/content.h"
#include "client/body.h"
#include "client/ollama/ollama.h"
#include "client/ollama/ollama_content.h"
#include "client/openai_chat/tool_reader.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

struct OllamaOption {
  std::string_view name;
  std::string_view field;   // of the canonical request
  bool above_zero = false;  // others mean that there is no limit
};
constexpr auto kOllamaOptions = std::to_array<OllamaOption>({
    {"num_predict", "max_tokens", true},
    {"temperature", "temperature"},
    {"top_p", "top_p"},
    {"top_k", "top_k"},
    {"min_p", "min_p"},
    {"typical_p", "typical_p"},
    {"seed", "seed"},
    {"presence_penalty", "presence_penalty"},
    {"frequency_penalty", "frequency_penalty"},
    {"repeat_penalty", "repeat_penalty"},
});

}  // namespace

Result<Request> decode_ollama(const ClientRequest& request) {
  if (auto good = check_body(request.body); !good) return tl::unexpected(good.error());
  json::Reader in(request.body);
  // A body without its path, from a log, is of /api/generate if it has what only that has.
  bool generate = request.path.ends_with("/generate");
  if (request.path.empty()) {
    for (std::string_view key; in.next_member(key); in.skip()) generate |= key == "prompt";
    in.reset(request.body);
  }
  auto read = OllamaRequestReader(in, generate).read();
  if (read) read->body.text = request.body;
  return read;
}

Result<Request> OllamaRequestReader::read() {
  request_.stream = true;
  request_.include_usage = true;
  request_.origin = kOllama.name;
  if (generate_) request_.form = kOllamaGenerate;
  std::string name;
  for (std::string_view key; in_.next_member(key);) {
    name = key;
    if (is_null()) {
      in_.null();
    } else if (!read_field(name)) {
      return tl::unexpected(std::move(error_));
    }
  }
  if (!check_whole()) return tl::unexpected(std::move(error_));
  return std::move(request_);
}

bool OllamaRequestReader::read_field(const std::string& name) {
  if (name == "model") {
    has_model_ = true;
    return read_string({"model"}, request_.model);
  }
  if (name == "stream") return read_boolean({"stream"}, request_.stream);
  if (name == "options") return read_options();
  if (name == "format") return read_format();
  if (name == "think") return read_think();
  if (generate_) {
    bool known = true;
    const bool good = read_generate_field(name, known);
    if (!good || known) return good;
  } else if (name == "messages") {
    return read_messages();
  } else if (name == "tools") {
    return read_tools();
  }
  keep(request_.extra, name);
  return true;
}

bool OllamaRequestReader::read_generate_field(const std::string& name, bool& known) {
  if (name == "prompt") return read_string({"prompt"}, prompt_);
  if (name == "system") return read_string({"system"}, system_);
  if (name == "images") return read_images({"images"}, images_);
  known = false;
  return true;
}

bool OllamaRequestReader::read_tools() {
  ToolReader reader(in_);
  if (reader.read(request_.tools, request_.other_tools)) return true;
  error_ = reader.take_error();
  return false;
}

bool OllamaRequestReader::read_number(const FieldPath& path, std::string_view field,
                                      bool above_zero) {
  if (in_.peek() != json::Kind::number) return fault_kind(path, "a number");
  const std::string_view text = in_.number();
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  if (above_zero && value <= 0) return true;
  request_.extra.push_back({std::string(field), {std::string(text)}});
  return true;
}

bool OllamaRequestReader::read_options() {
  if (in_.peek() != json::Kind::object) return fault_kind({"options"}, "an object");
  std::string others;
  std::string name;
  for (std::string_view key; in_.next_member(key);) {
    name = key;
    if (is_null()) {
      in_.null();
    } else if (!read_option(name, others)) {
      return false;
    }
  }
  if (!others.empty()) request_.extra.push_back({"options", {others + "}"}});
  return true;
}

// Options that other formats have are canonical fields; the others stay together.
bool OllamaRequestReader::read_option(const std::string& name, std::string& others) {
  const FieldPath path = FieldPath{"options"}.with(name);
  for (const OllamaOption& option : kOllamaOptions) {
    if (option.name == name) return read_number(path, option.field, option.above_zero);
  }
  if (name == "stop") return keep_texts(request_.extra, name, path);
  others.push_back(others.empty() ? '{' : ',');
  json::append_string(others, name);
  others.append(":").append(in_.raw());
  return true;
}

// "json", or a JSON schema.
bool OllamaRequestReader::read_format() {
  constexpr std::string_view kExpected = "\"json\" or a JSON schema";
  if (in_.peek() == json::Kind::object) {
    const std::string schema(in_.raw());
    request_.extra.push_back(
        {"response_format",
         {R"({"type":"json_schema","json_schema":{"name":"answer","schema":)" + schema + "}}"}});
    return true;
  }
  if (in_.peek() != json::Kind::string) return fault_kind({"format"}, kExpected);
  const std::string_view word = in_.string();
  if (word.empty()) return true;
  if (word != "json") return fault({"format"}, "another word", kExpected);
  request_.extra.push_back({"response_format", {R"({"type":"json_object"})"}});
  return true;
}

// Other formats have an effort. An upstream that speaks the same finds `think` itself in the body.
bool OllamaRequestReader::read_think() {
  const json::Kind kind = in_.peek();
  if (kind != json::Kind::boolean && kind != json::Kind::string) {
    return fault_kind({"think"}, "true, false, or low|medium|high");
  }
  const std::string raw(in_.raw());
  const std::string effort = raw == "true" ? "\"medium\"" : raw == "false" ? "\"none\"" : raw;
  request_.extra.push_back({"reasoning_effort", {effort}});
  return true;
}

bool OllamaRequestReader::check_whole() {
  if (!has_model_ || request_.model.empty()) {
    return fault({"model"}, has_model_ ? "empty" : "missing", "the name of a model");
  }
  if (generate_) {
    if (!system_.empty()) {
      request_.messages.push_back({.role = Role::system, .content = text_content(system_)});
    }
    if (prompt_.empty() && images_.empty()) return fault({"prompt"}, "empty", "a prompt");
    request_.messages.push_back({.role = Role::user, .content = ollama_content(prompt_, images_)});
    return true;
  }
  if (!has_messages_) return fault({"messages"}, "missing", "an array of messages");
  return !request_.messages.empty() || fault({"messages"}, "empty", "at least one message");
}

}  // namespace callgate::client
