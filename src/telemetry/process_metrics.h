// What Prometheus expects every process to tell about itself, read from /proc when it asks.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace callgate::telemetry {

struct ProcessMetric {
  std::string_view name;
  std::string_view type;
  std::string_view help;
};

inline constexpr std::array<ProcessMetric, 5> kProcessMetrics = {{
    {"process_cpu_seconds_total", "counter", "CPU time of all threads."},
    {"process_resident_memory_bytes", "gauge", "Memory in use."},
    {"process_virtual_memory_bytes", "gauge", "Address space in use."},
    {"process_open_fds", "gauge", "Open file descriptors."},
    {"process_start_time_seconds", "gauge", "When the process started, in Unix seconds."},
}};

// A metric that the system does not tell is left out.
void append_process_metrics(std::string& out);

}  // namespace callgate::telemetry
