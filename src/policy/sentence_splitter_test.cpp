#include "policy/sentence_splitter.h"

#include <gtest/gtest.h>
#include <unicode/brkiter.h>
#include <unicode/unistr.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

namespace callgate::policy::sentence_splitter_test {
namespace {

// A bar is where a sentence ends.
constexpr std::string_view kTable[] = {
    // plain
    "Hello there. |How are you?",
    "One! |Two? |Three.",
    "No stop at all",
    "What?! |Really.",
    "Stop.  |Two spaces.",
    "Tab.\t|Next one.",
    "He said so. |I did not. |You know.",
    "  Leading space. |And more.",
    // abbreviations
    "Mr. Smith met Dr. Who. |They talked.",
    "Mrs. Jones and Prof. Lee left.",
    "Use fruit, e.g. Apples. |Or not.",
    "That is, i.e. Nothing at all. |Fine.",
    "Viele, z.B. Berlin, sind gro\xC3\x9F. |Andere nicht.",
    "Viele, z. B. Berlin, sind gro\xC3\x9F. |Andere nicht.",
    "Das ist, d.h. Es war, gut. |Ja.",
    "Siehe Nr. 5 und Abb. Drei. |Ende.",
    "J. R. R. Tolkien wrote it. |He did.",
    "The U.S. Senate met. |It voted.",
    "She has a Ph.D. She is smart.",
    "It starts at 5 p.m. |Be there.",
    "Apples, pears etc. |The rest is gone.",
    "Smith et al. Found it. |Good.",
    "Cats vs. Dogs. |Who wins?",
    "See No. 5 for more. |Then go.",
    "No. |I will not.",
    "Born Jan. 5 in Rome. |He left.",
    "So do I. |And you?",
    "(Dr. Who) is here. |Yes.",
    "Prof. Dr. med. Weber kommt. |Ja.",
    "Dr. rer. nat. habil. Anna Lang liest. |Gut.",
    "Prof. Dr. med. dent. Weber und Dr. h.c. Maus. |Ende.",
    "Dr. h. c. mult. Kohl war da. |Ja.",
    "Univ.-Prof. Dr.-Ing. Meier und Dipl.-Kfm. Roth. |Ende.",
    "Die Fa. Gebr. Meier kam. |Ja.",
    "We took the dog to the vet. |He was kind.",
    "The Dr. was in. |Nice.",
    "I study med. |You know.",
    // numbers
    "Pi is 3.14 or so. |Euler is 2.71.",
    "It costs $3.50. |Cheap.",
    "Version 1.2.3 is out. |Get it.",
    "It was 2020. |15 people came.",
    "The answer is 42. |Anything else?",
    "Am 3. Oktober ist frei. |Sch\xC3\xB6n.",
    "Es ist der 3. Oktober",
    "We were 12. |Now",
    "Im 2. Weltkrieg war das. |Danach nicht.",
    "Am 3. 10. 2020 war es. |Damals.",
    "1.000.000 Euro. |Viel Geld.",
    "At 10.30 we go. |Come.",
    // ellipses
    "Wait... what is it? |Nothing.",
    "Wait... |Then it came.",
    "Hmm\xE2\x80\xA6 |Maybe.",
    "Hmm\xE2\x80\xA6 maybe not. |Yes.",
    "So . . . |Then.",
    // quotes and brackets
    "He said \"Go.\" |She went.",
    "\"Really?\" she asked. |Yes.",
    "\"Go!\" he said. |They went.",
    "He left (at last.) |She stayed.",
    "\xE2\x80\x9CIt is.\xE2\x80\x9D |He nodded.",
    "\xE2\x80\x9EJa.\xE2\x80\x9C |Er ging.",
    "\xC2\xAB Oui. \xC2\xBB |Il part.",
    "\xC2\xAB Oui. \xC2\xBB",
    "Er ging. |\xC2\xBBJa.\xC2\xAB |Gut.",
    "He left. |\"Why?\" |\"No idea.\"",
    "Done. |(See below.) |Next.",
    "Done. (see below) And more.",
    "**Bold.** |Next *word.* |End.",
    "It works. |**Now** go.",
    // other scripts
    "\xE4\xBD\xA0\xE5\xA5\xBD\xE3\x80\x82|\xE5\x86\x8D\xE8\xA7\x81\xEF\xBC\x81|"
    "\xE5\x95\x8A\xEF\xBC\x9F",
    "\xE3\x80\x8C\xE3\x81\xAF\xE3\x81\x84\xE3\x80\x82\xE3\x80\x8D|"
    "\xE5\xBD\xBC\xE3\x81\xAF\xE8\xA8\x80\xE3\x81\xA3\xE3\x81\x9F\xE3\x80\x82",
    "\xE5\xA5\xBD\xEF\xBC\x81\xEF\xBC\x9F|\xE8\xA1\x8C\xE3\x80\x82",
    "\xD0\x9F\xD1\x80\xD0\xB8\xD0\xB2\xD0\xB5\xD1\x82. |\xD0\x9A\xD0\xB0\xD0\xBA "
    "\xD0\xB4\xD0\xB5\xD0\xBB\xD0\xB0?",
    "\xE0\xA4\xB9\xE0\xA4\xBE\xE0\xA5\xA4 "
    "|\xE0\xA4\xA8\xE0\xA4\xB9\xE0\xA5\x80\xE0\xA4\x82\xE0\xA5\xA4",
    "\xD9\x86\xD8\xB9\xD9\x85\xD8\x9F |\xD9\x84\xD8\xA7.",
    "Great. |\xF0\x9F\x98\x80 Thanks.",
    "Caf\xC3\xA9. |\xC3\x89t\xC3\xA9 vient.",
    // lines and lists
    "First line\n|Second line",
    "A paragraph.\n\n|Another one.",
    "Windows.\r\n|Lines.\r\n",
    "- one thing\n|- another. |With more\n|- last",
    "1. First item\n|2. Second item\n|10. Tenth",
    "a. First\n|b. Second",
    "Items:\n|* one\n|* two",
    "# Title\n\n|Text here.",
    // URLs, names of files, addresses
    "See https://example.com/a.b?c=d! |Then go.",
    "Visit www.example.com. |It is nice.",
    "Mail a.b@example.com now. |Thanks.",
    "Open file.txt and main.cpp. |Then build.",
    "Is it x.y?z or not? |Yes.",
    "Use Node.js. |It works.",
    // code
    "Call `a. B` now. |Then `c! D`.",
    "Look:\n|```py\nx = 1. Then\n\nprint(\"Hi. There\")\n```\n|Done. |Good.",
    "~~~\nA. B. C.\n```\nD. E\n~~~\n|After.",
    "````\n```\nX. Y\n```\n````\n|Out.",
    "A `b\n|This is it. |The` end.",
    "Unclosed:\n|```\nA. B\n",
};

std::vector<std::string> expected_of(std::string_view row, std::string& text) {
  std::vector<std::string> pieces{""};
  for (const char c : row) {
    if (c == '|') {
      pieces.emplace_back();
    } else {
      pieces.back() += c;
      text += c;
    }
  }
  return pieces;
}

std::vector<std::string> split(std::vector<std::string_view> parts,
                               SentenceOptions options = {.min_characters = 1}) {
  SentenceSplitter splitter(options);
  std::vector<std::string> out;
  const auto keep = [&](std::string_view sentence) { out.emplace_back(sentence); };
  for (const std::string_view part : parts) splitter.push(part, keep);
  splitter.flush(keep);
  return out;
}

TEST(SentenceSplitter, splits_every_row_of_the_table_the_same_at_every_cut) {
  EXPECT_GE(std::size(kTable), 60u);
  for (const std::string_view row : kTable) {
    std::string text;
    const std::vector<std::string> expected = expected_of(row, text);
    EXPECT_EQ(split({text}), expected) << row;
    std::vector<std::string_view> bytes;
    for (std::size_t i = 0; i < text.size(); ++i)
      bytes.push_back(std::string_view(text).substr(i, 1));
    EXPECT_EQ(split(bytes), expected) << row;
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
      const std::string_view whole = text;
      ASSERT_EQ(split({whole.substr(0, cut), whole.substr(cut)}), expected) << row << " at " << cut;
    }
  }
}

// Why the splitter has rules of its own.
TEST(SentenceSplitter, is_right_where_the_rules_of_unicode_alone_are_not) {
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<icu::BreakIterator> breaks(
      icu::BreakIterator::createSentenceInstance(icu::Locale::getEnglish(), status));
  ASSERT_TRUE(U_SUCCESS(status));
  int right = 0;
  for (const std::string_view row : kTable) {
    std::string text;
    const std::vector<std::string> expected = expected_of(row, text);
    const icu::UnicodeString unicode = icu::UnicodeString::fromUTF8(text);
    breaks->setText(unicode);
    std::vector<std::string> pieces;
    std::int32_t from = breaks->first();
    for (std::int32_t to = breaks->next(); to != icu::BreakIterator::DONE;
         from = to, to = breaks->next()) {
      unicode.tempSubStringBetween(from, to).toUTF8String(pieces.emplace_back());
    }
    right += pieces == expected ? 1 : 0;
  }
  RecordProperty("rows", static_cast<int>(std::size(kTable)));
  RecordProperty("right_by_unicode_alone", right);
  EXPECT_LT(right, static_cast<int>(std::size(kTable)));
  EXPECT_GT(right, 20);
}

TEST(SentenceSplitter, a_sentence_leaves_as_soon_as_it_is_sure) {
  SentenceSplitter splitter({.min_characters = 1});
  std::vector<std::string> out;
  const auto keep = [&](std::string_view sentence) { out.emplace_back(sentence); };
  splitter.push("It is done. ", keep);
  EXPECT_TRUE(out.empty()) << "a small letter may follow";
  splitter.push("N", keep);
  EXPECT_EQ(out, std::vector<std::string>{"It is done. "});
  out.clear();
  splitter.push("ow\n", keep);
  EXPECT_TRUE(out.empty());
  splitter.push("x\xE3\x80\x82", keep);
  EXPECT_EQ(out, std::vector<std::string>{"Now\n"});
}

TEST(SentenceSplitter, short_sentences_join_the_next) {
  EXPECT_EQ(split({"Yes. I can do that. No. Then you do it. Ok."}, {.min_characters = 10}),
            (std::vector<std::string>{"Yes. I can do that. ", "No. Then you do it. ", "Ok."}));
  EXPECT_EQ(split({"Code:\n```\nx\n```\nOk."}, {.min_characters = 10}),
            (std::vector<std::string>{"Code:\n", "```\nx\n```\n", "Ok."}));
}

TEST(SentenceSplitter, a_pause_lets_everything_go) {
  SentenceSplitter splitter({.min_characters = 10});
  std::vector<std::string> out;
  const auto keep = [&](std::string_view sentence) { out.emplace_back(sentence); };
  splitter.push("Let me look", keep);
  splitter.flush(keep);
  splitter.push("\n\n", keep);
  splitter.flush(keep);
  splitter.flush(keep);
  EXPECT_EQ(out, (std::vector<std::string>{"Let me look", "\n\n"}));
  splitter.push("Found it. 42", keep);
  splitter.flush(keep);
  EXPECT_EQ(out, (std::vector<std::string>{"Let me look", "\n\n", "Found it. 42"}));
}

TEST(SentenceSplitter, cuts_what_never_ends) {
  const std::string text = std::string(500, 'x') + "```";
  const std::vector<std::string> out = split({text}, {.max_bytes = 100});
  ASSERT_EQ(out.size(), 6u);
  EXPECT_EQ(out[0].size(), 100u);
  const std::string signs = "End. " + std::string(300, '+') + " lower";
  EXPECT_EQ(split({signs}).size(), 2u)
      << "signs that decide nothing are looked through for a while only";
}

TEST(SentenceSplitter, takes_bytes_that_are_no_text) {
  EXPECT_EQ(split({"A\xFF. B\xC3", "\xA9. C\xE2\x82"}).size(), 3u);
}

TEST(SentenceSplitter, random_texts_come_out_whole_and_the_same_for_random_cuts) {
  static constexpr std::string_view kPieces[] = {"word",
                                                 "Word",
                                                 " ",
                                                 " ",
                                                 "\n",
                                                 ".",
                                                 ". ",
                                                 "!",
                                                 "? ",
                                                 "\xE2\x80\xA6",
                                                 "\xE3\x80\x82",
                                                 "\"",
                                                 ")",
                                                 "`",
                                                 "```",
                                                 "\n```\n",
                                                 "3",
                                                 "42",
                                                 "z.B.",
                                                 "Mr.",
                                                 "Oktober",
                                                 "\xC2\xBB",
                                                 "\xC2\xA0",
                                                 "*",
                                                 "-",
                                                 "\xF0\x9F\x98\x80",
                                                 "\xCC\x81",
                                                 ",",
                                                 "~~~",
                                                 "\r\n"};
  std::mt19937 random(7);
  const auto below = [&](std::size_t n) { return random() % n; };
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (std::size_t k = below(30); k > 0; --k) text += kPieces[below(std::size(kPieces))];
    std::vector<std::string_view> parts;
    for (std::size_t at = 0; at < text.size();) {
      parts.push_back(std::string_view(text).substr(at, 1 + below(9)));
      at += parts.back().size();
    }
    const SentenceOptions options{.min_characters = below(12),
                                  .max_bytes = i % 4 == 0 ? 2 + below(24) : 1000u};
    const std::vector<std::string> whole = split({text}, options);
    ASSERT_EQ(split(parts, options), whole) << text;
    std::string joined;
    for (const std::string& sentence : whole) joined += sentence;
    ASSERT_EQ(joined, text);
  }
}

// The same text in one piece and in pieces of one byte: no push may look at what was looked at before.
TEST(SentenceSplitter, work_grows_with_the_text_alone) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += i % 9 == 0 ? "z. B. 3. \"\xE2\x80\xA6 " : "word, ";
  SentenceSplitter splitter;
  std::vector<std::string> out;
  const auto keep = [&](std::string_view sentence) { out.emplace_back(sentence); };
  for (const char& c : text) splitter.push({&c, 1}, keep);
  splitter.flush(keep);
  EXPECT_EQ(out, split({text}, {}));
}

}  // namespace
}  // namespace callgate::policy::sentence_splitter_test
