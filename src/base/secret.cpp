#include "base/secret.h"

#include <cstdint>

namespace callgate {

bool Secret::matches(std::string_view other) const {
  if (value_.empty()) return false;
  std::uint8_t difference = value_.size() == other.size() ? 0 : 1;
  for (std::size_t i = 0; i < other.size(); ++i) {
    difference |= static_cast<std::uint8_t>(value_[i % value_.size()] ^ other[i]);
  }
  return difference == 0;
}

std::string Secret::mask() const {
  if (value_.empty()) return {};
  if (value_.size() < 12) return "***";
  return "***" + value_.substr(value_.size() - 4);
}

}  // namespace callgate
