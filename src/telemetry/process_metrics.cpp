#include "telemetry/process_metrics.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>

#include "telemetry/metric.h"

namespace callgate::telemetry {
namespace {

std::optional<double> cpu_seconds() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return std::nullopt;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// `column` 0 is the address space, 1 what is resident.
std::optional<double> memory_bytes(int column) {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0;
  for (int i = 0; i <= column; ++i) file >> pages;
  if (!file) return std::nullopt;
  return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

std::optional<double> open_descriptors() {
  DIR* folder = opendir("/proc/self/fd");
  if (!folder) return std::nullopt;
  int count = 0;
  while (const dirent* entry = readdir(folder)) count += entry->d_name[0] != '.' ? 1 : 0;
  closedir(folder);
  return count - 1;  // not the folder itself
}

std::optional<double> boot_seconds() {
  std::ifstream file("/proc/stat");
  std::string word;
  double seconds = 0;
  while (file >> word) {
    if (word == "btime" && file >> seconds) return seconds;
  }
  return std::nullopt;
}

// The second field of /proc/self/stat is the name in brackets and may hold anything; count from its
// end.
std::optional<double> start_seconds() {
  constexpr int kFieldsToStartTime = 20;
  const std::optional<double> boot = boot_seconds();
  std::ifstream file("/proc/self/stat");
  std::string line;
  if (!boot || !std::getline(file, line)) return std::nullopt;
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  std::string field;
  for (int i = 0; i < kFieldsToStartTime; ++i) fields >> field;
  double ticks = 0;
  const auto parsed = std::from_chars(field.data(), field.data() + field.size(), ticks);
  if (!fields || parsed.ec != std::errc()) return std::nullopt;
  return *boot + ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

void append_process_metrics(std::string& out) {
  const std::array<std::optional<double>, kProcessMetrics.size()> values = {
      cpu_seconds(), memory_bytes(1), memory_bytes(0), open_descriptors(), start_seconds()};
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i]) continue;
    append_header(out, kProcessMetrics[i].name, kProcessMetrics[i].help, kProcessMetrics[i].type);
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), *values[i],
                                   std::chars_format::fixed)
                         .ptr;
    out.append(kProcessMetrics[i].name).append(" ").append(digits.data(), end).append("\n");
  }
}

}  // namespace callgate::telemetry
