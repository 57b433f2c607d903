#include "contract/chat_contract_json.h"

#include "base/utf8.h"
#include "json/escape.h"

namespace callgate::contract {

bool is_well_formed(std::string_view text) {
  json::Reader in(text);
  in.skip();
  return in.finish();
}

bool has_half_surrogate(std::string_view json) {
  const auto unit_at = [json](std::size_t at) {
    unsigned unit = 0;
    for (std::size_t i = at + 2; i < at + 6; ++i) {
      unit = unit * 16 + static_cast<unsigned>(json::hex_digit(json[i]));
    }
    return unit;
  };
  for (std::size_t at = json.find('\\'); at != std::string_view::npos; at = json.find('\\', at)) {
    if (json[at + 1] != 'u') {
      at += 2;
      continue;
    }
    const unsigned unit = unit_at(at);
    at += 6;
    if (json::is_low_surrogate(unit)) return true;
    if (!json::is_high_surrogate(unit)) continue;
    if (!json.substr(at).starts_with("\\u") || !json::is_low_surrogate(unit_at(at))) return true;
    at += 6;
  }
  return false;
}

std::string excerpt(std::string_view bytes, std::size_t limit) {
  const bool cut = bytes.size() > limit;
  std::string_view part = bytes.substr(0, limit);
  if (cut) part.remove_suffix(utf8::incomplete_tail(part));
  std::string out;
  utf8::append_sanitized(out, part);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return cut ? out + "..." : out;
}
}  // namespace callgate::contract
