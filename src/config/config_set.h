// `--set upstream.main.url=...`: one key of a configuration, written over what its file says.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "callgate/result.h"
#include "config/toml.h"

namespace callgate::server {

inline constexpr std::array<std::string_view, 10> kTables{
    "tls", "limits", "log", "cors", "store", "capture", "otlp", "loop", "rooms", "responses"};
inline constexpr std::array<std::string_view, 7> kLists{"tool",    "hook",     "key",  "price",
                                                        "dialect", "upstream", "model"};

inline bool is_list(std::string_view section) {
  return std::find(kLists.begin(), kLists.end(), section) != kLists.end();
}
inline bool is_section(std::string_view key) {
  return is_list(key) || std::find(kTables.begin(), kTables.end(), key) != kTables.end();
}

// `set`: path=value. A path segment is a key, a position in a list, or the `name` of a table in it.
Result<void> apply_set(toml::table& root, std::string_view set);

}  // namespace callgate::server
