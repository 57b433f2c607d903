// Every place where a text can be cut, for tests that run it once for each set of cuts.
#pragma once

#include <cstddef>
#include <vector>

namespace callgate {

// Each cut of a text of `size` bytes is in one of the sets. Long texts are cut in several places at a time, far apart: that finds
// what one cut finds, in a part of the time.
inline std::vector<std::vector<std::size_t>> every_cut(std::size_t size) {
  constexpr std::size_t kTogether = 4;
  constexpr std::size_t kLong = 256;
  const std::size_t stride = size < kLong ? size : (size + kTogether - 1) / kTogether;
  std::vector<std::vector<std::size_t>> sets;
  for (std::size_t first = 1; first <= stride && first < size; ++first) {
    std::vector<std::size_t>& cuts = sets.emplace_back();
    for (std::size_t cut = first; cut < size; cut += stride) cuts.push_back(cut);
  }
  return sets;
}

}  // namespace callgate
