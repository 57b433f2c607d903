// Lines of codex, both protocols. Oracle: wire_oracle.h.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wire_oracle.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::uint8_t flags = data[0];
  const std::string_view input(reinterpret_cast<const char*>(data) + 2, size - 2);
  callgate::Request request{
      .model = "m", .stream = (flags & 1) != 0, .include_usage = (flags & 2) != 0};
  request.tools.push_back({.name = "find"});
  const std::string_view wire = (flags & 4) != 0 ? "codex_proto" : "codex_app_server";
  callgate::fuzz::check_cuts(request, wire, input, 2u + data[1]);
  return 0;
}
