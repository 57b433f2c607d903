// Results that are too long for the model: it gets their head and tail, and reads the rest page by page.
//
//   first lines ...
//   [181400 of 183400 bytes left out. Read more: read_result {"id":"r1","offset":1000}]
//   ... last lines
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/loop.h"

namespace callgate::loop {

inline constexpr std::string_view kReadResult = "read_result";

class EvictedResults {
 public:
  explicit EvictedResults(const Options& options);

  // Keeps `text` aside if it is too long and leaves a preview in its place. True if it did.
  bool evict(std::string& text);
  // The answer to a call of read_result.
  ToolResult read(std::string_view arguments) const;
  bool empty() const { return kept_.empty(); }
  static ToolSpec spec();

  void load(const State& state);
  void save(State& state) const;

 private:
  std::size_t threshold_;
  std::size_t preview_;
  std::size_t max_results_;
  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::uint32_t evictions_ = 0;
  std::vector<EvictedResult> kept_;
};

// At most `size` bytes from the start of `text`, cut between characters.
std::string_view head_of(std::string_view text, std::size_t size);
// The same from its end.
std::string_view tail_of(std::string_view text, std::size_t size);

}  // namespace callgate::loop
