#include "capture/secret_mask.h"

#include <algorithm>
#include <string_view>

#include "json/writer.h"

namespace callgate::server {
namespace {

constexpr std::size_t kShortestGuess = 8;
constexpr std::size_t kShortestRest = 4;  // of a secret that the truncation cut
constexpr std::size_t kLongestStep = 255;

struct Span {
  std::size_t begin;
  std::size_t size;
};

// As it is, as JSON writers escape it, and as those do that escape slashes, too.
std::vector<std::string> spellings_of(const std::vector<std::string>& secrets) {
  std::vector<std::string> all;
  for (const std::string& secret : secrets) {
    if (secret.empty()) continue;
    std::string escaped;
    json::append_escaped(escaped, secret);
    std::string slashed;
    for (const char c : escaped) slashed.append(c == '/' ? "\\/" : std::string(1, c));
    all.push_back(secret);
    all.push_back(std::move(escaped));
    all.push_back(std::move(slashed));
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// Of the two bytes that end at `at`.
std::size_t hash_at(std::string_view text, std::size_t at) {
  const auto a = static_cast<unsigned char>(text[at - 1]);
  const auto b = static_cast<unsigned char>(text[at]);
  return ((std::size_t{a} << 4) ^ b) & 4095;
}

}  // namespace

SecretMask::SecretMask(const std::vector<std::string>& secrets)
    : spellings_(spellings_of(secrets)) {
  if (spellings_.empty()) return;
  shortest_ = kLongestStep;
  for (const std::string& secret : spellings_) shortest_ = std::min(shortest_, secret.size());
  if (shortest_ < 2) return;  // every place is looked at
  steps_.fill(static_cast<std::uint8_t>(shortest_ - 1));
  for (const std::string& secret : spellings_) {
    for (std::size_t at = 1; at < shortest_; ++at) {
      std::uint8_t& step = steps_[hash_at(secret, at)];
      step = std::min(step, static_cast<std::uint8_t>(shortest_ - 1 - at));
    }
  }
}

bool SecretMask::apply(std::string& text, bool end_is_cut) const {
  std::vector<Span> found;
  const std::string_view view(text);
  // Here `at` is where the first bytes of a secret would end.
  for (std::size_t at = shortest_ - 1; shortest_ > 0 && at < view.size();) {
    const std::size_t step = shortest_ < 2 ? 0 : steps_[hash_at(view, at)];
    if (step > 0) {
      at += step;
      continue;
    }
    const std::size_t begin = at - (shortest_ - 1);
    for (const std::string& secret : spellings_) {
      if (view.substr(begin).starts_with(secret)) found.push_back({begin, secret.size()});
    }
    ++at;
  }
  for (const std::string& secret : spellings_) {
    for (std::size_t rest = std::min(secret.size() - 1, view.size());
         end_is_cut && rest >= kShortestRest; --rest) {
      if (!view.ends_with(std::string_view(secret).substr(0, rest))) continue;
      found.push_back({view.size() - rest, rest});
      break;
    }
  }
  // Only now, since secrets may overlap.
  for (const Span& span : found) text.replace(span.begin, span.size, span.size, '*');
  return !found.empty();
}

bool is_long_enough_for_a_secret(std::string_view text) { return text.size() >= kShortestGuess; }

}  // namespace callgate::server
