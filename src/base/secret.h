// A text that must not be shown: it cannot be printed or compared by accident.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace callgate {

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value) : value_(std::move(value)) {}

  bool empty() const { return value_.empty(); }

  // Equality whose time depends on the length of `other` alone.
  bool matches(std::string_view other) const;

  // For people: `***` and, of a long secret, its last four characters.
  std::string mask() const;

  // The only way to the value.
  const std::string& reveal() const { return value_; }

 private:
  std::string value_;
};

inline std::ostream& operator<<(std::ostream& out, const Secret&) { return out << "***"; }

}  // namespace callgate
