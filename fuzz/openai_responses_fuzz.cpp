// Answers of the Responses API. Oracle: wire_oracle.h.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wire_oracle.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::uint8_t flags = data[0];
  const std::string_view input(reinterpret_cast<const char*>(data) + 2, size - 2);
  const callgate::Request request{.model = "m",
                                  .choices = (flags & 4) != 0 ? 2u : 1u,
                                  .stream = (flags & 1) != 0,
                                  .include_usage = (flags & 2) != 0};
  callgate::fuzz::check_cuts(request, "openai_responses", input, data[1]);
  return 0;
}
