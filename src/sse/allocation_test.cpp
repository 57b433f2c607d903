// Counts what decoder and encoder allocate once their buffers are warm. It replaces operator new for the whole
// test program of this room.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>
#include <new>

#include "sse/decoder.h"
#include "sse/encoder.h"

namespace {
std::size_t allocations = 0;
std::size_t live = 0;
std::size_t live_bytes() { return live; }
}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const memory = std::malloc(size ? size : 1);
  if (!memory) std::abort();
  ++allocations;
  live += malloc_usable_size(memory);
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  live -= malloc_usable_size(memory);
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
}

namespace callgate::allocation_test {
namespace {

TEST(Allocations, are_none_for_warm_decoders_and_encoders_however_frames_are_cut) {
  std::string in;
  append_frame(in, "response.function_call_arguments.delta", std::string(200, 'x'));
  append_frame(in, "", "two\nlines");
  append_comment(in, "alive");
  std::string out;
  SseDecoder decoder;
  const auto copy = [&](const SseFrame& frame) { append_frame(out, frame.event, frame.data); };
  const auto round = [&](std::size_t piece) {
    out.clear();
    for (std::size_t at = 0; at < in.size(); at += piece) {
      decoder.push(std::string_view(in).substr(at, piece), copy);
    }
    return out.size();
  };
  // The two buffers of the decoder change places: an odd number of frames warms both.
  decoder.push("data: x\n\n", copy);
  round(7);
  decoder.push("data", copy);
  decoder.push(": x\n\n", copy);
  round(7);
  const std::size_t before = allocations;
  const std::size_t size = round(in.size());
  for (const std::size_t piece : {1, 2, 7, 16, 100, 230}) EXPECT_EQ(round(piece), size);
  EXPECT_EQ(allocations - before, 0u);
  EXPECT_EQ(size + std::string_view(": alive\n\n").size(), in.size());
}

TEST(Allocations, are_given_back_after_a_large_frame) {
  SseDecoder decoder;
  std::size_t seen = 0;
  const auto count = [&](const SseFrame& frame) { seen += frame.data.size(); };
  const std::size_t held = live_bytes();
  decoder.push("data: " + std::string(1 << 20, 'x'), count);
  EXPECT_GE(live_bytes() - held, std::size_t{1} << 20);
  decoder.push("\n\n", count);
  EXPECT_EQ(seen, std::size_t{1} << 20);
  EXPECT_LE(live_bytes() - held, std::size_t{1} << 10);
}

TEST(Allocations, are_given_back_on_overflow) {
  SseDecoder decoder(1 << 20);
  const auto ignore = [](const SseFrame&) {};
  const std::size_t held = live_bytes();
  decoder.push("data: " + std::string(1 << 19, 'x'), ignore);
  decoder.push(std::string(1 << 19, 'x'), ignore);
  EXPECT_TRUE(decoder.overflowed());
  EXPECT_EQ(live_bytes() - held, 0u);
}

}  // namespace
}  // namespace callgate::allocation_test
