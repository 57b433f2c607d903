// Counts what reader, writer and scanner allocate once their buffers are warm. It replaces operator new for the whole
// test program of this room.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "json/reader.h"
#include "json/scanner.h"
#include "json/writer.h"

namespace {
std::size_t allocations = 0;
}

[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size ? size : 1)) return memory;
  std::abort();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace callgate::json::allocation_test {
namespace {

constexpr std::string_view kFrame =
    R"({"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m",)"
    R"("choices":[{"index":0,"delta":{"content":"Grüße \"und\" a \u20ac text longer than any )"
    R"(small string buffer\n"},"finish_reason":null}]})";

// Reads the frame and writes its text again.
std::size_t round_trip(Reader& in, std::string& out) {
  in.reset(kFrame);
  out.clear();
  ObjectWriter object(out);
  for (std::string_view key; in.next_member(key);) {
    if (key != "choices") {
      in.skip();
      continue;
    }
    while (in.next_element()) {
      while (in.next_member(key)) {
        if (key != "delta") {
          in.skip();
          continue;
        }
        while (in.next_member(key)) object.string("content", in.string());
      }
    }
  }
  object.integer("size", static_cast<std::int64_t>(out.size()));
  object.close();
  return in.finish() ? out.size() : 0;
}

TEST(Allocations, are_none_for_a_warm_reader_and_writer) {
  Reader in;
  std::string out;
  const std::size_t size = round_trip(in, out);
  ASSERT_GT(size, 60u);
  const std::size_t before = allocations;
  std::size_t total = 0;
  for (int i = 0; i < 100; ++i) total += round_trip(in, out);
  EXPECT_EQ(allocations - before, 0u);
  EXPECT_EQ(total, 100 * size);
}

TEST(Allocations, are_none_for_a_scanner) {
  const std::size_t before = allocations;
  Scanner scanner;
  for (std::size_t at = 0; at < kFrame.size(); at += 4) scanner.push(kFrame.substr(at, 4));
  const Scanner::State state = scanner.state();
  EXPECT_EQ(allocations - before, 0u);
  EXPECT_EQ(state, Scanner::State::closed);
}

TEST(Allocations, are_counted) {
  const std::size_t before = allocations;
  const std::string text(100, 'x');
  EXPECT_EQ(text.size(), 100u);
  EXPECT_GE(allocations - before, 1u);
}

}  // namespace
}  // namespace callgate::json::allocation_test
