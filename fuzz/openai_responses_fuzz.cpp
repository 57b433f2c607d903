// Answers of the Responses API. Oracle: wire_oracle.h.
#include <cstddef>
#include <cstdint>

#include "wire_oracle.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  callgate::fuzz::check_answer("openai_responses", data, size);
  return 0;
}
