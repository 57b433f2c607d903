#include "config/text_expansion.h"

#include <cstdlib>
#include <fstream>
#include <utility>

namespace callgate::server {
namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 20;
constexpr std::string_view kFile = "file:";

Result<std::string> read_secret(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(ErrorCode::invalid_request, "${file:" + path + "}: cannot be opened");
  std::string text(kLargestFile + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad() || (in.gcount() == 0 && !in.eof())) {
    return fail(ErrorCode::invalid_request, "${file:" + path + "}: cannot be read");
  }
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kLargestFile) {
    return fail(ErrorCode::invalid_request, "${file:" + path + "}: is larger than 1 MiB");
  }
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

Result<std::string> value_of(std::string_view name) {
  if (name.starts_with(kFile)) return read_secret(std::string(name.substr(kFile.size())));
  const std::size_t mark = name.find(":-");
  const std::string variable(name.substr(0, mark));
  const char* value = std::getenv(variable.c_str());
  if (mark != std::string_view::npos && (value == nullptr || *value == '\0')) {
    return std::string(name.substr(mark + 2));
  }
  if (value == nullptr) {
    return fail(ErrorCode::invalid_request, "environment variable " + variable + " is not set");
  }
  return std::string(value);
}

}  // namespace

Result<std::string> expand_text(std::string_view text, Dollars dollars) {
  std::string out;
  while (true) {
    const std::size_t dollar = text.find('$');
    out.append(text.substr(0, dollar));
    if (dollar == std::string_view::npos) return out;
    text.remove_prefix(dollar);
    const std::size_t close = text.starts_with("${") ? text.find('}') : std::string_view::npos;
    if (text.starts_with("$$")) {
      const bool one = dollars == Dollars::everywhere || text.starts_with("$${");
      out += one ? "$" : "$$";
      text.remove_prefix(2);
    } else if (close == std::string_view::npos) {
      out += '$';
      text.remove_prefix(1);
    } else {
      auto value = value_of(text.substr(2, close - 2));
      if (!value) return value;
      out += *value;
      text.remove_prefix(close + 1);
    }
  }
}

}  // namespace callgate::server
