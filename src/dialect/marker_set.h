// Finds markers in a stream: all of them at once, in one pass, however the stream is cut.
//
//   markers {"<tool_call>", "<think>"}     push "a < b <th"     before "a < b ", live "<th"
//                                          push "ink>x"         found "<think>", "x" is not read
//
// Leftmost wins, then longest. What may still become a marker is not copied: it is a prefix of one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/byte_class.h"

namespace callgate::dialect {

class MarkerSet {
 public:
  static constexpr std::size_t kNone = ~std::size_t{0};

  // REQUIRES: the texts are not empty, differ from each other and outlive the set.
  explicit MarkerSet(std::span<const std::string_view> markers);

  std::string_view text(std::size_t marker) const { return markers_[marker]; }
  std::size_t size() const { return markers_.size(); }

 private:
  friend class MarkerScan;
  using NodeIndex = std::uint16_t;
  struct Node {
    NodeIndex child = 0;  // first of its children, 0: none
    NodeIndex sibling = 0;
    NodeIndex fail = 0;  // the longest proper suffix that is a prefix of a marker
    std::uint16_t depth = 0;
    std::uint16_t owner = 0;  // a marker that this path is a prefix of
    std::uint16_t match = 0;  // 1 + the longest marker that ends here or on the way here, or 0
    bool ends = false;        // a marker ends here
    char byte = 0;
  };

  NodeIndex child_of(NodeIndex node, char byte) const;
  NodeIndex add_child(NodeIndex node, char byte, std::size_t marker);
  void link();

  std::vector<std::string_view> markers_;
  std::vector<Node> nodes_;
  std::array<NodeIndex, 256> root_{};
  ByteClass first_bytes_;  // where root_ is not 0
};

// One search through one stream.
class MarkerScan {
 public:
  struct Result {
    std::size_t used = 0;     // bytes of the push that were read
    std::string_view held;    // no marker: bytes of earlier pushes ...
    std::string_view before;  // ... and after them bytes of this push
    std::size_t marker = MarkerSet::kNone;
    std::string_view replay;  // read, but behind the marker: to be pushed again, ahead of the rest
  };

  // REQUIRES: `set` outlives the scan.
  explicit MarkerScan(const MarkerSet& set) : set_(&set) {}

  // Reads to the end of the first marker or to the end of the bytes.
  Result push(std::string_view bytes);
  // The stream ends or is cut here: nothing is live afterwards. `held` or a marker may come out.
  Result finish();

  // The bytes at the end of what was pushed that may still become a marker.
  std::string_view live() const;
  bool idle() const { return node_ == 0; }

 private:
  static Result passed(std::string_view live, std::string_view bytes, std::size_t used,
                       std::size_t kept);
  Result found(std::string_view live, std::string_view bytes, std::size_t used, std::size_t marker,
               std::string_view replay);
  Result found_shorter(std::string_view live, std::string_view bytes, std::size_t used);

  const MarkerSet* set_;
  MarkerSet::NodeIndex node_ = 0;
};

}  // namespace callgate::dialect
