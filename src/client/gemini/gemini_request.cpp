#include "client/gemini/gemini_request.h"

#include <algorithm>
#include <utility>

#include "base/url_query.h"
#include "client/body.h"
#include "client/gemini/gemini.h"
#include "json/member.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

constexpr std::string_view kCountTokens = "countTokens";

// /v1beta/models/a%2Fb:generateContent
struct GeminiPath {
  std::string model;
  std::string_view method;
};
GeminiPath split_path(std::string_view path) {
  constexpr std::string_view kModels = "/models/";
  GeminiPath split;
  const std::size_t colon = path.rfind(':');
  if (colon == std::string_view::npos) return split;
  split.method = path.substr(colon + 1);
  const std::size_t models = path.find(kModels);
  if (models == std::string_view::npos || models + kModels.size() > colon) return split;
  const std::size_t start = models + kModels.size();
  split.model = percent_decoded(path.substr(start, colon - start));
  return split;
}

bool wants_events(std::string_view query) {
  for (const UrlParameter& parameter : read_url_query(query)) {
    if (parameter.name == "alt" || parameter.name == "$alt") return parameter.value == "sse";
  }
  return false;
}

}  // namespace

std::string gemini_name(std::string_view key) {
  std::string name;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const bool joint =
        key[i] == '_' && i > 0 && i + 1 < key.size() && key[i + 1] >= 'a' && key[i + 1] <= 'z';
    name.push_back(joint ? static_cast<char>(key[++i] - 'a' + 'A') : key[i]);
  }
  return name;
}

// A body without its path, from a log, has no model.
Result<Request> decode_gemini(const ClientRequest& asked) {
  if (auto good = check_body(asked.body); !good) return tl::unexpected(good.error());
  const GeminiPath path = split_path(asked.path);
  Request request;
  request.origin = kGemini.name;
  request.model = path.model;
  request.stream = path.method == "streamGenerateContent";
  request.include_usage = request.stream;
  if (request.stream && !wants_events(asked.query)) request.form = kGeminiArray;
  if (!asked.path.empty() && request.model.empty()) {
    return tl::unexpected(Error{.code = ErrorCode::invalid_request,
                                .message = "model: missing, expected it in the path",
                                .param = "model"});
  }
  std::string_view body = asked.body;
  if (path.method == kCountTokens) {
    const std::string_view inner = json::given_member(body, "generateContentRequest");
    if (inner.starts_with('{')) body = inner;
  }
  request.body.text = body;
  json::Reader in(body);
  if (auto read = GeminiRequestReader(in, request).read(); !read) {
    return tl::unexpected(read.error());
  }
  return request;
}

Result<void> GeminiRequestReader::read() {
  for (std::string_view key; in_.next_member(key);) {
    const std::string own(key);
    const std::string name = gemini_name(own);
    if (is_null()) {
      in_.null();
    } else if (!read_field(own, name)) {
      return tl::unexpected(std::move(error_));
    }
  }
  if (!has_contents_ || request_.messages.empty()) {
    fault({"contents"}, has_contents_ ? "empty" : "missing", "an array of contents");
    return tl::unexpected(std::move(error_));
  }
  if (system_) request_.messages.insert(request_.messages.begin(), std::move(*system_));
  add_format();
  if (!others_.empty()) request_.extra.push_back({"generationConfig", {others_ + "}"}});
  // Of several names that the model may call, the others are not offered.
  if (allowed_.size() > 1) {
    std::erase_if(request_.tools, [&](const ToolSpec& tool) {
      return std::find(allowed_.begin(), allowed_.end(), tool.name) == allowed_.end();
    });
  }
  return {};
}

bool GeminiRequestReader::read_field(std::string_view key, const std::string& name) {
  if (name == "contents") return read_contents();
  if (name == "systemInstruction") return read_instruction();
  if (name == "tools") return read_tools();
  if (name == "toolConfig") return read_tool_config();
  if (name == "generationConfig") return read_config();
  if (name == "model") {
    in_.skip();  // the path says it
    return true;
  }
  keep(request_.extra, name == "safetySettings" || name == "cachedContent" ? name : key);
  return true;
}

bool GeminiRequestReader::read_contents() {
  has_contents_ = true;
  contents_.clear();
  if (in_.peek() != json::Kind::array) return fault_kind({"contents"}, "an array of contents");
  for (std::size_t i = 0; in_.next_element(); ++i) {
    if (!read_content(i)) return false;
  }
  return true;
}

bool GeminiRequestReader::read_content(std::size_t index) {
  const FieldPath path{"contents", index};
  if (in_.peek() != json::Kind::object) return fault_kind(path, "an object");
  std::string role = "user";
  std::vector<GeminiWirePart> parts;
  bool has_parts = false;
  for (std::string_view key; in_.next_member(key);) {
    if (key == "role") {
      if (!read_string(path.with("role"), role)) return false;
    } else if (key == "parts") {
      has_parts = true;
      if (!read_parts(path.with("parts"), parts)) return false;
    } else {
      in_.skip();
    }
  }
  if (!has_parts) return fault(path.with("parts"), "missing", "an array of parts");
  if (role == "model" || role == "assistant") {
    contents_.add_model(parts);
    return true;
  }
  if (role == "user" || role == "function" || role == "tool" || role.empty()) {
    contents_.add_user(parts);
    return true;
  }
  std::string found;
  json::append_string(found, std::string_view(role).substr(0, 64));
  return fault(path.with("role"), found, "user|model");
}

// A content, or nothing but a text.
bool GeminiRequestReader::read_instruction() {
  std::vector<GeminiWirePart> parts;
  if (in_.peek() == json::Kind::string) {
    parts.emplace_back().text = in_.string();
  } else if (in_.peek() == json::Kind::object) {
    for (std::string_view key; in_.next_member(key);) {
      if (key != "parts") {
        in_.skip();
      } else if (!read_parts(FieldPath{"systemInstruction"}.with("parts"), parts)) {
        return false;
      }
    }
  } else {
    return fault_kind({"systemInstruction"}, "a content");
  }
  std::vector<const GeminiWirePart*> all;
  for (const GeminiWirePart& part : parts) {
    if (!part.text || !part.text->empty()) all.push_back(&part);
  }
  if (all.empty()) return true;
  system_.emplace();
  system_->role = Role::system;
  system_->content = gemini_content(all);
  return true;
}

bool GeminiRequestReader::read_parts(FieldPath path, std::vector<GeminiWirePart>& parts) {
  if (in_.peek() == json::Kind::object) return read_part(path, parts.emplace_back());
  if (in_.peek() != json::Kind::array) return fault_kind(path, "an array of parts");
  while (in_.next_element()) {
    path.inner_index = parts.size();
    if (!read_part(path, parts.emplace_back())) return false;
  }
  return true;
}

bool GeminiRequestReader::read_part(const FieldPath& path, GeminiWirePart& part) {
  if (in_.peek() != json::Kind::object) return fault_kind(path, "an object");
  part.raw = in_.raw();
  json::Reader outer = std::exchange(in_, json::Reader(part.raw));
  bool good = true;
  for (std::string_view key; good && in_.next_member(key);) {
    const std::string own(key);
    if (is_null()) {
      in_.null();
    } else {
      good = read_part_field(path, own, gemini_name(own), part);
    }
  }
  in_ = std::move(outer);
  if (!good) return false;
  const bool empty = !part.text && !part.is_call && !part.is_response && part.kind.empty();
  if (empty && part.signature.empty()) {
    return fault(path, "an empty part", "text, inlineData, functionCall or the like");
  }
  if (empty) part.text.emplace();
  return true;
}

bool GeminiRequestReader::read_part_field(const FieldPath& path, std::string_view key,
                                          const std::string& name, GeminiWirePart& part) {
  if (name == "text") return read_string(path.with("text"), part.text.emplace());
  if (name == "thought") return read_boolean(path.with("thought"), part.thought);
  if (name == "thoughtSignature") {
    return read_string(path.with("thoughtSignature"), part.signature);
  }
  if (name == "functionCall") return read_call(path, part);
  if (name == "functionResponse") return read_response(path, part);
  const bool file = name == "fileData";
  if (name != "inlineData" && !file) {
    // Beside a known part it says something about it; alone it is a part of the API's own.
    const bool beside = name == "videoMetadata" || name == "mediaResolution";
    if (!beside && part.kind.empty()) part.kind = key;
    in_.skip();
    return true;
  }
  part.kind = key;
  if (in_.peek() != json::Kind::object) return fault_kind(path.with(name), "an object");
  for (std::string_view inner; in_.next_member(inner);) {
    const std::string member = gemini_name(inner);
    const std::string leaf = name + "." + member;
    if (member == "mimeType") {
      if (!read_string(path.with(leaf), part.media_type)) return false;
    } else if (file && member == "fileUri") {
      if (!read_string(path.with(leaf), part.file_uri)) return false;
    } else if (!file && member == "data") {
      if (in_.peek() != json::Kind::string) return fault_kind(path.with(leaf), "base64");
      part.data = in_.raw();
    } else {
      in_.skip();
    }
  }
  if (file ? part.file_uri.empty() : part.data.empty()) {
    return fault(path.with(file ? "fileData.fileUri" : "inlineData.data"), "missing", "it");
  }
  return true;
}

bool GeminiRequestReader::read_call(const FieldPath& path, GeminiWirePart& part) {
  if (in_.peek() != json::Kind::object) return fault_kind(path.with("functionCall"), "an object");
  part.is_call = true;
  for (std::string_view key; in_.next_member(key);) {
    if (key == "id") {
      if (!read_string(path.with("functionCall.id"), part.id)) return false;
    } else if (key == "name") {
      if (!read_string(path.with("functionCall.name"), part.name)) return false;
    } else if (key == "args" && !is_null()) {
      if (in_.peek() != json::Kind::object) {
        return fault_kind(path.with("functionCall.args"), "an object");
      }
      part.arguments = in_.raw();
    } else {
      in_.skip();
    }
  }
  return !part.name.empty() || fault(path.with("functionCall.name"), "missing", "a name");
}

bool GeminiRequestReader::read_response(const FieldPath& path, GeminiWirePart& part) {
  if (in_.peek() != json::Kind::object) {
    return fault_kind(path.with("functionResponse"), "an object");
  }
  part.is_response = true;
  for (std::string_view key; in_.next_member(key);) {
    if (key == "id") {
      if (!read_string(path.with("functionResponse.id"), part.id)) return false;
    } else if (key == "name") {
      if (!read_string(path.with("functionResponse.name"), part.name)) return false;
    } else if (key == "response" && !is_null()) {
      part.response = in_.raw();
    } else if (key == "parts" && in_.peek() == json::Kind::array) {
      while (in_.next_element()) {
        if (!read_part(path.with("functionResponse.parts"), part.media.emplace_back())) {
          return false;
        }
      }
    } else {
      in_.skip();
    }
  }
  if (part.name.empty() && part.id.empty()) {
    return fault(path.with("functionResponse.name"), "missing", "the name of a call");
  }
  if (part.response.empty()) part.response = "{}";
  return true;
}

}  // namespace callgate::client
