// Where in an upstream's bytes the text of a turn stands. Explanations count bytes of the model's text; a person wants to see
// the byte of the stream:
//
//   data: {"choices":[{"delta":{"content":"say \"<tool_call>"}}]}
//                                                ^ byte 5 of the text is byte 43 of the stream
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace callgate::replay {

class TextPlaces {
 public:
  // The next piece of text, of either channel, came in the frame at these bytes of the upstream's answer.
  void add(std::string_view text, std::uint64_t begin, std::uint64_t end);
  std::uint64_t size() const { return size_; }
  // The byte of `upstream` where that byte of the text stands, or where its frame begins. The text's end is the end of its last
  // piece.
  std::uint64_t find(std::uint64_t text_byte, std::string_view upstream) const;

 private:
  struct Piece {
    std::uint64_t at = 0;  // in the text
    std::string text;
    std::uint64_t begin = 0;  // of its frame
    std::uint64_t end = 0;
  };
  std::vector<Piece> pieces_;
  std::uint64_t size_ = 0;
};

}  // namespace callgate::replay
