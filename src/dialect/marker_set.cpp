#include "dialect/marker_set.h"

#include "base/check.h"

namespace callgate::dialect {

MarkerSet::MarkerSet(std::span<const std::string_view> markers)
    : markers_(markers.begin(), markers.end()) {
  std::size_t size = 1;
  for (const std::string_view marker : markers_) size += marker.size();
  nodes_.reserve(size);
  nodes_.emplace_back();
  for (std::size_t marker = 0; marker < markers_.size(); ++marker) {
    CALLGATE_CHECK(!markers_[marker].empty());
    NodeIndex node = 0;
    for (const char byte : markers_[marker]) {
      const NodeIndex known = child_of(node, byte);
      node = known != 0 ? known : add_child(node, byte, marker);
    }
    CALLGATE_CHECK(!nodes_[node].ends);
    nodes_[node].ends = true;
    nodes_[node].match = static_cast<std::uint16_t>(marker + 1);
  }
  link();
}

MarkerSet::NodeIndex MarkerSet::child_of(NodeIndex node, char byte) const {
  if (node == 0) return root_[static_cast<unsigned char>(byte)];
  NodeIndex child = nodes_[node].child;
  while (child != 0 && nodes_[child].byte != byte) child = nodes_[child].sibling;
  return child;
}

MarkerSet::NodeIndex MarkerSet::add_child(NodeIndex node, char byte, std::size_t marker) {
  const auto child = static_cast<NodeIndex>(nodes_.size());
  nodes_.push_back({.sibling = nodes_[node].child,
                    .depth = static_cast<std::uint16_t>(nodes_[node].depth + 1),
                    .owner = static_cast<std::uint16_t>(marker),
                    .byte = byte});
  nodes_[node].child = child;
  if (node == 0) {
    root_[static_cast<unsigned char>(byte)] = child;
    first_bytes_.add(byte);
  }
  return child;
}

// Breadth first: a node's links are found through its parent's.
void MarkerSet::link() {
  std::vector<NodeIndex> queue;
  queue.reserve(nodes_.size());
  queue.push_back(0);
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const NodeIndex parent = queue[at];
    for (NodeIndex node = nodes_[parent].child; node != 0; node = nodes_[node].sibling) {
      queue.push_back(node);
      if (!nodes_[node].ends) nodes_[node].match = nodes_[parent].match;
      if (parent == 0) continue;
      NodeIndex suffix = nodes_[parent].fail;
      while (suffix != 0 && child_of(suffix, nodes_[node].byte) == 0) suffix = nodes_[suffix].fail;
      nodes_[node].fail = child_of(suffix, nodes_[node].byte);
    }
  }
}

std::string_view MarkerScan::live() const {
  const MarkerSet::Node& node = set_->nodes_[node_];
  return node_ == 0 ? std::string_view{} : set_->markers_[node.owner].substr(0, node.depth);
}

// The bytes that do not belong to a marker: all of `live` followed by bytes[0, used), without the last `kept`.
MarkerScan::Result MarkerScan::passed(std::string_view live, std::string_view bytes,
                                      std::size_t used, std::size_t kept) {
  const std::size_t out = live.size() + used - kept;
  if (out <= live.size()) return {.used = used, .held = live.substr(0, out)};
  return {.used = used, .held = live, .before = bytes.substr(0, out - live.size())};
}

MarkerScan::Result MarkerScan::found(std::string_view live, std::string_view bytes,
                                     std::size_t used, std::size_t marker,
                                     std::string_view replay) {
  Result result = passed(live, bytes, used, set_->text(marker).size() + replay.size());
  result.marker = marker;
  result.replay = replay;
  node_ = 0;
  return result;
}

MarkerScan::Result MarkerScan::push(std::string_view bytes) {
  const std::string_view live = this->live();
  std::size_t at = 0;
  while (at < bytes.size()) {
    if (node_ == 0) {
      at = set_->first_bytes_.find(bytes, at);
      if (at == bytes.size()) break;
    }
    const MarkerSet::NodeIndex child = set_->child_of(node_, bytes[at]);
    if (child != 0) {
      node_ = child;
      ++at;
      const MarkerSet::Node& node = set_->nodes_[node_];
      if (node.ends && node.child == 0) return found(live, bytes, at, node.match - 1u, {});
      continue;
    }
    if (set_->nodes_[node_].match != 0) return found_shorter(live, bytes, at);
    node_ = set_->nodes_[node_].fail;
  }
  return passed(live, bytes, bytes.size(), set_->nodes_[node_].depth);
}

// A longer marker failed behind a shorter one: what was read of the longer one is read again.
MarkerScan::Result MarkerScan::found_shorter(std::string_view live, std::string_view bytes,
                                             std::size_t used) {
  const std::size_t marker = set_->nodes_[node_].match - 1u;
  return found(live, bytes, used, marker, this->live().substr(set_->text(marker).size()));
}

MarkerScan::Result MarkerScan::finish() {
  const std::string_view live = this->live();
  if (set_->nodes_[node_].match != 0) return found_shorter(live, {}, 0);
  node_ = 0;
  return passed(live, {}, 0, 0);
}

}  // namespace callgate::dialect
