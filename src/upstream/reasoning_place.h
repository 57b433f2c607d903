// Reasoning that a client sent back goes to where it stood among the blocks of its answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace callgate::upstream {

// `Block` and `Reasoning` have `json`; `Reasoning` has `index`, and they are in the order of it. The last block is never a
// reasoning block.
template <class Block, class Reasoning>
std::vector<Block> with_reasoning(std::vector<Block> blocks, std::vector<Reasoning> reasoning) {
  if (reasoning.empty()) return blocks;
  std::vector<Block> placed;
  auto next = reasoning.begin();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const bool last = i + 1 == blocks.size();
    while (next != reasoning.end() &&
           (last || next->index <= static_cast<std::int64_t>(placed.size()))) {
      placed.push_back({.json = std::move(next->json)});
      ++next;
    }
    placed.push_back(std::move(blocks[i]));
  }
  return placed;
}

}  // namespace callgate::upstream
