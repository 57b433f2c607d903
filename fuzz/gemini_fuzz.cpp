// Answers of the Gemini API, as frames or as an array. Oracle: wire_oracle.h.
#include <cstddef>
#include <cstdint>

#include "wire_oracle.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  callgate::fuzz::check_answer("gemini", data, size);
  return 0;
}
