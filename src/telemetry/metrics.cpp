#include "telemetry/metrics.h"

#include "callgate/version.h"
#include "telemetry/process_metrics.h"

namespace callgate::telemetry {

std::string_view status_class(int status) {
  switch (status / 100) {
    case 1:
      return "1xx";
    case 2:
      return "2xx";
    case 3:
      return "3xx";
    case 4:
      return "4xx";
    case 5:
      return "5xx";
    default:
      return "other";
  }
}

Metrics::Metrics() { build.with(kVersion).set(1); }

std::string Metrics::render() const {
  std::string out;
  registry_.render(out);
  append_process_metrics(out);
  return out;
}

}  // namespace callgate::telemetry
