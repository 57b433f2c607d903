// Counters, gauges and histograms with labels, and their text for Prometheus.
//
// `Counter& answered = metrics.requests.with(model, "2xx")` finds the handle of a series, from any
// thread; those that were used lately, and that of a metric without labels, without a lock. An
// increment is one relaxed atomic addition: no lock, no allocation. Handles live as long as their
// registry, so what counts often finds its handle once and keeps it.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace callgate::telemetry {

enum class MetricType : std::uint8_t { counter, gauge, histogram };
std::string_view to_string(MetricType type);

class alignas(64) Counter {
 public:
  void add(std::uint64_t count = 1) { value_.fetch_add(count, std::memory_order_relaxed); }
  // For a count that is kept elsewhere: never goes down.
  void raise_to(std::uint64_t total);
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

class alignas(64) Gauge {
 public:
  void add(std::int64_t count = 1) { value_.fetch_add(count, std::memory_order_relaxed); }
  void subtract(std::int64_t count = 1) { value_.fetch_sub(count, std::memory_order_relaxed); }
  void set(std::int64_t value) { value_.store(value, std::memory_order_relaxed); }
  std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_ = 0;
};

struct Bucket {
  std::chrono::nanoseconds limit;
  std::string_view text;  // in seconds, as it is shown
};

// From a cached answer on the same machine to a long turn of a slow model.
inline constexpr std::array<Bucket, 16> kBuckets = {{
    {std::chrono::milliseconds(1), "0.001"},
    {std::chrono::milliseconds(5), "0.005"},
    {std::chrono::milliseconds(10), "0.01"},
    {std::chrono::milliseconds(25), "0.025"},
    {std::chrono::milliseconds(50), "0.05"},
    {std::chrono::milliseconds(100), "0.1"},
    {std::chrono::milliseconds(250), "0.25"},
    {std::chrono::milliseconds(500), "0.5"},
    {std::chrono::seconds(1), "1"},
    {std::chrono::milliseconds(2500), "2.5"},
    {std::chrono::seconds(5), "5"},
    {std::chrono::seconds(10), "10"},
    {std::chrono::seconds(30), "30"},
    {std::chrono::seconds(60), "60"},
    {std::chrono::seconds(120), "120"},
    {std::chrono::seconds(300), "300"},
}};

class alignas(64) Histogram {
 public:
  void observe(std::chrono::nanoseconds duration);
  // The last one counts what is above every limit.
  std::uint64_t bucket(std::size_t index) const {
    return buckets_[index].load(std::memory_order_relaxed);
  }
  std::uint64_t sum_nanoseconds() const { return sum_.load(std::memory_order_relaxed); }

 private:
  std::array<std::atomic<std::uint64_t>, kBuckets.size() + 1> buckets_{};
  std::atomic<std::uint64_t> sum_ = 0;
};

class Family;

// The families in the order they were made. Fixed once the program runs.
class Registry {
 public:
  // Beyond `series_limit` combinations of labels, a family shows the rest with its first label as
  // "other".
  explicit Registry(std::size_t series_limit = 1000) : series_limit_(series_limit) {}
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  void render(std::string& out) const;
  const std::vector<const Family*>& families() const { return families_; }
  std::size_t series_limit() const { return series_limit_; }

 private:
  friend class Family;
  const std::size_t series_limit_;
  std::vector<const Family*> families_;
};

// All series of one name.
class Family {
 public:
  Family(Registry& registry, MetricType type, std::string_view name, std::string_view help,
         std::span<const std::string_view> labels);
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;
  virtual ~Family() = default;

  virtual void render(std::string& out) const = 0;
  MetricType type() const { return type_; }
  std::string_view name() const { return name_; }
  std::string_view help() const { return help_; }
  const std::vector<std::string_view>& labels() const { return labels_; }

 private:
  const MetricType type_;
  const std::string_view name_;
  const std::string_view help_;
  const std::vector<std::string_view> labels_;
};

using LabelValues = std::vector<std::string>;
struct LabelHash {
  using is_transparent = void;
  std::size_t operator()(std::span<const std::string_view> values) const;
  std::size_t operator()(const LabelValues& values) const;
};
struct LabelEqual {
  using is_transparent = void;
  bool operator()(std::span<const std::string_view> left, const LabelValues& right) const;
  bool operator()(const LabelValues& left, std::span<const std::string_view> right) const {
    return (*this)(right, left);
  }
  bool operator()(const LabelValues& left, const LabelValues& right) const { return left == right; }
};

// Defined for Counter, Gauge and Histogram.
template <class Cell>
class SeriesFamily : public Family {
 public:
  SeriesFamily(Registry& registry, std::string_view name, std::string_view help,
               std::span<const std::string_view> labels);
  void render(std::string& out) const override;

 protected:
  Cell& find(std::span<const std::string_view> values);
  // REQUIRES: the family has no labels.
  Cell& only() { return *only_; }

 private:
  using Series = std::unordered_map<LabelValues, Cell, LabelHash, LabelEqual>;
  Cell& insert(std::span<const std::string_view> values);

  const std::size_t limit_;
  mutable std::shared_mutex mutex_;
  Series series_;  // none is ever removed
  std::array<std::atomic<typename Series::value_type*>, 16> lately_ = {};
  Cell* only_ = nullptr;  // the series without labels
};

// A family whose number of labels the compiler checks. Label names and texts are borrowed: they are
// literals.
template <class Cell, std::size_t count>
class LabelledFamily final : public SeriesFamily<Cell> {
 public:
  LabelledFamily(Registry& registry, std::string_view name, std::string_view help,
                 const std::array<std::string_view, count>& labels = {})
      : SeriesFamily<Cell>(registry, name, help, labels) {}

  template <std::convertible_to<std::string_view>... Values>
  requires(sizeof...(Values) == count) Cell& with(const Values&... values) {
    if constexpr (count == 0) {
      return this->only();
    } else {
      const std::array<std::string_view, count> texts{std::string_view(values)...};
      return this->find(texts);
    }
  }
};

template <std::size_t label_count>
using Counters = LabelledFamily<Counter, label_count>;
template <std::size_t label_count>
using Gauges = LabelledFamily<Gauge, label_count>;
template <std::size_t label_count>
using Histograms = LabelledFamily<Histogram, label_count>;

// `# HELP` and `# TYPE` of one name.
void append_header(std::string& out, std::string_view name, std::string_view help,
                   std::string_view type);

}  // namespace callgate::telemetry
