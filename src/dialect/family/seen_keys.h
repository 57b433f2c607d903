// The names of a call's arguments so far. When a call's close marker is missing they say whether the call is whole, and
// when a value's is, whether a tag inside the value may be the next argument.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "dialect/family/schema_types.h"

namespace callgate::dialect {

class SeenKeys {
 public:
  void clear() { names_.clear(); }
  void add(std::string_view name) { names_.append(name).push_back('\0'); }
  bool has(std::string_view name) const {
    std::string_view rest = names_;
    while (!rest.empty()) {
      const std::size_t end = rest.find('\0');
      if (rest.substr(0, end) == name) return true;
      rest.remove_prefix(end + 1);
    }
    return false;
  }
  // So many that looking for one takes long.
  bool many() const { return names_.size() > kMany; }
  // An argument that `schema` requires was not written.
  bool lack(const SchemaPlace& schema) const {
    const auto required = schema.required();
    return std::any_of(required.begin(), required.end(),
                       [&](std::string_view name) { return !has(name); });
  }

 private:
  static constexpr std::size_t kMany = 4096;

  std::string names_;  // each ends with a zero byte
};

}  // namespace callgate::dialect
