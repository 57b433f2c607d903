#include "script/cut.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace callgate::script::cut_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> pieces(std::string_view text, const Cut& cut) {
  std::vector<std::string> found;
  for_each_piece(text, cut, [&](std::string_view piece) { found.emplace_back(piece); });
  return found;
}

TEST(Cut, leaves_a_whole_text_alone) {
  EXPECT_THAT(pieces("a b", {Cut::Unit::whole, 0}), ElementsAre("a b"));
  EXPECT_THAT(pieces("", {Cut::Unit::whole, 0}), IsEmpty());
}

TEST(Cut, keeps_white_space_with_the_word_before_it) {
  EXPECT_THAT(pieces(" It is\n 18.", {Cut::Unit::words, 0}),
              ElementsAre(" ", "It ", "is\n ", "18."));
}

TEST(Cut, never_cuts_a_character_unless_asked) {
  EXPECT_THAT(pieces("a\xC3\xA9z", {Cut::Unit::characters, 2}), ElementsAre("a", "\xC3\xA9", "z"));
  EXPECT_THAT(pieces("\xF0\x9F\x98\x80!", {Cut::Unit::characters, 1}),
              ElementsAre("\xF0\x9F\x98\x80", "!"));
  EXPECT_THAT(pieces("a\xC3\xA9z", {Cut::Unit::bytes, 2}), ElementsAre("a\xC3", "\xA9z"));
}

TEST(Cut, ends_on_text_that_is_no_utf8) {
  EXPECT_THAT(pieces("\x80\x80\x80", {Cut::Unit::characters, 1}), ElementsAre("\x80\x80\x80"));
}

}  // namespace
}  // namespace callgate::script::cut_test
