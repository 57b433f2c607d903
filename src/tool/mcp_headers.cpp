#include "tool/mcp_headers.h"

#include <algorithm>

#include "base/base64.h"
#include "base/text.h"
#include "json/integer.h"
#include "tool/schema_node.h"

namespace callgate::tool {
namespace {

constexpr std::string_view kOpen = "=?base64?";
constexpr std::string_view kClose = "?=";

bool is_wrapped(std::string_view value) {
  return value.size() >= kOpen.size() + kClose.size() && value.starts_with(kOpen) &&
         value.ends_with(kClose);
}

bool is_token(std::string_view text) {
  constexpr std::string_view kOther = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kOther.find(c) != std::string_view::npos;
  });
}

constexpr std::string_view kAnnotation = "x-mcp-header";

class ParamReader {
 public:
  // `reachable`: only `properties` lead here.
  bool schema(const SchemaNode& node, bool reachable) {
    if (node.is_array()) {
      return std::all_of(node.items.begin(), node.items.end(),
                         [this](const SchemaNode& item) { return schema(item, false); });
    }
    for (const auto& [name, value] : node.members) {
      if (name == kAnnotation) {
        if (!reachable || path_.empty() || !add(node, value)) return false;
      } else if (name == "properties" && value.is_object()) {
        for (const auto& [property, inner] : value.members) {
          path_.push_back(property);
          const bool fine = schema(inner, reachable);
          path_.pop_back();
          if (!fine) return false;
        }
      } else if (!schema(value, false)) {
        return false;
      }
    }
    return true;
  }
  std::vector<McpHeaderParam> take() { return std::move(params_); }

 private:
  bool add(const SchemaNode& node, const SchemaNode& annotation) {
    const SchemaNode* type = node.find("type");
    const bool primitive = type != nullptr && (type->text == "string" || type->text == "integer" ||
                                               type->text == "boolean");
    if (!primitive || !annotation.is_string() || !is_token(annotation.text)) return false;
    std::string header = "Mcp-Param-" + annotation.text;
    for (const McpHeaderParam& other : params_) {
      if (to_lower(other.header) == to_lower(header)) return false;
    }
    params_.push_back({path_, std::move(header)});
    return true;
  }

  std::vector<std::string> path_;
  std::vector<McpHeaderParam> params_;
};

std::optional<std::string> plain(const SchemaNode& node) {
  if (node.is_string()) return node.text;
  if (node.kind == json::Kind::boolean) return node.truth ? "true" : "false";
  if (node.kind != json::Kind::number) return std::nullopt;
  const auto whole = json::to_integer(node.text);
  return whole ? std::to_string(*whole) : node.text;
}

}  // namespace

std::string encode_mcp_header(std::string_view value) {
  const bool visible = std::all_of(value.begin(), value.end(),
                                   [](char c) { return (c >= 0x20 && c < 0x7f) || c == '\t'; });
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  const bool padded = !value.empty() && (is_blank(value.front()) || is_blank(value.back()));
  if (visible && !padded && !is_wrapped(value)) return std::string(value);
  std::string out(kOpen);
  base64::append_encoded(out, value);
  return out.append(kClose);
}

std::optional<std::string> decode_mcp_header(std::string_view value) {
  if (!is_wrapped(value)) return std::string(value);
  value.remove_prefix(kOpen.size());
  value.remove_suffix(kClose.size());
  return base64::decode(value);
}

Result<std::vector<McpHeaderParam>> read_header_params(std::string_view schema) {
  if (schema.find(kAnnotation) == std::string_view::npos) return std::vector<McpHeaderParam>();
  const Result<SchemaNode> node = read_node(schema);
  ParamReader reader;
  if (!node || !reader.schema(*node, true)) {
    return fail(ErrorCode::invalid_request, "x-mcp-header is used where it is not allowed");
  }
  return reader.take();
}

McpHeaderList header_values(const std::vector<McpHeaderParam>& params, std::string_view arguments) {
  McpHeaderList headers;
  if (params.empty()) return headers;
  const Result<SchemaNode> root = read_node(arguments);
  if (!root) return headers;
  for (const McpHeaderParam& param : params) {
    const SchemaNode* node = &*root;
    for (const std::string& name : param.path) {
      if (node != nullptr) node = node->find(name);
    }
    const auto value = node == nullptr ? std::nullopt : plain(*node);
    if (value) headers.emplace_back(param.header, encode_mcp_header(*value));
  }
  return headers;
}

}  // namespace callgate::tool
