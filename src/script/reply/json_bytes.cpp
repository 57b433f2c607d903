#include "script/reply/json_bytes.h"

namespace callgate::script {
namespace {

void append_control(std::string& out, char c) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  out += "\\u00";
  out.push_back(kHex[static_cast<unsigned char>(c) >> 4]);
  out.push_back(kHex[static_cast<unsigned char>(c) & 15]);
}

}  // namespace

void append_json_bytes(std::string& out, std::string_view bytes) {
  out.push_back('"');
  for (const char c : bytes) {
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      append_control(out, c);
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
}

}  // namespace callgate::script
