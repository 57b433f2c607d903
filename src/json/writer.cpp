#include "json/writer.h"

#include <charconv>

#include "base/utf8.h"
#include "json/string_run.h"

namespace callgate::json {
namespace {

// REQUIRES: `byte` is a quote, a backslash or a control character.
void append_escape(std::string& out, char byte) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  char letter = byte;
  switch (byte) {
    case '"':
    case '\\':
      break;
    case '\b':
      letter = 'b';
      break;
    case '\f':
      letter = 'f';
      break;
    case '\n':
      letter = 'n';
      break;
    case '\r':
      letter = 'r';
      break;
    case '\t':
      letter = 't';
      break;
    default: {
      const char escape[] = {'\\', 'u', '0', '0', kHex[(byte >> 4) & 0xF], kHex[byte & 0xF]};
      out.append(escape, sizeof escape);
      return;
    }
  }
  const char escape[] = {'\\', letter};
  out.append(escape, sizeof escape);
}

}  // namespace

void append_escaped(std::string& out, std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    const StringRun run = string_run(at, end);
    if (run.ascii) {
      out.append(at, run.end);
    } else {
      utf8::append_sanitized(out, {at, static_cast<std::size_t>(run.end - at)});
    }
    at = run.end;
    if (at != end) append_escape(out, *at++);
  }
}

void append_string(std::string& out, std::string_view text) {
  out.push_back('"');
  append_escaped(out, text);
  out.push_back('"');
}

void append_integer(std::string& out, std::int64_t value) {
  char digits[20];
  const auto written = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, written.ptr);
}

std::string& ObjectWriter::key(std::string_view name) {
  out_.append(first_ ? "\"" : ",\"");
  first_ = false;
  out_.append(name);
  out_.append("\":", 2);
  return out_;
}

void ObjectWriter::raw_escaped(std::string_view name, std::string_view json) {
  if (!first_) out_.push_back(',');
  first_ = false;
  append_string(out_, name);
  out_.push_back(':');
  out_.append(json);
}

}  // namespace callgate::json
