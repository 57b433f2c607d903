#include "session/session_id.h"

#include <algorithm>
#include <cctype>
#include <chrono>

namespace callgate::server {
namespace {

constexpr std::string_view kPrefix = "sess_";
constexpr std::size_t kLength = 24;

}  // namespace

std::string mint_session(IdMint& mint) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  return mint.mint_timed(kPrefix, ms, kLength);
}

bool is_session_id(std::string_view text) {
  return text.starts_with(kPrefix) && text.size() == kPrefix.size() + kLength &&
         std::all_of(text.begin() + kPrefix.size(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0; });
}

}  // namespace callgate::server
