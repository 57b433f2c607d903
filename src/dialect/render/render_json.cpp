#include "dialect/render/render_family.h"
#include "json/writer.h"

namespace callgate::dialect {
namespace {

std::string_view arguments_of(const CallRecord& call) {
  return call.arguments.empty() ? std::string_view("{}") : call.arguments;
}

void append_member(std::string_view key, std::string_view value, std::string& out) {
  json::append_string(out, key);
  out += ": ";
  json::append_string(out, value);
}

// The id counts from the start of the conversation; without one that fits, from the start of the turn.
std::string kimi_id(const CallRecord& call, std::size_t index) {
  const std::string start = "functions." + call.name + ":";
  const bool fits = call.id.starts_with(start) && call.id.size() > start.size() &&
                    call.id.find_first_not_of("0123456789", start.size()) == std::string::npos;
  return fits ? call.id : start + std::to_string(index);
}

}  // namespace

void append_calls(const ObjectText& text, std::span<const CallRecord> calls, std::string& out) {
  out += text.section_open;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const CallRecord& call = calls[i];
    if (i > 0) out += text.between;
    out += text.call_open;
    if (!text.header_close.empty()) out.append(call.name).append(text.header_close);
    if (text.id == ObjectText::Id::first) {
      out.push_back('{');
      append_member(text.id_key, call.id.empty() ? std::to_string(i) : call.id, out);
      out += ", ";
    }
    out += text.name;
    json::append_string(out, call.name);
    out.append(text.arguments).append(arguments_of(call));
    if (text.id == ObjectText::Id::last && !call.id.empty()) {
      out += ", ";
      append_member(text.id_key, call.id, out);
    }
    out.append(text.object_close).append(text.call_close);
  }
  out += text.section_close;
}

void append_calls(const NamedText& text, std::span<const CallRecord> calls, std::string& out) {
  out += text.section_open;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const CallRecord& call = calls[i];
    if (i > 0) out += text.between;
    out += text.call_open;
    switch (text.id) {
      case NamedText::Id::none:
        out += call.name;
        break;
      case NamedText::Id::before_name:
        out.append(call.id).append(text.id_marker).append(call.name);
        break;
      case NamedText::Id::after_name:
        out += call.name;
        if (!call.id.empty()) out.append(text.id_marker).append(call.id);
        break;
      case NamedText::Id::is_name:
        out += kimi_id(call, i);
        break;
    }
    out.append(text.arguments_open).append(arguments_of(call)).append(text.call_close);
  }
  out += text.section_close;
}

}  // namespace callgate::dialect
