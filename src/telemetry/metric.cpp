#include "telemetry/metric.h"

#include <algorithm>
#include <mutex>

#include "base/check.h"
#include "base/text.h"
#include "base/utf8.h"

namespace callgate::telemetry {
namespace {

constexpr std::string_view kOther = "other";
// Series with the first label as "other" have room of their own beyond the limit; after that all
// labels are "other".
constexpr std::size_t kOverflowRoom = 64;
constexpr std::size_t kLongestLabel = 128;

std::string clean_label(std::string_view value) {
  std::string text;
  value = value.substr(0, kLongestLabel);
  value.remove_suffix(utf8::incomplete_tail(value));
  utf8::append_sanitized(text, value);
  return text;
}

void append_label(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append("=\"");
  for (const char c : value) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '"') {
      out += "\\\"";
    } else if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  out += '"';
}

// `name{a="1",b="2"} `; `le` is the limit of a bucket or empty.
void append_name(std::string& out, const Family& family, std::string_view suffix,
                 const LabelValues& values, std::string_view le = {}) {
  out.append(family.name()).append(suffix);
  if (!values.empty() || !le.empty()) {
    out += '{';
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out += ',';
      append_label(out, family.labels()[i], values[i]);
    }
    if (!le.empty()) {
      if (!values.empty()) out += ',';
      append_label(out, "le", le);
    }
    out += '}';
  }
  out += ' ';
}

template <class Cell>
void append_series(std::string& out, const Family& family, const LabelValues& values,
                   const Cell& cell) {
  append_name(out, family, "", values);
  append_number(out, cell.value());
  out += '\n';
}

void append_series(std::string& out, const Family& family, const LabelValues& values,
                   const Histogram& cell) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i <= kBuckets.size(); ++i) {
    count += cell.bucket(i);
    append_name(out, family, "_bucket", values, i < kBuckets.size() ? kBuckets[i].text : "+Inf");
    append_number(out, count);
    out += '\n';
  }
  append_name(out, family, "_sum", values);
  append_number(out, static_cast<double>(cell.sum_nanoseconds()) / 1e9);
  out += '\n';
  append_name(out, family, "_count", values);
  append_number(out, count);
  out += '\n';
}

constexpr MetricType type_of(const Counter*) { return MetricType::counter; }
constexpr MetricType type_of(const Gauge*) { return MetricType::gauge; }
constexpr MetricType type_of(const Histogram*) { return MetricType::histogram; }

}  // namespace

std::string_view to_string(MetricType type) {
  switch (type) {
    case MetricType::counter:
      return "counter";
    case MetricType::gauge:
      return "gauge";
    case MetricType::histogram:
      return "histogram";
  }
  return {};
}

void Counter::raise_to(std::uint64_t total) {
  std::uint64_t now = value_.load(std::memory_order_relaxed);
  while (now < total && !value_.compare_exchange_weak(now, total, std::memory_order_relaxed)) {
  }
}

void Histogram::observe(std::chrono::nanoseconds duration) {
  duration = std::max(duration, std::chrono::nanoseconds(0));
  std::size_t index = 0;
  while (index < kBuckets.size() && duration > kBuckets[index].limit) ++index;
  buckets_[index].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(static_cast<std::uint64_t>(duration.count()), std::memory_order_relaxed);
}

void Registry::render(std::string& out) const {
  for (const Family* family : families_) {
    append_header(out, family->name(), family->help(), to_string(family->type()));
    family->render(out);
  }
}

Family::Family(Registry& registry, MetricType type, std::string_view name, std::string_view help,
               std::span<const std::string_view> labels)
    : type_(type), name_(name), help_(help), labels_(labels.begin(), labels.end()) {
  registry.families_.push_back(this);
}

std::size_t LabelHash::operator()(std::span<const std::string_view> values) const {
  std::size_t hash = 0;
  for (const std::string_view value : values) {
    hash = hash * 0x9E3779B97F4A7C15ULL + std::hash<std::string_view>()(value);
  }
  return hash;
}

std::size_t LabelHash::operator()(const LabelValues& values) const {
  std::size_t hash = 0;
  for (const std::string& value : values) {
    hash = hash * 0x9E3779B97F4A7C15ULL + std::hash<std::string_view>()(value);
  }
  return hash;
}

bool LabelEqual::operator()(std::span<const std::string_view> left,
                            const LabelValues& right) const {
  return std::equal(left.begin(), left.end(), right.begin(), right.end());
}

template <class Cell>
SeriesFamily<Cell>::SeriesFamily(Registry& registry, std::string_view name, std::string_view help,
                                 std::span<const std::string_view> labels)
    : Family(registry, type_of(static_cast<const Cell*>(nullptr)), name, help, labels),
      limit_(registry.series_limit()) {
  // Without labels there is one series, and it is shown from the start.
  if (labels.empty()) only_ = &insert({});
}

template <class Cell>
Cell& SeriesFamily<Cell>::find(std::span<const std::string_view> values) {
  CALLGATE_CHECK(values.size() == labels().size());
  std::size_t place = 0;
  for (const std::string_view value : values) {
    place = place * 3 + value.size() + (value.empty() ? 0u : static_cast<unsigned>(value.back()));
  }
  auto& lately = lately_[place % lately_.size()];
  auto* const known = lately.load(std::memory_order_acquire);
  if (known != nullptr && LabelEqual()(values, known->first)) return known->second;
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = series_.find(values); found != series_.end()) {
      lately.store(&*found, std::memory_order_release);
      return found->second;
    }
  }
  const std::unique_lock lock(mutex_);
  return insert(values);
}

template <class Cell>
Cell& SeriesFamily<Cell>::insert(std::span<const std::string_view> values) {
  LabelValues key;
  for (const std::string_view value : values) key.push_back(clean_label(value));
  if (!series_.contains(key)) {
    if (series_.size() >= limit_ && !key.empty()) key[0] = kOther;
    if (series_.size() >= limit_ + kOverflowRoom && !series_.contains(key)) {
      key.assign(key.size(), std::string(kOther));
    }
  }
  return series_[std::move(key)];
}

template <class Cell>
void SeriesFamily<Cell>::render(std::string& out) const {
  const std::shared_lock lock(mutex_);
  std::vector<const LabelValues*> order;
  order.reserve(series_.size());
  for (const auto& series : series_) order.push_back(&series.first);
  std::sort(order.begin(), order.end(),
            [](const LabelValues* left, const LabelValues* right) { return *left < *right; });
  for (const LabelValues* values : order) {
    append_series(out, *this, *values, series_.find(*values)->second);
  }
}

template class SeriesFamily<Counter>;
template class SeriesFamily<Gauge>;
template class SeriesFamily<Histogram>;

void append_header(std::string& out, std::string_view name, std::string_view help,
                   std::string_view type) {
  out.append("# HELP ").append(name).append(" ");
  for (const char c : help) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  out.append("\n# TYPE ").append(name).append(" ").append(type).append("\n");
}

}  // namespace callgate::telemetry
