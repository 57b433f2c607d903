// The SSE and line decoders give the same frames however the bytes are cut.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "sse/decoder.h"

namespace callgate {
namespace {

constexpr std::size_t kMaxFrame = 64;

// The cuts come from the bytes themselves, so that a crash needs nothing else to be repeated.
class Cuts {
 public:
  Cuts(std::uint32_t seed, std::uint32_t longest) : state_(seed), longest_(longest) {}
  std::size_t next() {
    state_ = state_ * 1664525 + 1013904223;
    return 1 + (state_ >> 16) % longest_;
  }

 private:
  std::uint32_t state_;
  std::uint32_t longest_;
};

template <class Decoder>
std::string decode(Decoder decoder, std::string_view bytes, Cuts cuts) {
  std::string log;
  const auto on_frame = [&](const SseFrame& frame) {
    CALLGATE_CHECK(frame.data.size() <= kMaxFrame);
    for (const std::string_view part : {frame.event, frame.id, frame.data}) {
      log += std::to_string(part.size());
      log += ':';
      log += part;
    }
    log += '\n';
  };
  while (!bytes.empty()) {
    const std::string piece(
        bytes.substr(0, cuts.next()));  // its own memory: no view may outlive it
    bytes.remove_prefix(piece.size());
    decoder.push(piece, on_frame);
  }
  decoder.finish(on_frame);
  log += decoder.overflowed() ? "overflowed" : "finished";
  if constexpr (requires { decoder.comments(); }) log += std::to_string(decoder.comments());
  return log;
}

template <class Decoder>
void check(const Decoder& decoder, std::string_view bytes, std::uint32_t seed) {
  const std::string whole = decode(decoder, bytes, Cuts(0, 1));
  CALLGATE_CHECK(decode(decoder, bytes, Cuts(seed, 4)) == whole);
  CALLGATE_CHECK(decode(decoder, bytes, Cuts(seed, 32)) == whole);
  CALLGATE_CHECK(decode(decoder, bytes, Cuts(seed, 1 << 15)) == whole);
}

}  // namespace
}  // namespace callgate

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::uint32_t seed = 1;
  for (const char c : bytes) seed = seed * 31 + static_cast<std::uint8_t>(c);
  callgate::check(callgate::SseDecoder(callgate::kMaxFrame), bytes, seed);
  callgate::check(callgate::LineDecoder(callgate::kMaxFrame), bytes, seed);
  return 0;
}
