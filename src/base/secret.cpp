#include "base/secret.h"

#include <cstddef>

namespace callgate {
namespace {

constexpr std::size_t kShown = 4;
constexpr std::size_t kLongEnoughForTail = 12;
constexpr std::size_t kLongEnoughForPrefix = 16;
constexpr std::size_t kLongestPrefix = 4;

}  // namespace

bool Secret::matches(std::string_view candidate) const {
  if (value_.empty()) return candidate.empty();
  unsigned difference = candidate.size() == value_.size() ? 0 : 1;
  for (std::size_t i = 0; i < candidate.size(); ++i) {
    difference |= static_cast<unsigned char>(candidate[i] ^ value_[i % value_.size()]);
  }
  return difference == 0;
}

std::string Secret::mask() const {
  if (value_.size() < kLongEnoughForTail) return "***";
  std::string masked;
  if (value_.size() >= kLongEnoughForPrefix) {
    const std::size_t dash = value_.find('-');
    if (dash < kLongestPrefix) masked = value_.substr(0, dash + 1);
  }
  masked += "…";
  masked += value_.substr(value_.size() - kShown);
  return masked;
}

}  // namespace callgate
