#include "policy/abbreviations.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"

namespace callgate::policy {
namespace {

// Sorted, in lower case.
constexpr std::array<std::string_view, 81> kAbbreviations{
    "abb",  "abs", "adm",  "al",     "anm",  "approx", "art",  "aufl", "bd",   "bspw", "bzgl",
    "bzw",  "ca",  "capt", "cf",     "cmdr", "col",    "cpl",  "dept", "dipl", "doz",  "dr",
    "dres", "ebd", "ed",   "eds",    "est",  "evtl",   "exkl", "fa",   "fr",   "frl",  "geb",
    "gebr", "gen", "ggf",  "gov",    "hl",   "hon",    "hr",   "hrsg", "ing",  "inkl", "jr",
    "lt",   "maj", "max",  "messrs", "mio",  "mlle",   "mme",  "mr",   "mrd",  "mrs",  "ms",
    "mt",   "nr",  "ph",   "pp",     "pres", "priv",   "prof", "rep",  "rev",  "sen",  "sgt",
    "sog",  "sr",  "sra",  "srta",   "st",   "str",    "tel",  "ud",   "uds",  "univ", "vgl",
    "viz",  "vol", "vs",   "zzgl"};
// What a German doctor is a doctor of, and the like; words elsewhere.
constexpr std::array<std::string_view, 26> kTitleParts{
    "agr",  "apl",  "dent", "em",   "habil", "hc",    "hort",  "iur",   "jur",
    "math", "med",  "mont", "mult", "nat",   "oec",   "paed",  "pharm", "phil",
    "pol",  "publ", "rer",  "sc",   "techn", "theol", "troph", "vet"};
constexpr std::array<std::string_view, 20> kBeforeDigit{
    "apr", "aug", "ch",  "dec", "eq",  "feb", "fig", "figs", "jan", "jul",
    "jun", "kap", "mar", "no",  "nos", "nov", "oct", "sec",  "sep", "sept"};
constexpr std::array<std::string_view, 29> kAfterOrdinal{
    "April",      "Auflage",     "August",      "Dezember",  "Etage", "Februar",
    "Geburtstag", "Jahrhundert", "Jahrtausend", "Januar",    "Juli",  "Juni",
    "Kapitel",    "Klasse",      "Liga",        "Mai",       "Mal",   "M\xC3\xA4rz",
    "November",   "Oktober",     "Platz",       "Quartal",   "Runde", "Semester",
    "September",  "Stock",       "Tag",         "Weltkrieg", "Woche"};

template <std::size_t N>
constexpr bool contains(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::binary_search(words.begin(), words.end(), word);
}
static_assert(std::is_sorted(kAbbreviations.begin(), kAbbreviations.end()));
static_assert(std::is_sorted(kTitleParts.begin(), kTitleParts.end()));
static_assert(std::is_sorted(kBeforeDigit.begin(), kBeforeDigit.end()));

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}

// Letters that are alone or two by two between stops: z.B  e.g  U.S  i.d.R  Ph.D  o.\xC3\xA4
bool is_dotted(std::string_view word) {
  std::size_t run = 0;
  bool dotted = false;
  for (const char c : word) {
    if (c == '.') {
      if (run == 0) return false;
      dotted = true;
      run = 0;
    } else if (!is_letter(c) || ++run > 2) {
      return false;
    }
  }
  return dotted && run > 0;
}

// Joined to another one: Dipl.-Ing  Dr.-Ing  Univ.-Prof
bool is_joined(std::string_view word) {
  const std::size_t at = word.find(".-");
  return at != std::string_view::npos && at > 0 && at + 2 < word.size() &&
         std::all_of(word.begin(), word.end(),
                     [](char c) { return is_letter(c) || c == '.' || c == '-'; });
}

// `before` is a title, or a part of one, with its stop: Dr.  med.  h.c.
bool follows_title(std::string_view before) {
  if (!before.ends_with('.')) return false;
  before.remove_suffix(1);
  return before == "Dr" || before == "Prof" || before == "Dres" || before == "h.c" ||
         before == "c" || contains(kTitleParts, before);
}

}  // namespace

StopKind kind_of_stop(std::string_view word, std::string_view before) {
  constexpr std::string_view kOpen = "([{\"'*_";
  while (!word.empty() && kOpen.find(word.front()) != kOpen.npos) word.remove_prefix(1);
  if (is_joined(word)) return StopKind::abbreviation;
  if (word.empty() || word.size() > 12) return StopKind::sentence;
  if (std::all_of(word.begin(), word.end(), is_digit)) {
    return word.size() <= 2 ? StopKind::number : StopKind::sentence;
  }
  if (word.size() == 1) {
    return is_letter(word[0]) && word != "I" ? StopKind::abbreviation : StopKind::sentence;
  }
  const std::string lower = to_lower(word);
  if (lower == "a.m" || lower == "p.m") return StopKind::sentence;
  if (is_dotted(word) || contains(kAbbreviations, lower)) return StopKind::abbreviation;
  if (contains(kTitleParts, word) && follows_title(before)) return StopKind::abbreviation;
  return contains(kBeforeDigit, lower) ? StopKind::before_digit : StopKind::sentence;
}

bool follows_ordinal(std::string_view word) {
  return std::find(kAfterOrdinal.begin(), kAfterOrdinal.end(), word) != kAfterOrdinal.end();
}

}  // namespace callgate::policy
