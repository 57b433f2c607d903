#include "replay/text_places.h"

#include <algorithm>
#include <optional>

#include "json/escape.h"

namespace callgate::replay {
namespace {

// Bytes of the escape, or of the plain byte, that `escaped` begins with. Both halves of a surrogate pair are one.
std::size_t token_size(std::string_view escaped) {
  if (escaped[0] != '\\') return 1;
  if (escaped.size() < 2 || escaped[1] != 'u') return std::min<std::size_t>(2, escaped.size());
  const bool high = escaped.size() >= 12 && (escaped[2] == 'd' || escaped[2] == 'D') &&
                    escaped.substr(6, 2) == "\\u";
  return std::min<std::size_t>(high ? 12 : 6, escaped.size());
}

// Where byte `wanted` of the unescaped text stands in `escaped`.
std::size_t escaped_place(std::string_view escaped, std::uint64_t wanted) {
  std::string plain;
  std::size_t at = 0;
  while (at < escaped.size()) {
    const std::size_t size = token_size(escaped.substr(at));
    json::append_unescaped(plain, escaped.substr(at, size));
    if (plain.size() > wanted) break;
    at += size;
  }
  return at;
}

// The inside of the last JSON string in the frame that says `text`.
std::optional<std::string_view> find_literal(std::string_view frame, std::string_view text) {
  std::optional<std::string_view> found;
  std::string plain;
  for (std::size_t at = frame.find('"'); at != std::string_view::npos; at = frame.find('"', at)) {
    std::size_t end = ++at;
    while (end < frame.size() && frame[end] != '"') end += frame[end] == '\\' ? 2 : 1;
    if (end >= frame.size()) break;
    const std::string_view inside = frame.substr(at, end - at);
    at = end + 1;
    if (inside.size() < text.size()) continue;
    plain.clear();
    json::append_unescaped(plain, inside);
    if (plain == text) found = inside;
  }
  return found;
}

}  // namespace

void TextPlaces::add(std::string_view text, std::uint64_t begin, std::uint64_t end) {
  pieces_.push_back({size_, std::string(text), begin, end});
  size_ += text.size();
}

std::uint64_t TextPlaces::find(std::uint64_t text_byte, std::string_view upstream) const {
  const auto after =
      std::upper_bound(pieces_.begin(), pieces_.end(), text_byte,
                       [](std::uint64_t byte, const Piece& piece) { return byte < piece.at; });
  if (after == pieces_.begin()) return 0;
  const Piece& piece = *std::prev(after);
  const std::string_view frame = upstream.substr(piece.begin, piece.end - piece.begin);
  const auto literal = find_literal(frame, piece.text);
  if (!literal) return piece.begin;
  const auto inside = static_cast<std::uint64_t>(literal->data() - upstream.data());
  return inside + escaped_place(*literal, text_byte - piece.at);
}

}  // namespace callgate::replay
