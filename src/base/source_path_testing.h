// Where tests find the files of the source tree. The build defines it in a source of its own, so that no test is compiled
// with the name of the folder it is in.
#pragma once

#include <string>
#include <string_view>

namespace callgate {

// source_path("docs/config.md"): the absolute path of a file or folder of the source tree.
std::string source_path(std::string_view below);

}  // namespace callgate
