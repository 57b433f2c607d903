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
                   std::span<const Cell> cells) {
  decltype(cells[0].value()) total = 0;
  for (const Cell& cell : cells) total += cell.value();
  append_name(out, family, "", values);
  append_number(out, total);
  out += '\n';
}

void append_series(std::string& out, const Family& family, const LabelValues& values,
                   std::span<const Histogram> cells) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i <= kBuckets.size(); ++i) {
    for (const Histogram& cell : cells) count += cell.bucket(i);
    append_name(out, family, "_bucket", values, i < kBuckets.size() ? kBuckets[i].text : "+Inf");
    append_number(out, count);
    out += '\n';
  }
  std::uint64_t sum = 0;
  for (const Histogram& cell : cells) sum += cell.sum_nanoseconds();
  append_name(out, family, "_sum", values);
  append_number(out, static_cast<double>(sum) / 1e9);
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
      shards_(registry.shards()),
      limit_(registry.series_limit()) {
  // Without labels there is one series, and it is shown from the start.
  if (labels.empty()) insert({});
}

template <class Cell>
auto SeriesFamily<Cell>::find_existing(std::span<const std::string_view> values) -> Cells* {
  const auto found = series_.find(values);
  return found == series_.end() ? nullptr : &found->second;
}

template <class Cell>
Cell& SeriesFamily<Cell>::find(Shard shard, std::span<const std::string_view> values) {
  CALLGATE_CHECK(values.size() == labels().size());
  {
    const std::shared_lock lock(mutex_);
    if (Cells* cells = find_existing(values)) return (*cells)[shard % shards_];
  }
  const std::unique_lock lock(mutex_);
  return insert(values)[shard % shards_];
}

template <class Cell>
auto SeriesFamily<Cell>::insert(std::span<const std::string_view> values) -> Cells& {
  LabelValues key;
  for (const std::string_view value : values) key.push_back(clean_label(value));
  if (!series_.contains(key)) {
    if (series_.size() >= limit_ && !key.empty()) key[0] = kOther;
    if (series_.size() >= limit_ + kOverflowRoom && !series_.contains(key)) {
      key.assign(key.size(), std::string(kOther));
    }
  }
  Cells& cells = series_[std::move(key)];
  if (!cells) cells = std::make_unique<Cell[]>(shards_);
  return cells;
}

template <class Cell>
void SeriesFamily<Cell>::render(std::string& out) const {
  const std::shared_lock lock(mutex_);
  std::vector<const LabelValues*> order;
  order.reserve(series_.size());
  for (const auto& [values, cells] : series_) order.push_back(&values);
  std::sort(order.begin(), order.end(),
            [](const LabelValues* left, const LabelValues* right) { return *left < *right; });
  for (const LabelValues* values : order) {
    const Cells& cells = series_.find(*values)->second;
    append_series(out, *this, *values, std::span<const Cell>(cells.get(), shards_));
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
