#include "dialect/family/tagged_grammar.h"

namespace callgate::dialect {

void TagTokens::add(TagPlace place, TagToken::Kind kind, std::string_view text) {
  if (!text.empty()) tokens_[static_cast<std::size_t>(place)].push_back({text, kind});
}

void TagTokens::add(TagPlace place, TagToken::Kind kind, std::span<const std::string_view> texts) {
  for (const std::string_view text : texts) add(place, kind, text);
}

void TagTokens::use(const TaggedGrammar& grammar) {
  using Kind = TagToken::Kind;
  for (std::vector<TagToken>& tokens : tokens_) tokens.clear();

  add(TagPlace::lead, Kind::lead, grammar.lead);
  add(TagPlace::lead, Kind::call_open, grammar.call.open);
  add(TagPlace::lead, Kind::outside, grammar.section_close);

  add(TagPlace::body, Kind::parameter_open, grammar.parameter.open);
  add(TagPlace::body, Kind::call_close, grammar.call_close);
  add(TagPlace::body, Kind::value_close, grammar.value_close);
  add(TagPlace::body, Kind::filler, grammar.filler);
  add(TagPlace::body, Kind::outside, grammar.section_close);

  add(TagPlace::before_value, Kind::value_open, grammar.value_open);
  if (grammar.parameter.style == NameTag::Style::text) {
    // Written twice ...
    add(TagPlace::before_value, Kind::filler, grammar.parameter.end);
    add(TagPlace::body, Kind::filler, grammar.parameter.end);
    // ... or instead of the value's.
    add(TagPlace::value, Kind::value_close, grammar.parameter.end);
  }

  add(TagPlace::value, Kind::value_close, grammar.value_close);
  add(TagPlace::value, Kind::call_close, grammar.call_close);
  add(TagPlace::value, Kind::section_close, grammar.section_close);
  add(TagPlace::value, Kind::raw_open, grammar.raw_open);
  add(TagPlace::value, Kind::call_open, grammar.call.open);
  add(TagPlace::value, Kind::parameter_open, grammar.parameter.open);

  add(TagPlace::raw_value, Kind::raw_close, grammar.raw_close);

  add(TagPlace::missing, Kind::section_close, grammar.section_close);
  for (const TagPlace place : {TagPlace::body, TagPlace::missing}) {
    add(place, Kind::outside, grammar.lead);
    add(place, Kind::outside, grammar.call.open);
    add(place, Kind::outside, grammar.tail);
  }
}

TagTokens::Match TagTokens::match(TagPlace place, std::string_view text,
                                  const TagToken*& found) const {
  Match best = Match::none;
  const std::size_t last = text.size() - 1;
  for (const TagToken& token : at(place)) {
    // The last byte tells most of them apart: those before it were compared when they came.
    if (token.text.size() <= last || token.text[last] != text[last]) continue;
    if (!token.text.starts_with(text)) continue;
    best = Match::partial;
    if (token.text.size() != text.size()) continue;
    found = &token;
    return Match::whole;
  }
  return best;
}

std::string_view TagTokens::kept(TagPlace place, std::string_view text) const {
  for (const TagToken& token : at(place)) {
    if (token.text.starts_with(text)) return token.text.substr(0, text.size());
  }
  return {};
}

std::string TagTokens::conflict() const {
  const auto quoted = [](std::string_view text) { return "\"" + std::string(text) + "\""; };
  for (const std::vector<TagToken>& tokens : tokens_) {
    for (const TagToken& token : tokens) {
      for (const TagToken& other : tokens) {
        // The same text with another meaning as well, unless only its first meaning counts.
        const bool prefix = other.text.size() > token.text.size();
        if (&token == &other || !prefix || !other.text.starts_with(token.text)) continue;
        return "the marker " + quoted(token.text) + " is the beginning of " + quoted(other.text);
      }
    }
  }
  for (const TagToken& token : at(TagPlace::value)) {
    if (!token.text.starts_with('<')) {
      return "markers around parameters must begin with \"<\", got " + quoted(token.text);
    }
  }
  return {};
}

}  // namespace callgate::dialect
