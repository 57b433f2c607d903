// A key or password. It cannot be printed by accident: streams and log lines get `***`, and there
// is no conversion to text but reveal().
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace callgate {

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value) : value_(std::move(value)) {}

  // The time depends on the length of `candidate` only, not on how much of it is right.
  bool matches(std::string_view candidate) const;
  bool operator==(const Secret& other) const { return matches(other.value_); }

  // For a person to tell keys apart: `sk-…ab12`, or `***` when the secret is too short to show any
  // of it.
  std::string mask() const;

  // For the wire only.
  const std::string& reveal() const { return value_; }
  bool empty() const { return value_.empty(); }

  template <class Stream>
  friend Stream& operator<<(Stream& stream, const Secret&) {
    stream << "***";
    return stream;
  }

 private:
  std::string value_;
};

}  // namespace callgate
