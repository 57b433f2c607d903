// Writes stars over known secrets, wherever they occur in a text: as they are, and as JSON escapes them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace callgate::server {

// Immutable: may be used from any thread.
class SecretMask {
 public:
  explicit SecretMask(const std::vector<std::string>& secrets);

  // True: there were some. Sizes stay what they were. `end_is_cut`: the text was cut off, and does not end with a part
  // of a secret either.
  bool apply(std::string& text, bool end_is_cut = false) const;

 private:
  std::vector<std::string> spellings_;
  // How far a search may go on from where a block of two bytes ends, by the hash of the block: most of a text is never
  // looked at. Zero: a secret may end its first `shortest_` bytes here.
  std::array<std::uint8_t, 4096> steps_{};
  std::size_t shortest_ = 0;
};

// A credential that a client sent but nobody configured counts as a secret when it is long enough to be one.
bool is_long_enough_for_a_secret(std::string_view text);

}  // namespace callgate::server
