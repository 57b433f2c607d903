// An argument from a model in the path of a URL: whatever is let through stays below its place for a server that resolves dot
// segments after it has decoded the path any number of times, with slashes of either kind.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/url_query.h"
#include "json/writer.h"
#include "tool/url_template.h"

namespace {

// How deep below /orders/ the path leads when dots are resolved, never less than 0 for what is allowed.
bool stays_below(std::string_view path) {
  int depth = 0;
  std::size_t at = 1;
  while (at <= path.size()) {
    const std::size_t end = std::min(path.find_first_of("/\\", at), path.size());
    const std::string_view segment = path.substr(at, end - at);
    if (segment == "..") {
      --depth;
    } else if (segment != "." && !segment.empty()) {
      ++depth;
    }
    if (depth < 0) return false;
    at = end + 1;
  }
  return depth >= 1;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using callgate::tool::UrlTemplate;
  static const auto place = UrlTemplate::parse("http://api.example/orders/{id}");
  std::string json;
  callgate::json::append_string(json, std::string_view(reinterpret_cast<const char*>(data), size));
  const auto expanded = place->expand({{"id", json}});
  if (!expanded) {
    CALLGATE_CHECK(!expanded.error().message.empty());
    return 0;
  }
  std::string path = expanded->path;
  CALLGATE_CHECK(path.starts_with("/orders/"));
  for (int round = 0; round < 4; ++round) {
    CALLGATE_CHECK(stays_below(path));
    path = callgate::percent_decoded(path);
  }
  return 0;
}
