// Calls whose arguments are written as literals of another language.
#include <algorithm>

#include "dialect/render/render_family.h"
#include "json/writer.h"

namespace callgate::dialect {
namespace {

void append_python(const RawValue& value, std::string& out) {
  std::string_view before;
  switch (value.kind) {
    case json::Kind::object:
      out.push_back('{');
      for_each_member(value.json, [&](std::string_view key, const RawValue& member) {
        out += before;
        before = ", ";
        json::append_string(out, key);
        out += ": ";
        append_python(member, out);
      });
      out.push_back('}');
      break;
    case json::Kind::array:
      out.push_back('[');
      for_each_element(value.json, [&](const RawValue& element) {
        out += before;
        before = ", ";
        append_python(element, out);
      });
      out.push_back(']');
      break;
    case json::Kind::string:
      // The escapes that JSON's writer uses mean the same in Python; surrogate pairs do not, so the text is decoded.
      json::append_string(out, value.text());
      break;
    case json::Kind::boolean:
      out += value.json == "true" ? "True" : "False";
      break;
    case json::Kind::null:
      out += "None";
      break;
    case json::Kind::number:
    case json::Kind::invalid:
      out += value.json;
      break;
  }
}

// As Python's repr() does, mostly: in single quotes, unless there are some in the text.
void append_quoted(std::string_view text, std::string& out) {
  std::string json;
  json::append_string(json, text);
  const bool plain = text.find_first_of("'\"\\") == std::string_view::npos;
  if (plain) json.front() = json.back() = '\'';
  out += json;
}

void append_rendered(const RawValue& value, std::string& out);

void append_dict(std::string_view object, std::string& out) {
  std::string_view before;
  out.push_back('{');
  for_each_member(object, [&](std::string_view key, const RawValue& member) {
    out += before;
    before = ", ";
    append_quoted(key, out);
    out += ": ";
    append_rendered(member, out);
  });
  out.push_back('}');
}

void append_rendered(const RawValue& value, std::string& out) {
  std::string_view before;
  switch (value.kind) {
    case json::Kind::object:
      append_dict(value.json, out);
      break;
    case json::Kind::array:
      out.push_back('[');
      for_each_element(value.json, [&](const RawValue& element) {
        out += before;
        before = ", ";
        append_rendered(element, out);
      });
      out.push_back(']');
      break;
    case json::Kind::string:
      append_quoted(value.text(), out);
      break;
    case json::Kind::boolean:
    case json::Kind::null:
    case json::Kind::number:
    case json::Kind::invalid:
      append_python(value, out);
      break;
  }
}

bool is_bare_key(std::string_view key) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !key.empty() && std::find_if_not(key.begin(), key.end(), is_word) == key.end();
}

// Between quote markers nothing is escaped; a text that holds a marker itself is written as JSON.
void append_gemma_text(const GemmaText& how, const RawValue& value, std::string& out) {
  const std::string text = value.text();
  const bool marked =
      text.find(how.quote) != std::string::npos || text.find(how.call_close) != std::string::npos;
  if (marked) {
    json::append_string(out, text);
  } else {
    out.append(how.quote).append(text).append(how.quote);
  }
}

void append_gemma(const GemmaText& how, const RawValue& value, std::string& out);

void append_gemma_members(const GemmaText& how, std::string_view object, std::string& out) {
  std::string_view before;
  for_each_member(object, [&](std::string_view key, const RawValue& member) {
    out += before;
    before = ",";
    const std::string_view mark = is_bare_key(key) ? std::string_view() : how.quote;
    out.append(mark).append(key).append(mark).push_back(':');
    append_gemma(how, member, out);
  });
}

void append_gemma(const GemmaText& how, const RawValue& value, std::string& out) {
  std::string_view before;
  switch (value.kind) {
    case json::Kind::object:
      out.push_back('{');
      append_gemma_members(how, value.json, out);
      out.push_back('}');
      break;
    case json::Kind::array:
      out.push_back('[');
      for_each_element(value.json, [&](const RawValue& element) {
        out += before;
        before = ",";
        append_gemma(how, element, out);
      });
      out.push_back(']');
      break;
    case json::Kind::string:
      append_gemma_text(how, value, out);
      break;
    case json::Kind::number:
    case json::Kind::boolean:
    case json::Kind::null:
    case json::Kind::invalid:
      out += value.json;
      break;
  }
}

}  // namespace

void append_calls(const PythonText& text, std::span<const CallRecord> calls, std::string& out) {
  out += text.section_open;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (i > 0) out += text.between;
    out.append(calls[i].name).push_back('(');
    std::string_view before;
    for_each_member(calls[i].arguments, [&](std::string_view key, const RawValue& value) {
      out.append(before).append(key).push_back('=');
      before = ", ";
      append_python(value, out);
    });
    out.push_back(')');
  }
  out += text.section_close;
}

void append_calls(const DictText& text, std::span<const CallRecord> calls, std::string& out) {
  out += text.section_open;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::string& arguments = calls[i].arguments;
    out += i > 0 ? ", {'name': " : "{'name': ";
    append_quoted(calls[i].name, out);
    out += ", 'arguments': ";
    append_dict(arguments.empty() ? "{}" : arguments, out);
    out.push_back('}');
  }
  out += text.section_close;
}

void append_calls(const GemmaText& text, std::span<const CallRecord> calls, std::string& out) {
  for (const CallRecord& call : calls) {
    out.append(text.call_open).append("call:").append(call.name).push_back('{');
    append_gemma_members(text, call.arguments, out);
    out.append("}").append(text.call_close);
  }
}

}  // namespace callgate::dialect
