// Puts surrogate pairs together whose halves come in different pieces of one text. A server that counts in UTF-16 cuts
// a character in two and escapes each half on its own:
//
//   "content":"a\ud83d"     "content":"\ude00b"     gives     "a"     "😀b"
//
// A half travels as the three bytes that UTF-8 would have for it if it allowed halves: U+D83D is ED A0 BD. One joiner per
// text: the halves of two texts never meet.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace callgate {

class SurrogateJoiner {
 public:
  // The next piece, UTF-8 but for halves -> what of the text can leave now, UTF-8 throughout. A first half at the end is
  // held back; a half without its other half is U+FFFD. The result is `piece` itself where nothing had to be done, else a
  // view into `scratch`.
  std::string_view push(std::string_view piece, std::string& scratch);
  // The text is over: U+FFFD for a half that still waits, else nothing.
  std::string_view finish();
  // The half that waits is forgotten: another source has the whole text.
  void drop() { high_ = 0; }
  // Halves that became U+FFFD.
  std::size_t replaced() const { return replaced_; }

 private:
  void append_half(std::string& out, char32_t half);

  char32_t high_ = 0;  // the first half that waits for its other half
  std::size_t replaced_ = 0;
};

}  // namespace callgate
