#include "policy/abbreviations.h"

#include <algorithm>
#include <array>
#include <string>

namespace callgate::policy {
namespace {

// Sorted, in lower case.
constexpr std::array<std::string_view, 71> kAbbreviations{
    "abb",  "abs",  "adm", "al",   "anm",  "approx", "art", "aufl", "bd",  "bspw", "bzgl", "bzw",
    "ca",   "capt", "cf",  "col",  "dept", "dipl",   "dr",  "ebd",  "ed",  "eds",  "est",  "evtl",
    "exkl", "fr",   "frl", "geb",  "gen",  "ggf",    "gov", "hon",  "hr",  "hrsg", "ing",  "inkl",
    "jr",   "lt",   "maj", "max",  "mio",  "mlle",   "mme", "mr",   "mrd", "mrs",  "ms",   "mt",
    "nr",   "ph",   "pp",  "pres", "prof", "rep",    "rev", "sen",  "sgt", "sog",  "sr",   "sra",
    "srta", "st",   "str", "tel",  "ud",   "uds",    "vgl", "viz",  "vol", "vs",   "zzgl"};
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
static_assert(std::is_sorted(kBeforeDigit.begin(), kBeforeDigit.end()));

bool is_digit(char c) { return c >= '0' && c <= '9'; }
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

}  // namespace

StopKind kind_of_stop(std::string_view word) {
  constexpr std::string_view kOpen = "([{\"'*_";
  while (!word.empty() && kOpen.find(word.front()) != kOpen.npos) word.remove_prefix(1);
  if (word.empty() || word.size() > 12) return StopKind::sentence;
  if (std::all_of(word.begin(), word.end(), is_digit)) {
    return word.size() <= 2 ? StopKind::number : StopKind::sentence;
  }
  if (word.size() == 1) {
    return is_letter(word[0]) && word != "I" ? StopKind::abbreviation : StopKind::sentence;
  }
  std::string lower(word);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  if (lower == "a.m" || lower == "p.m") return StopKind::sentence;
  if (is_dotted(word) || contains(kAbbreviations, lower)) return StopKind::abbreviation;
  return contains(kBeforeDigit, lower) ? StopKind::before_digit : StopKind::sentence;
}

bool follows_ordinal(std::string_view word) {
  return std::find(kAfterOrdinal.begin(), kAfterOrdinal.end(), word) != kAfterOrdinal.end();
}

}  // namespace callgate::policy
