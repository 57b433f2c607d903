// Keys that must not be in an answer, and never in what we print or write.
//   sk-proj-4f9a...    Bearer eyJhbGciOi...
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "contract/chat_contract.h"

namespace callgate::contract {
namespace {

struct Pattern {
  std::string_view prefix;
  std::size_t length;  // of what follows, at least
};
constexpr Pattern kPatterns[] = {{"sk-", 16}, {"Bearer ", 16}};
// Shorter keys would be found in words; only tests use one.
constexpr std::size_t kShortestKey = 4;

bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_key_byte(char c) { return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.'; }

struct Found {
  std::size_t at = std::string_view::npos;
  std::size_t size = 0;
  std::string_view what;
};

// `sk-learn-style-names` are words: a key has a digit.
Found find_pattern(std::string_view text, const Pattern& pattern, std::size_t from) {
  for (std::size_t at = text.find(pattern.prefix, from); at != std::string_view::npos;
       at = text.find(pattern.prefix, at + 1)) {
    const std::string_view rest = text.substr(at + pattern.prefix.size());
    const auto end = std::find_if_not(rest.begin(), rest.end(), is_key_byte);
    const auto length = static_cast<std::size_t>(end - rest.begin());
    if (at > 0 && is_letter_or_digit(text[at - 1])) continue;
    if (length < pattern.length || std::none_of(rest.begin(), end, is_digit)) continue;
    return {at, pattern.prefix.size() + length, "what looks like a key"};
  }
  return {};
}

Found find_first(std::string_view text, std::span<const std::string_view> secrets,
                 std::size_t from) {
  Found first;
  const auto consider = [&first](const Found& found) {
    if (found.at < first.at) first = found;
  };
  for (const std::string_view secret : secrets) {
    if (secret.size() < kShortestKey) continue;
    consider({text.find(secret, from), secret.size(), "the key of the request"});
  }
  for (const Pattern& pattern : kPatterns) consider(find_pattern(text, pattern, from));
  return first;
}

}  // namespace

std::string find_secret(std::string_view text, std::span<const std::string_view> secrets) {
  return std::string(find_first(text, secrets, 0).what);
}

std::string mask_secrets(std::string_view text, std::span<const std::string_view> secrets) {
  std::string out;
  std::size_t from = 0;
  for (Found found = find_first(text, secrets, 0); found.at != std::string_view::npos;
       found = find_first(text, secrets, from)) {
    out.append(text.substr(from, found.at - from)).append("***");
    from = found.at + found.size;
  }
  return out.append(text.substr(from));
}

}  // namespace callgate::contract
