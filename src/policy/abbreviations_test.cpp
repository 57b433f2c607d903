#include "policy/abbreviations.h"

#include <gtest/gtest.h>

namespace callgate::policy::abbreviations_test {
namespace {

TEST(Abbreviations, a_stop_means_what_its_word_says) {
  using enum StopKind;
  struct Row {
    std::string_view word, before;
    StopKind kind;
  };
  const Row rows[] = {
      {"", "", sentence},
      {"house", "", sentence},
      {"Mr", "", abbreviation},
      {"(bzw", "", abbreviation},
      {"*_\"'[{(", "", sentence},
      // one letter
      {"J", "", abbreviation},
      {"I", "", sentence},
      {"!", "", sentence},
      // letters between stops
      {"z.B", "", abbreviation},
      {"U.S", "", abbreviation},
      {"Ph.D", "", abbreviation},
      {"i.d.R", "", abbreviation},
      {"o.\xC3\xA4", "", abbreviation},
      {"end.So", "", sentence},
      {"a..b", "", sentence},
      {"a.1", "", sentence},
      {"a.m", "", sentence},
      {"P.M", "", sentence},
      // joined
      {"Dipl.-Ing", "", abbreviation},
      {"Univ.-Professor", "", abbreviation},
      {".-Ing", "", sentence},
      {"Dipl.-", "", sentence},
      {"Dipl.-4", "", sentence},
      // numbers
      {"3", "", number},
      {"31", "", number},
      {"310", "", sentence},
      {"No", "", before_digit},
      {"Sept", "", before_digit},
      // titles
      {"med", "Dr.", abbreviation},
      {"med", "Dr", sentence},
      {"med", "", sentence},
      {"nat", "rer.", abbreviation},
      {"mult", "h.c.", abbreviation},
      {"house", "Dr.", sentence},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(kind_of_stop(row.word, row.before), row.kind) << row.before << " " << row.word;
  }
}

TEST(Abbreviations, only_some_words_follow_an_ordinal) {
  EXPECT_TRUE(follows_ordinal("Oktober"));
  EXPECT_TRUE(follows_ordinal("April"));
  EXPECT_TRUE(follows_ordinal("Woche"));
  EXPECT_FALSE(follows_ordinal("oktober"));
  EXPECT_FALSE(follows_ordinal("Haus"));
}

}  // namespace
}  // namespace callgate::policy::abbreviations_test
