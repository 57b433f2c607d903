// The dialects that commands without a gateway know.
#pragma once

#include <string>

#include "callgate/result.h"
#include "config/dialect_config.h"

namespace callgate::cli {

inline constexpr const char* kDialectConfigHelp =
    "configuration file whose [[dialect]] tables count as well";

// The built-in ones and those of the file, if one is given.
inline Result<dialect::Catalog> dialects_of(const std::string& file) {
  if (file.empty()) return dialect::Catalog();
  const auto config = server::load_config({.file = file, .sets = {}});
  if (!config) return tl::unexpected(config.error());
  return server::make_catalog(*config);
}

}  // namespace callgate::cli
