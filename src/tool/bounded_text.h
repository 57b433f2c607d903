// BoundedText: the beginning of what a tool says, as valid UTF-8, whatever it says and however much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace callgate::tool {

class BoundedText {
 public:
  explicit BoundedText(std::size_t limit) : limit_(limit) {}

  // Keeps what fits; the rest is only counted.
  void append(std::string_view bytes);
  std::uint64_t bytes() const { return bytes_; }
  bool truncated() const { return bytes_ > kept_.size(); }
  // Invalid bytes are replaced by U+FFFD, a sequence that the limit cut is left out. At most `limit` bytes.
  std::string take();

 private:
  std::size_t limit_;
  std::uint64_t bytes_ = 0;
  std::string kept_;
};

// The beginning of `text`, at most `limit` bytes of it, cut between characters.
std::string_view whole_prefix(std::string_view text, std::size_t limit);

}  // namespace callgate::tool
