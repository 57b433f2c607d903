#include "json/writer.h"

#include <array>
#include <charconv>
#include <cstring>

#include "base/utf8.h"
#include "json/string_run.h"

namespace callgate::json {
namespace {

struct Escape {
  char text[7];
  std::uint8_t size;
};

// What stands for a quote, a backslash or a control character.
constexpr std::array<Escape, 128> make_escapes() {
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr std::string_view kShort = "\"\"\\\\\bb\ff\nn\rr\tt";  // byte and letter in turn
  std::array<Escape, 128> escapes = {};
  for (unsigned byte = 0; byte < 0x20; ++byte) {
    escapes[byte] = {{'\\', 'u', '0', '0', kHex[byte >> 4], kHex[byte & 0xF]}, 6};
  }
  for (std::size_t i = 0; i < kShort.size(); i += 2) {
    escapes[static_cast<std::size_t>(kShort[i])] = {{'\\', kShort[i + 1]}, 2};
  }
  return escapes;
}

constexpr std::array<Escape, 128> kEscapes = make_escapes();

// Special bytes come in crowds, as in arguments: {"a": "b"}. From a special byte on, writes until eight plain bytes
// follow or one is not ASCII, and appends all that at once. Returns the position after it.
const char* append_crowd(std::string& out, const char* at, const char* end) {
  char block[256];
  std::size_t size = 0;
  while (at != end && size + 8 + sizeof(Escape) <= sizeof block) {
    const auto left = static_cast<std::size_t>(end - at);
    std::uint64_t word = 0;
    if (left >= 8) {
      std::memcpy(&word, at, 8);
    } else {
      word = detail::load_short(at, left);
    }
    const detail::Marks found = detail::marks(word);
    if (found.special == 0) break;
    const StringRun run = detail::run_to(at, found, true);
    if (!run.ascii) break;
    std::memcpy(block + size, &word, 8);
    size += static_cast<std::size_t>(run.end - at);
    at = run.end;
    if (at == end) break;
    const Escape& escape = kEscapes[static_cast<std::uint8_t>(*at++)];
    std::memcpy(block + size, &escape, sizeof escape);
    size += escape.size;
  }
  out.append(block, size);
  return at;
}

// `text` in quotes between two more bytes that may be asked for. Short ones are joined first: appending once is what
// counts.
inline void append_quoted(std::string& out, bool comma, std::string_view text, bool colon) {
  char block[64];
  if (text.size() > sizeof block - 4) {
    out.append(comma ? ",\"" : "\"").append(text).append(colon ? "\":" : "\"");
    return;
  }
  block[0] = ',';
  block[1] = '"';
  if (!text.empty()) std::memcpy(block + 2, text.data(), text.size());
  block[text.size() + 2] = '"';
  block[text.size() + 3] = ':';
  out.append(block + (comma ? 0 : 1), text.size() + 2 + (comma ? 1 : 0) + (colon ? 1 : 0));
}

}  // namespace

void append_escaped(std::string& out, std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    const StringRun run = string_run(at, end);
    if (run.ascii) {
      out.append(at, static_cast<std::size_t>(run.end - at));
    } else {
      utf8::append_sanitized(out, {at, static_cast<std::size_t>(run.end - at)});
    }
    at = run.end;
    if (at != end) at = append_crowd(out, at, end);
  }
}

void append_string(std::string& out, std::string_view text) {
  const char* const end = text.data() + text.size();
  const StringRun run = string_run(text.data(), end);
  if (run.end == end && run.ascii) return append_quoted(out, false, text, false);
  out.push_back('"');
  append_escaped(out, text);
  out.push_back('"');
}

void append_compact(std::string& out, std::string_view json) {
  while (!json.empty()) {
    const std::size_t plain = std::min(json.find_first_of("\" \t\r\n"), json.size());
    out.append(json.substr(0, plain));
    json.remove_prefix(plain);
    if (json.empty()) return;
    std::size_t end = 1;
    if (json.front() == '"') {
      while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, json.size());
      out.append(json.substr(0, end));
    }
    json.remove_prefix(end);
  }
}

void append_integer(std::string& out, std::int64_t value) {
  char digits[20];
  const auto written = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, static_cast<std::size_t>(written.ptr - digits));
}

std::string& ObjectWriter::key(std::string_view name) {
  append_quoted(out_, !first_, name, true);
  first_ = false;
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
