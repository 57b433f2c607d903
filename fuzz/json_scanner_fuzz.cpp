// The scanner says the same however a text is cut, agrees with the reader, and never lets half a character go.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/utf8.h"
#include "json/reader.h"
#include "json/scanner.h"
#include "json/writer.h"

namespace callgate::json {
namespace {

struct Outcome {
  Scanner::State state;
  std::size_t consumed;
  std::size_t unsafe_tail;
  bool saw_raw_control;
  bool closed;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// Pushes pieces of 1 to `longest` bytes, and lets go of what is safe after each, as a stream does.
Outcome scan(std::string_view text, std::uint32_t seed, std::uint32_t longest) {
  const bool whole_utf8 = utf8::is_valid(text);
  Scanner scanner;
  std::size_t consumed = 0;
  std::size_t sent = 0;
  while (consumed < text.size()) {
    seed = seed * 1664525 + 1013904223;
    const std::string piece(text.substr(consumed, 1 + (seed >> 16) % longest));
    const std::size_t taken = scanner.push(piece);
    consumed += taken;
    const std::size_t tail = scanner.unsafe_tail();
    CALLGATE_CHECK(tail <= 11);
    CALLGATE_CHECK(consumed - tail >= sent);
    const std::string_view fragment = text.substr(sent, consumed - tail - sent);
    sent += fragment.size();
    CALLGATE_CHECK(!whole_utf8 || utf8::is_valid(fragment));
    if (taken < piece.size()) break;
  }
  Outcome outcome{scanner.state(), consumed, scanner.unsafe_tail(), scanner.saw_raw_control(),
                  false};
  outcome.closed = scanner.finish();
  CALLGATE_CHECK(!outcome.closed || scanner.unsafe_tail() == 0);
  return outcome;
}

bool is_json(std::string_view text, const Outcome& outcome) {
  return outcome.closed &&
         text.find_first_not_of(" \t\r\n", outcome.consumed) == std::string_view::npos;
}

// Reads through the typed calls; depth is limited by the reader.
void walk(Reader& in, std::string& scratch) {
  std::string_view key;
  switch (in.peek()) {
    case Kind::object:
      while (in.next_member(key)) walk(in, scratch);
      return;
    case Kind::array:
      while (in.next_element()) walk(in, scratch);
      return;
    case Kind::string: {
      const std::string value(in.string());
      CALLGATE_CHECK(utf8::is_valid(value));
      scratch.clear();
      append_string(scratch, value);
      Reader again(scratch);
      CALLGATE_CHECK(again.string() == value && again.finish());
      return;
    }
    case Kind::number:
      in.integer();
      return;
    case Kind::boolean:
      in.boolean();
      return;
    case Kind::null:
      in.null();
      return;
    case Kind::invalid:
      in.skip();
      return;
  }
}

void check(std::string_view text, std::uint32_t seed) {
  const Outcome whole = scan(text, 0, 1);
  CALLGATE_CHECK(scan(text, seed, 4) == whole);
  CALLGATE_CHECK(scan(text, seed, 40) == whole);
  CALLGATE_CHECK(scan(text, seed, 1 << 15) == whole);

  Reader skipping(text);
  skipping.skip();
  const bool read = skipping.finish();
  Reader walking(text);
  std::string scratch;
  walk(walking, scratch);
  CALLGATE_CHECK(walking.finish() == read);
  CALLGATE_CHECK(walking.error().offset == skipping.error().offset);

  // Raw control characters and invalid UTF-8 in strings are all that scanner and reader see differently.
  const bool scanned = is_json(text, whole);
  CALLGATE_CHECK(!read || (scanned && !whole.saw_raw_control));
  CALLGATE_CHECK(!scanned || whole.saw_raw_control || !utf8::is_valid(text) || read);
}

}  // namespace
}  // namespace callgate::json

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::uint32_t seed = 1;
  for (const char c : text) seed = seed * 31 + static_cast<std::uint8_t>(c);
  callgate::json::check(text, seed);
  return 0;
}
