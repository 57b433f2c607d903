#include "replay/explanation.h"

#include "json/writer.h"

namespace callgate::replay {

void Explanation::stayed_text(const StayedText& text) {
  pieces_.push_back({.dialect = text.dialect.empty() ? asked_ : std::string(text.dialect),
                     .begin = text.begin,
                     .end = text.end,
                     .reason = std::string(text.reason)});
}

std::string line_of(const Explanation::Piece& piece) {
  return dialect::to_string(
      {.dialect = piece.dialect, .begin = piece.begin, .end = piece.end, .reason = piece.reason},
      piece.dialect);
}

std::string Explanation::lines(std::size_t calls) const {
  std::string text;
  for (const Piece& piece : pieces_) text += line_of(piece) + "\n";
  if (text.empty() && calls == 0) text = asked_ + ": nothing in the text opens a call\n";
  return text;
}

std::string Explanation::json() const { return json_of(pieces_); }

std::string json_of(const std::vector<Explanation::Piece>& pieces) {
  std::string out = "[";
  for (const Explanation::Piece& piece : pieces) {
    if (out.size() > 1) out += ',';
    json::ObjectWriter object(out);
    object.string("dialect", piece.dialect);
    object.integer("begin", static_cast<std::int64_t>(piece.begin));
    object.integer("end", static_cast<std::int64_t>(piece.end));
    object.string("reason", piece.reason);
    object.close();
  }
  return out + "]";
}

}  // namespace callgate::replay
