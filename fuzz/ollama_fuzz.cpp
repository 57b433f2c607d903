// Answers of /api/chat. Oracle: wire_oracle.h.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wire_oracle.h"

// The input is lines from its first byte on, as the seeds are: how it is asked for and cut comes from its size.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const callgate::Request request{.model = "m",
                                  .choices = (size & 4) != 0 ? 2u : 1u,
                                  .stream = (size & 1) != 0,
                                  .include_usage = (size & 2) != 0};
  callgate::fuzz::check_cuts(request, "ollama", input, 2 + size / 8 % 61);
  return 0;
}
