#include "gateway/memory_limit.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/text.h"

namespace callgate::server {
namespace {

std::string whole_file(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// `max` and numbers beyond any machine's memory mean that there is no limit.
std::uint64_t read_limit(const std::string& path) {
  const std::string text = whole_file(path);
  const std::uint64_t limit = saturated_number(trimmed(text)).value_or(0);
  return limit > std::uint64_t{1} << 60 ? 0 : limit;
}

std::uint64_t lesser(std::uint64_t a, std::uint64_t b) {
  if (a == 0 || b == 0) return a + b;
  return std::min(a, b);
}

}  // namespace

std::uint64_t control_group_limit(std::string_view membership, const std::string& root) {
  std::uint64_t least =
      lesser(read_limit(root + "/memory.max"), read_limit(root + "/memory/memory.limit_in_bytes"));
  while (!membership.empty()) {
    std::string_view line = membership.substr(0, membership.find('\n'));
    membership.remove_prefix(std::min(membership.size(), line.size() + 1));
    const bool unified = line.starts_with("0::/");
    const bool memory = line.find(":memory:") != std::string_view::npos;
    if (!unified && !memory) continue;
    std::string folder(line.substr(line.find('/')));
    for (; folder.size() > 1; folder.resize(folder.rfind('/'))) {
      least =
          lesser(least, read_limit(unified ? root + folder + "/memory.max"
                                           : root + "/memory" + folder + "/memory.limit_in_bytes"));
    }
  }
  return least;
}

std::uint64_t memory_limit(const LimitsConfig& limits) {
  return limits.memory.count > 0 ? limits.memory.count : usual_memory_limit();
}

std::uint64_t usual_memory_limit() {
  const auto pages = static_cast<std::uint64_t>(std::max(0l, ::sysconf(_SC_PHYS_PAGES)));
  const auto page = static_cast<std::uint64_t>(std::max(0l, ::sysconf(_SC_PAGESIZE)));
  const std::uint64_t group =
      control_group_limit(whole_file("/proc/self/cgroup"), "/sys/fs/cgroup");
  return lesser(pages * page, group) / 2;
}

}  // namespace callgate::server
