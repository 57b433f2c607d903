#include "telemetry/metric.h"

#include <gtest/gtest.h>

#include <thread>

namespace callgate::telemetry::metric_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string render(const Registry& registry) {
  std::string out;
  registry.render(out);
  return out;
}

std::size_t count_lines(const std::string& text, const std::string& prefix) {
  std::size_t count = 0;
  for (std::size_t at = text.find(prefix); at != std::string::npos;
       at = text.find(prefix, at + 1)) {
    if (at == 0 || text[at - 1] == '\n') ++count;
  }
  return count;
}

TEST(Metric, adds_up_and_sorts_series_by_their_labels) {
  Registry registry;
  Counters<1> frames(registry, "frames_total", "Frames.", {"direction"});
  frames.with("out").add(2);
  frames.with("out").add(3);
  frames.with("in").add();
  EXPECT_EQ(render(registry),
            "# HELP frames_total Frames.\n"
            "# TYPE frames_total counter\n"
            "frames_total{direction=\"in\"} 1\n"
            "frames_total{direction=\"out\"} 5\n");
}

TEST(Metric, shows_a_series_without_labels_from_the_start) {
  Registry registry;
  Counters<0> left(registry, "left_total", "Left.");
  Gauges<0> active(registry, "active", "Active.");
  EXPECT_NE(render(registry).find("\nleft_total 0\n"), std::string::npos);
  active.with().add(5);
  active.with().subtract(7);
  EXPECT_NE(render(registry).find("\nactive -2\n"), std::string::npos);
}

TEST(Metric, gives_the_same_handle_for_the_same_labels) {
  Registry registry;
  Counters<2> requests(registry, "r", "R.", {"model", "status"});
  Counter& first = requests.with("m", "2xx");
  EXPECT_EQ(&first, &requests.with(std::string("m"), "2xx"));
  EXPECT_NE(&first, &requests.with("2xx", "m"));
}

TEST(Metric, keeps_series_apart_whose_labels_look_alike) {
  Registry registry;
  Counters<2> requests(registry, "r", "R.", {"model", "status"});
  for (int i = 0; i < 3; ++i) {
    requests.with("ab", "2xx").add();
    requests.with("cb", "2xx").add();
    requests.with("cb", "4xx").add();
    requests.with("", "").add();
  }
  for (const std::string_view model : {"ab", "cb"}) {
    EXPECT_EQ(requests.with(model, "2xx").value(), 3u) << model;
  }
  EXPECT_EQ(requests.with("cb", "4xx").value(), 3u);
  EXPECT_EQ(requests.with("", "").value(), 3u);
}

TEST(Metric, counts_a_duration_into_its_bucket_and_every_wider_one) {
  Registry registry;
  Histograms<1> duration(registry, "d_seconds", "D.", {"model"});
  duration.with("m").observe(milliseconds(5));
  duration.with("m").observe(milliseconds(6));
  duration.with("m").observe(seconds(1000));
  duration.with("m").observe(seconds(-1));
  const std::string text = render(registry);
  for (const char* line :
       {"# TYPE d_seconds histogram\n", "d_seconds_bucket{model=\"m\",le=\"0.001\"} 1\n",
        "d_seconds_bucket{model=\"m\",le=\"0.005\"} 2\n",
        "d_seconds_bucket{model=\"m\",le=\"0.01\"} 3\n",
        "d_seconds_bucket{model=\"m\",le=\"300\"} 3\n",
        "d_seconds_bucket{model=\"m\",le=\"+Inf\"} 4\n", "d_seconds_sum{model=\"m\"} 1000.011\n",
        "d_seconds_count{model=\"m\"} 4\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

TEST(Metric, bucket_limits_count_up_and_are_shown_as_they_are) {
  for (std::size_t i = 0; i < kBuckets.size(); ++i) {
    const double shown = std::stod(std::string(kBuckets[i].text));
    EXPECT_DOUBLE_EQ(shown, std::chrono::duration<double>(kBuckets[i].limit).count());
    if (i > 0) {
      EXPECT_LT(kBuckets[i - 1].limit, kBuckets[i].limit);
    }
  }
}

TEST(Metric, escapes_labels_and_help) {
  Registry registry;
  Counters<1> counter(registry, "c", "a\\b\nc\"", {"x"});
  counter.with("q\"b\\n\nend\xFF").add();
  EXPECT_EQ(render(registry),
            "# HELP c a\\\\b\\nc\"\n"
            "# TYPE c counter\n"
            "c{x=\"q\\\"b\\\\n\\nend\xEF\xBF\xBD\"} 1\n");
}

TEST(Metric, cuts_a_long_label) {
  Registry registry;
  Counters<1> counter(registry, "c", "C.", {"x"});
  counter.with(std::string(5000, 'a')).add();
  counter.with(std::string(6000, 'a')).add();
  EXPECT_NE(render(registry).find("c{x=\"" + std::string(128, 'a') + "\"} 2\n"), std::string::npos);
}

TEST(Metric, too_many_models_become_other_and_keep_their_status) {
  Registry registry(3);
  Counters<2> requests(registry, "r", "R.", {"model", "status"});
  for (int i = 0; i < 10; ++i) requests.with("m" + std::to_string(i), "2xx").add();
  requests.with("m9", "5xx").add();
  requests.with("m0", "2xx").add();
  const std::string text = render(registry);
  EXPECT_NE(text.find("r{model=\"m0\",status=\"2xx\"} 2\n"), std::string::npos);
  EXPECT_NE(text.find("r{model=\"other\",status=\"2xx\"} 7\n"), std::string::npos);
  EXPECT_NE(text.find("r{model=\"other\",status=\"5xx\"} 1\n"), std::string::npos);
  EXPECT_EQ(count_lines(text, "r{"), 5u);
}

TEST(Metric, the_number_of_series_is_bounded_whatever_the_labels) {
  Registry registry(3);
  Counters<2> requests(registry, "r", "R.", {"model", "status"});
  for (int i = 0; i < 1000; ++i) {
    requests.with(std::to_string(i), std::to_string(i)).add();
  }
  const std::string text = render(registry);
  EXPECT_LE(count_lines(text, "r{"), 3u + 64u + 1u);
  EXPECT_NE(text.find("r{model=\"other\",status=\"other\"} "), std::string::npos);
}

TEST(Metric, a_counter_kept_elsewhere_never_goes_down) {
  Counter counter;
  counter.raise_to(7);
  counter.raise_to(3);
  EXPECT_EQ(counter.value(), 7u);
}

TEST(Metric, loses_nothing_when_threads_share_it) {
  Registry registry;
  Counters<1> counter(registry, "c", "C.", {"x"});
  Histograms<1> histogram(registry, "h", "H.", {"x"});
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        counter.with(std::to_string(i % 10)).add();
        histogram.with("a").observe(milliseconds(i));
        if (i % 500 == 0) {
          EXPECT_FALSE(render(registry).empty());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string text = render(registry);
  EXPECT_NE(text.find("c{x=\"7\"} 800\n"), std::string::npos);
  EXPECT_NE(text.find("h_count{x=\"a\"} 8000\n"), std::string::npos);
}

}  // namespace
}  // namespace callgate::telemetry::metric_test
