#include <algorithm>

#include "dialect/family/nested_tags.h"
#include "dialect/render/render_family.h"

namespace callgate::dialect {
namespace {

void append_name(TaggedText::Names names, std::string_view name, std::string& out) {
  if (names == TaggedText::Names::bare) {
    out += name;
    return;
  }
  for (const char c : name) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out.push_back(c);
    }
  }
}

std::string_view type_name(json::Kind kind) {
  switch (kind) {
    case json::Kind::object:
      return "object";
    case json::Kind::array:
      return "array";
    case json::Kind::string:
      return "string";
    case json::Kind::number:
      return "number";
    case json::Kind::boolean:
      return "boolean";
    case json::Kind::null:
      return "null";
    case json::Kind::invalid:
      break;
  }
  return "";
}

void append_type(TaggedText::Types types, json::Kind kind, std::string& out) {
  switch (types) {
    case TaggedText::Types::none:
      break;
    case TaggedText::Types::string_or_not:
      out += kind == json::Kind::string ? R"( string="true")" : R"( string="false")";
      break;
    case TaggedText::Types::type_name:
      out.append(R"( type=")").append(type_name(kind)).push_back('"');
      break;
  }
}

void append_value(const TaggedText& text, const RawValue& value, std::string& out) {
  const std::string said = value.text();
  const bool raw = !text.raw_open.empty() && said.find('<') != std::string::npos &&
                   said.find(text.raw_close) == std::string::npos;
  if (raw) out += text.raw_open;
  out += said;
  if (raw) out += text.raw_close;
}

bool is_tag_name(std::string_view name) {
  return !name.empty() &&
         std::find_if_not(name.begin(), name.end(), is_tag_name_byte) == name.end();
}

// Whether tags say the same as the JSON. Empty containers have no tags, and the elements of an array share a schema: a
// text beside a number could not be told from it.
bool fits_tags(const RawValue& value) {
  bool fits = true;
  std::size_t count = 0;
  if (value.kind == json::Kind::object) {
    for_each_member(value.json, [&](std::string_view key, const RawValue&) {
      ++count;
      fits = fits && is_tag_name(key);
    });
  } else if (value.kind == json::Kind::array) {
    json::Kind kind = json::Kind::invalid;
    for_each_element(value.json, [&](const RawValue& element) {
      if (count++ == 0) kind = element.kind;
      fits = fits && element.kind == kind;
    });
  }
  return fits && count > 0;
}

void append_tag_element(std::string_view prefix, std::string_view tag, const RawValue& value,
                        std::string& out) {
  out.append(prefix).append("<").append(tag).append(">");
  if (!fits_tags(value)) {
    out += value.text();
  } else if (value.kind == json::Kind::object) {
    for_each_member(value.json, [&](std::string_view key, const RawValue& member) {
      append_tag_element(prefix, key, member, out);
    });
  } else {
    for_each_element(value.json, [&](const RawValue& element) {
      append_tag_element(prefix, "item", element, out);
    });
  }
  out.append(prefix).append("</").append(tag).append(">");
}

}  // namespace

void append_calls(const TaggedText& text, std::span<const CallRecord> calls, std::string& out) {
  out += text.section_open;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (i > 0) out += text.between;
    if (!text.address_open.empty()) {
      out.append(text.address_open).append(calls[i].name).append(text.address_close);
    }
    out += text.call_open;
    append_name(text.names, calls[i].name, out);
    if (!text.index.empty()) out.append(text.index).append(std::to_string(i + 1));
    out += text.call_name_close;
    for_each_member(calls[i].arguments, [&](std::string_view key, const RawValue& value) {
      out += text.key_open;
      append_name(text.names, key, out);
      if (text.names == TaggedText::Names::attribute) out.push_back('"');
      append_type(text.types, value.kind, out);
      out += text.value_open;
      append_value(text, value, out);
      out += text.value_close;
    });
    out += text.call_close;
  }
  out += text.section_close;
}

void append_calls(const ElementText& text, std::span<const CallRecord> calls, std::string& out) {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const CallRecord& call = calls[i];
    const std::string_view tag = text.tag.empty() ? std::string_view(call.name) : text.tag;
    if (i > 0) out.push_back('\n');
    out.append("<").append(tag).append(">\n");
    if (!text.tag.empty()) out.append("<name>").append(call.name).append("</name>\n");
    for_each_member(call.arguments, [&](std::string_view key, const RawValue& value) {
      out.append("<").append(key).append(">").append(value.text());
      out.append("</").append(key).append(">\n");
    });
    out.append("</").append(tag).append(">");
  }
}

void append_calls(const PrefixedText& text, std::span<const CallRecord> calls, std::string& out) {
  out.append(text.prefix).append("<tool_call>\n");
  for (const CallRecord& call : calls) {
    out.append(text.prefix).append(R"(<invoke name=")");
    append_name(TaggedText::Names::attribute, call.name, out);
    out += R"(">)";
    for_each_member(call.arguments, [&](std::string_view key, const RawValue& value) {
      append_tag_element(text.prefix, key, value, out);
    });
    out.append(text.prefix).append("</invoke>\n");
  }
  out.append(text.prefix).append("</tool_call>");
}

}  // namespace callgate::dialect
