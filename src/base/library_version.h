// A library that callgate uses, for `callgate version`.
#pragma once

#include <string>
#include <string_view>

namespace callgate {

struct LibraryVersion {
  std::string_view name;
  std::string version;
};

}  // namespace callgate
