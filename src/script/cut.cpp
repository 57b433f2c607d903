#include "script/cut.h"

#include <algorithm>

#include "base/text.h"

namespace callgate::script {
namespace {

bool continues_sequence(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::size_t word_end(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && !is_space(text[end])) ++end;
  while (end < text.size() && is_space(text[end])) ++end;
  return end;
}

std::size_t character_end(std::string_view text, std::size_t size) {
  std::size_t end = std::min(size, text.size());
  while (end > 0 && end < text.size() && continues_sequence(text[end])) --end;
  if (end > 0) return end;
  end = 1;
  while (end < text.size() && continues_sequence(text[end])) ++end;
  return end;
}

std::size_t piece_end(std::string_view text, const Cut& cut) {
  switch (cut.unit) {
    case Cut::Unit::whole:
      return text.size();
    case Cut::Unit::words:
      return word_end(text);
    case Cut::Unit::characters:
      return character_end(text, cut.size);
    case Cut::Unit::bytes:
      return std::clamp<std::size_t>(cut.size, 1, text.size());
  }
  return text.size();
}

}  // namespace

void for_each_piece(std::string_view text, const Cut& cut,
                    FunctionRef<void(std::string_view)> on_piece) {
  while (!text.empty()) {
    const std::size_t end = piece_end(text, cut);
    on_piece(text.substr(0, end));
    text.remove_prefix(end);
  }
}

}  // namespace callgate::script
