// Answers of the Qwen web chat. Oracle: wire_oracle.h.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "upstream/qwen_web/qwen_web.h"
#include "wire_oracle.h"

namespace {

// The readers beside the decoder must not fall over either.
void read_aside(std::string_view input) {
  static_cast<void>(callgate::upstream::decode_qwen_web_created(input));
  const auto chat = callgate::upstream::decode_qwen_web_chat(200, input);
  CALLGATE_CHECK(chat ? !chat->empty() : !chat.error().message.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::uint8_t flags = data[0];
  const std::string_view input(reinterpret_cast<const char*>(data) + 2, size - 2);
  const callgate::Request request{.model = "m",
                                  .choices = (flags & 1) != 0 ? 2u : 1u,
                                  .stream = (flags & 2) != 0,
                                  .include_usage = (flags & 4) != 0};
  read_aside(input);
  callgate::fuzz::check_cuts(request, "qwen_web", input, data[1]);
  return 0;
}
