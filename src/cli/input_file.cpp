#include "cli/input_file.h"

#include <fstream>
#include <iostream>
#include <iterator>

namespace callgate::cli {

Result<std::string> read_input(const std::string& file) {
  if (file.empty() || file == "-") {
    return std::string(std::istreambuf_iterator<char>(std::cin), {});
  }
  std::ifstream in(file, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (!in) return fail(ErrorCode::not_found, "cannot read " + file);
  return text;
}

}  // namespace callgate::cli
