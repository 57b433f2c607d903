#include "json/scanner.h"

#include <gtest/gtest.h>

#include <random>
#include <type_traits>

#include "base/utf8.h"
#include "json/reader.h"
#include "json/test_documents.h"

namespace callgate::json::scanner_test {
namespace {

static_assert(std::is_trivially_copyable_v<Scanner>);

struct Outcome {
  Scanner::State state;
  std::size_t consumed;
  std::size_t depth;
  std::size_t unsafe_tail;
  bool saw_raw_control;
  bool closed_at_end;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// What the scanner says after `pieces`. Once it takes less than it is given, nothing more is pushed.
Outcome scan(const std::vector<std::string_view>& pieces) {
  Scanner scanner;
  std::size_t consumed = 0;
  for (const std::string_view piece : pieces) {
    const std::size_t taken = scanner.push(piece);
    consumed += taken;
    if (taken < piece.size()) break;
  }
  Outcome outcome{scanner.state(),           consumed, scanner.depth(), scanner.unsafe_tail(),
                  scanner.saw_raw_control(), false};
  outcome.closed_at_end = scanner.finish();
  return outcome;
}

std::vector<std::string_view> bytes_of(std::string_view text) {
  std::vector<std::string_view> pieces;
  for (std::size_t i = 0; i < text.size(); ++i) pieces.push_back(text.substr(i, 1));
  return pieces;
}

bool is_json(std::string_view text, const Outcome& outcome) {
  return outcome.closed_at_end &&
         text.find_first_not_of(" \t\r\n", outcome.consumed) == std::string_view::npos;
}

void expect_same_at_every_cut(std::string_view text) {
  const Outcome whole = scan({text});
  EXPECT_EQ(scan(bytes_of(text)), whole) << text;
  if (text.size() > 2000) return;
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(scan({text.substr(0, cut), text.substr(cut)}), whole) << text << " cut at " << cut;
  }
}

// Where a fragment of `text` must not end: inside of a UTF-8 sequence, an escape or a surrogate pair.
std::vector<bool> unsafe_places(std::string_view text) {
  std::vector<bool> unsafe(text.size() + 1, false);
  const auto mark = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to && i < unsafe.size(); ++i) unsafe[i] = true;
  };
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    std::size_t size = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    if (byte == '\\') size = text.substr(i + 1, 1) == "u" ? 6 : 2;
    const auto half = [&](std::size_t at, std::string_view second_digits) {
      const std::string_view head = text.substr(std::min(at, text.size()), 4);
      return head.size() == 4 && head[0] == '\\' && head[1] == 'u' && (head[2] | 0x20) == 'd' &&
             second_digits.find(head[3]) != std::string_view::npos;
    };
    if (half(i, "89abAB") && half(i + 6, "cdefCDEF")) size = 12;
    mark(i + 1, i + size);
    i += size;
  }
  return unsafe;
}

TEST(Scanner, agrees_with_the_table) {
  for (const Document& document : test_documents()) {
    const Outcome outcome = scan({document.text});
    EXPECT_EQ(is_json(document.text, outcome), document.verdict != Verdict::invalid)
        << document.text;
    if (document.verdict == Verdict::raw_control) {
      EXPECT_TRUE(outcome.saw_raw_control) << document.text;
    }
    if (document.verdict == Verdict::valid) {
      EXPECT_FALSE(outcome.saw_raw_control) << document.text;
    }
  }
}

TEST(Scanner, says_the_same_at_every_cut_of_every_document) {
  for (const Document& document : test_documents()) expect_same_at_every_cut(document.text);
}

TEST(Scanner, leaves_what_follows_the_value) {
  struct Row {
    std::string_view text;
    std::size_t consumed;
  };
  const Row rows[] = {{"{} trailing", 2}, {" [1]]", 4}, {"\"a\"b", 3}, {"12 ", 2},
                      {"12x", 2},         {"01", 1},    {"true,", 4},  {"nullx", 4}};
  for (const Row& row : rows) {
    Scanner scanner;
    EXPECT_EQ(scanner.push(row.text), row.consumed) << row.text;
    EXPECT_EQ(scanner.state(), Scanner::State::closed) << row.text;
    EXPECT_EQ(scanner.push("{}"), 0u);
    expect_same_at_every_cut(row.text);
  }
}

TEST(Scanner, closes_a_bare_scalar_only_at_the_end) {
  for (const std::string_view text : {"0", "-12", "1.5", "1e5", "true", "false", "null"}) {
    Scanner scanner;
    EXPECT_EQ(scanner.push(text), text.size());
    EXPECT_EQ(scanner.state(), Scanner::State::inside) << text;
    EXPECT_TRUE(scanner.finish()) << text;
    EXPECT_EQ(scanner.state(), Scanner::State::closed) << text;
  }
  for (const std::string_view text : {"", " ", "-", "1.", "1e", "1e+", "tru", "\"a", "[1", "{"}) {
    Scanner scanner;
    scanner.push(text);
    EXPECT_FALSE(scanner.finish()) << text;
    EXPECT_NE(scanner.state(), Scanner::State::closed) << text;
  }
}

TEST(Scanner, stops_before_the_byte_that_is_wrong) {
  const std::pair<std::string_view, std::size_t> rows[] = {
      {"[1,]", 3}, {"{\"a\" 1}", 5}, {"[tru ", 4}, {"\"\\x\"", 2}, {"-a", 1}, {"x", 0}};
  for (const auto& [text, consumed] : rows) {
    Scanner scanner;
    EXPECT_EQ(scanner.push(text), consumed) << text;
    EXPECT_EQ(scanner.state(), Scanner::State::failed) << text;
    EXPECT_EQ(scanner.unsafe_tail(), 0u);
    EXPECT_EQ(scanner.push("1"), 0u);
    EXPECT_FALSE(scanner.finish());
  }
}

TEST(Scanner, knows_where_it_is) {
  Scanner scanner;
  EXPECT_EQ(scanner.state(), Scanner::State::before);
  scanner.push(" \n");
  EXPECT_EQ(scanner.state(), Scanner::State::before);
  scanner.push("{\"a");
  EXPECT_EQ(scanner.state(), Scanner::State::inside);
  EXPECT_TRUE(scanner.in_string());
  EXPECT_EQ(scanner.depth(), 1u);
  scanner.push("\":[[");
  EXPECT_FALSE(scanner.in_string());
  EXPECT_EQ(scanner.depth(), 3u);
  scanner.push("\"\\u00");
  EXPECT_TRUE(scanner.in_string());
  scanner.push("41\"]]}");
  EXPECT_EQ(scanner.state(), Scanner::State::closed);
  EXPECT_EQ(scanner.depth(), 0u);
  scanner.reset();
  EXPECT_EQ(scanner.state(), Scanner::State::before);
}

TEST(Scanner, holds_back_exactly_what_is_unsafe) {
  struct Row {
    std::string_view text;
    std::size_t tail;
  };
  const Row rows[] = {
      {"", 0},
      {"\"abc", 0},
      {R"("a\)", 1},
      {R"("a\n)", 0},
      {R"("a\\)", 0},
      {R"("a\u)", 2},
      {R"("a\u1)", 3},
      {R"("a\u123)", 5},
      {R"("a\u1234)", 0},
      {R"("a\uD83D)", 6},
      {R"("a\udbff)", 6},
      {R"("a\uD83D\)", 7},
      {R"("a\uD83D\n)", 0},
      {R"("a\uD83D\u)", 8},
      {R"("a\uD83D\uD)", 9},
      {R"("a\uD83D\ud)", 9},
      {R"("a\uD83D\uDE)", 10},
      {R"("a\uD83D\uDE0)", 11},
      {R"("a\uD83D\uDE00)", 0},
      {R"("a\uD83D\u0)", 3},
      {R"("a\uD83D\uD8)", 4},
      {R"("a\uD83D\uD83D)", 6},
      {R"("a\uD83D\uD83D\uDE)", 10},
      {R"("a\uD83Dx)", 0},
      {R"("a\uD83D")", 0},
      {R"("a\uDE00)", 0},
      {R"("a\uD7FF)", 0},
      {"\"a\xC3", 1},
      {"\"a\xC3\xBC", 0},
      {"\"a\xE2\x82", 2},
      {"\"a\xF0\x9F\x98", 3},
      {"\"a\xF0\x9F\x98\x80", 0},
      {"\"\\uD83D\xF0\x9F", 2},
      {"\"a\xFF", 0},
      {"\"a\x80\x80\x80", 0},
      {"\"a\xED\xA0", 0},
      {"\"a\xE2\"", 0},
      {"\"a\xE2\n", 0},
      {"{\"a\xE2", 1},
      {"{\"a\":1", 0},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(scan({row.text}).unsafe_tail, row.tail) << row.text;
    expect_same_at_every_cut(row.text);
  }
}

TEST(Scanner, lets_fragments_end_on_whole_characters_only) {
  for (const Document& document : test_documents()) {
    if (document.verdict != Verdict::valid) continue;
    const std::vector<bool> unsafe = unsafe_places(document.text);
    Scanner scanner;
    std::size_t before = 0;
    for (std::size_t size = 1; size <= document.text.size(); ++size) {
      if (scanner.push(document.text.substr(size - 1, 1)) == 0) break;
      const std::size_t tail = scanner.unsafe_tail();
      ASSERT_LE(tail, 11u);
      ASSERT_LE(tail, size);
      EXPECT_FALSE(unsafe[size - tail]) << document.text << " at " << size;
      EXPECT_GE(size - tail, before) << "taken back what was safe already";
      before = size - tail;
    }
    scanner.finish();
    EXPECT_EQ(scanner.unsafe_tail(), 0u);
  }
}

// The scanner accepts two things that the reader refuses, and tells apart nothing else.
void expect_agreement(std::string_view text, std::mt19937_64& random) {
  Reader reader(text);
  reader.skip();
  const bool read = reader.finish();
  const Outcome whole = scan({text});
  const bool scanned = is_json(text, whole);
  if (read) {
    EXPECT_TRUE(scanned && !whole.saw_raw_control) << text;
  }
  if (scanned && !whole.saw_raw_control && utf8::is_valid(text)) {
    EXPECT_TRUE(read) << text;
  }
  std::vector<std::string_view> pieces;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = 1 + random() % 9;
    pieces.push_back(text.substr(at, size));
    at += size;
  }
  EXPECT_EQ(scan(pieces), whole) << text;
}

TEST(Scanner, agrees_with_the_reader_on_mutated_documents) {
  constexpr std::string_view kAlphabet =
      "{}[]:,\"\\u0123deDE89.+-trufalsn \n\t\x01\xC3\xBC\xE2\x82\xFF";
  std::mt19937_64 random(20260101);
  std::vector<std::string> seeds;
  for (const Document& document : test_documents()) {
    if (document.text.size() < 200) seeds.emplace_back(document.text);
  }
  for (int round = 0; round < 200000; ++round) {
    std::string text = seeds[random() % seeds.size()];
    for (std::uint64_t edits = 1 + random() % 3; edits > 0; --edits) {
      const std::size_t at = random() % (text.size() + 1);
      const char c = kAlphabet[random() % kAlphabet.size()];
      switch (random() % 4) {
        case 0:
          text.insert(at, 1, c);
          break;
        case 1:
          if (at < text.size()) text[at] = c;
          break;
        case 2:
          text.erase(at, 1 + random() % 3);
          break;
        default:
          text.insert(at, seeds[random() % seeds.size()]);
      }
    }
    expect_agreement(text, random);
  }
}

TEST(Scanner, closes_a_prefix_of_a_valid_text_to_a_valid_text_or_says_that_it_cannot) {
  std::size_t closed = 0;
  for (const Document& document : test_documents()) {
    if (document.verdict != Verdict::valid) continue;
    for (std::size_t cut = 0; cut < document.text.size(); ++cut) {
      Scanner scanner;
      const std::string_view prefix = document.text.substr(0, cut);
      if (scanner.push(prefix) < prefix.size() || scanner.state() != Scanner::State::inside)
        continue;
      std::string whole(prefix.substr(0, prefix.size() - scanner.unsafe_tail()));
      const std::size_t before = whole.size();
      if (!scanner.append_closing(whole)) {
        EXPECT_EQ(whole.size(), before);
        continue;
      }
      ++closed;
      Scanner again;
      EXPECT_EQ(again.push(whole), whole.size()) << whole;
      EXPECT_TRUE(again.finish()) << whole;
    }
  }
  EXPECT_GT(closed, 500u);
}

}  // namespace
}  // namespace callgate::json::scanner_test
