// Files that belong to a configuration and fit into memory.
#pragma once

#include <cstddef>
#include <fstream>
#include <string>

#include "callgate/result.h"

namespace callgate::server {

// Fails when the file cannot be read or has more bytes than `most`.
inline Result<std::string> read_small_file(const std::string& path, std::size_t most) {
  std::ifstream file(path, std::ios::binary);
  std::string text(most + 1, '\0');
  if (!file.is_open() || !file.read(text.data(), static_cast<std::streamsize>(text.size())).eof()) {
    const bool long_file = file.is_open() && file.gcount() > static_cast<std::streamsize>(most);
    return fail(ErrorCode::invalid_request,
                long_file ? "it has more than " + std::to_string(most) + " bytes"
                          : std::string("it cannot be read"));
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace callgate::server
