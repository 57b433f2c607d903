#include "telemetry/metrics.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include "base/source_path_testing.h"
#include "callgate/version.h"
#include "telemetry/process_metrics.h"

namespace callgate::telemetry::metrics_test {
namespace {

double value_of(const std::string& text, const std::string& name) {
  const std::size_t at = text.find("\n" + name + " ");
  EXPECT_NE(at, std::string::npos) << name;
  return at == std::string::npos ? -1 : std::stod(text.substr(at + name.size() + 2));
}

std::string row(std::string_view name, std::string_view type, std::string_view labels,
                std::string_view help) {
  std::ostringstream out;
  out << "| `" << name << "` | " << type << " |" << labels << " | " << help << " |";
  return out.str();
}

std::vector<std::string> expected_rows() {
  const Metrics metrics;
  std::vector<std::string> rows;
  for (const Family* family : metrics.registry().families()) {
    std::string labels;
    for (const std::string_view label : family->labels()) {
      labels += (labels.empty() ? " `" : ", `") + std::string(label) + "`";
    }
    rows.push_back(row(family->name(), to_string(family->type()), labels, family->help()));
  }
  for (const ProcessMetric& metric : kProcessMetrics) {
    rows.push_back(row(metric.name, metric.type, "", metric.help));
  }
  return rows;
}

TEST(Metrics, the_page_lists_every_metric_and_no_other) {
  std::ifstream page(source_path("docs/metrics.md"));
  ASSERT_TRUE(page);
  std::vector<std::string> rows;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| `")) rows.push_back(line);
  }
  EXPECT_EQ(rows, expected_rows());
}

TEST(Metrics, names_are_unique_and_say_their_type) {
  const Metrics metrics;
  std::set<std::string_view> names;
  for (const Family* family : metrics.registry().families()) {
    EXPECT_TRUE(names.insert(family->name()).second) << family->name();
    EXPECT_TRUE(family->name().starts_with("callgate_")) << family->name();
    EXPECT_EQ(family->name().ends_with("_total"), family->type() == MetricType::counter)
        << family->name();
    EXPECT_EQ(family->name().ends_with("_seconds"), family->type() == MetricType::histogram)
        << family->name();
    EXPECT_TRUE(family->help().ends_with(".")) << family->name();
  }
}

TEST(Metrics, every_line_is_in_the_text_format) {
  Metrics metrics;
  metrics.requests.with("kimi \"k2\"", status_class(200)).add();
  metrics.request_duration.with("m").observe(std::chrono::milliseconds(12));
  const std::regex comment("# (HELP|TYPE) [a-z_]+ .+");
  const std::regex sample(
      "[a-z_]+(\\{([a-z_]+=\"([^\"\\\\\n]|\\\\.)*\",?)+\\})? -?[0-9.]+(e[-+][0-9]+)?");
  std::istringstream text(metrics.render());
  int samples = 0;
  for (std::string line; std::getline(text, line);) {
    const bool is_comment = line.starts_with("#");
    EXPECT_TRUE(std::regex_match(line, is_comment ? comment : sample)) << line;
    samples += is_comment ? 0 : 1;
  }
  EXPECT_GT(samples, 20);
}

TEST(Metrics, tells_what_runs_and_what_it_uses) {
  const Metrics metrics;
  const std::string text = metrics.render();
  EXPECT_EQ(value_of(text, "callgate_build_info{version=\"" + std::string(kVersion) + "\"}"), 1);
  EXPECT_GT(value_of(text, "process_resident_memory_bytes"), 1e6);
  EXPECT_GE(value_of(text, "process_virtual_memory_bytes"),
            value_of(text, "process_resident_memory_bytes"));
  const std::filesystem::directory_iterator open("/proc/self/fd");
  // Without the one that counts them.
  const auto count = std::distance(begin(open), end(open)) - 1;
  EXPECT_EQ(value_of(text, "process_open_fds"), static_cast<double>(count));
  EXPECT_GT(value_of(text, "process_cpu_seconds_total"), 0);
  const double now = static_cast<double>(std::time(nullptr));
  EXPECT_NEAR(value_of(text, "process_start_time_seconds"), now, 300);
}

TEST(Metrics, status_classes_have_five_names_and_one_for_the_rest) {
  EXPECT_EQ(status_class(204), "2xx");
  EXPECT_EQ(status_class(599), "5xx");
  EXPECT_EQ(status_class(0), "other");
  EXPECT_EQ(status_class(700), "other");
}

}  // namespace
}  // namespace callgate::telemetry::metrics_test
