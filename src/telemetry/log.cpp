#include "telemetry/log.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <string>
#include <unordered_map>

#include "callgate/event.h"
#include "json/writer.h"

namespace callgate::telemetry {
namespace {

constexpr std::size_t kMostKeys = 1000;

std::string_view to_string(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::warning:
      return "warning";
    case LogLevel::error:
      return "error";
    case LogLevel::off:
      return "off";
  }
  return "off";
}

// As 2026-01-02T03:04:05.678Z.
void append_time(std::string& out, std::chrono::system_clock::time_point time) {
  using std::chrono::milliseconds;
  const auto since = std::chrono::floor<milliseconds>(time.time_since_epoch());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
  const std::time_t whole = seconds.count();
  std::tm utc{};
  gmtime_r(&whole, &utc);
  std::array<char, 32> text;
  std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  size += static_cast<std::size_t>(std::snprintf(text.data() + size, text.size() - size, ".%03dZ",
                                                 static_cast<int>((since - seconds).count())));
  out.append(text.data(), size);
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// Needs no quotes to stay one word.
bool is_plain(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (is_control(c) || c == ' ' || c == '"' || c == '=' || c == '\\') return false;
  }
  return true;
}

void append_double(std::string& out, double value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  // JSON has no inf and no nan.
  out += text.find_first_of("in") == std::string_view::npos ? text : "null";
}

void append_text_value(std::string& out, std::string_view text) {
  if (is_plain(text)) {
    out += text;
  } else {
    json::append_string(out, text);
  }
}

void append_value(std::string& out, const LogField& field, LogFormat format) {
  std::visit(Overloaded{[&](std::string_view text) {
                          if (format == LogFormat::json) {
                            json::append_string(out, text);
                          } else {
                            append_text_value(out, text);
                          }
                        },
                        [&](std::int64_t number) { json::append_integer(out, number); },
                        [&](double number) { append_double(out, number); },
                        [&](bool flag) { out += flag ? "true" : "false"; }},
             field.value);
}

void append_field(std::string& out, const LogField& field, LogFormat format) {
  if (field.name.empty()) return;
  if (format == LogFormat::json) {
    out += ',';
    json::append_string(out, field.name);
    out += ':';
  } else {
    out += ' ';
    out += field.name;
    out += '=';
  }
  append_value(out, field, format);
}

void append_head(std::string& out, LogLevel level, LogFormat format) {
  const bool json = format == LogFormat::json;
  if (json) out += "{\"time\":\"";
  append_time(out, std::chrono::system_clock::now());
  out += json ? "\",\"level\":\"" : " ";
  out += to_string(level);
  out += json ? "\"" : " ";
}

void append_message(std::string& out, std::string_view message, LogFormat format) {
  if (format == LogFormat::json) {
    out += ",\"message\":";
    json::append_string(out, message);
  } else if (std::none_of(message.begin(), message.end(), is_control)) {
    out += message;
  } else {
    json::append_escaped(out, message);
  }
}

// A line with its line feed.
std::string line_of(LogFormat format, LogLevel level, std::string_view message, LogFields fields,
                    std::uint64_t suppressed) {
  std::string line;
  append_head(line, level, format);
  append_message(line, message, format);
  for (const LogField& field : fields) append_field(line, field, format);
  if (suppressed > 0) append_field(line, {"suppressed", suppressed}, format);
  line += format == LogFormat::json ? "}\n" : "\n";
  return line;
}

}  // namespace

std::optional<LogLevel> to_log_level(std::string_view name) {
  if (name == "debug") return LogLevel::debug;
  if (name == "info") return LogLevel::info;
  if (name == "warning") return LogLevel::warning;
  if (name == "error") return LogLevel::error;
  if (name == "off") return LogLevel::off;
  return std::nullopt;
}

std::optional<LogFormat> to_log_format(std::string_view name) {
  if (name == "text") return LogFormat::text;
  if (name == "json") return LogFormat::json;
  return std::nullopt;
}

class Logger::Output {
 public:
  explicit Output(LogOptions options) : options_(std::move(options)), level_(options_.level) {
    if (!options_.now) options_.now = [] { return std::chrono::steady_clock::now(); };
    if (options_.write) return;
    const auto shed_line = [format = options_.format](std::uint64_t count) {
      return line_of(format, LogLevel::warning, "log lines were left out", {{"lines", count}}, 0);
    };
    writer_.emplace(LineWriterOptions{
        .descriptor = options_.descriptor, .bytes = options_.queue_bytes, .shed_line = shed_line});
  }

  bool is_enabled(LogLevel level) const {
    return level != LogLevel::off && level >= level_.load(std::memory_order_relaxed);
  }
  void set_level(LogLevel level) { level_ = level; }

  void write(LogLevel level, std::string_view message, LogFields fields,
             std::uint64_t suppressed = 0) {
    const std::string line = line_of(options_.format, level, message, fields, suppressed);
    if (writer_) return writer_->push(line);
    const std::lock_guard lock(mutex_);
    options_.write(line);
  }

  // Nothing when lines do not go to a descriptor.
  std::optional<LineWriter>& writer() { return writer_; }

  // How many were suppressed since the last line, or nothing when this one is to be.
  std::optional<std::uint64_t> admit(std::string_view key) {
    const auto now = options_.now();
    const std::lock_guard lock(mutex_);
    // Keys come from a fixed set of faults; should one hold foreign text, memory stays bounded.
    if (silences_.size() >= kMostKeys && !silences_.contains(std::string(key))) silences_.clear();
    Silence& silence = silences_[std::string(key)];
    if (silence.until && now < *silence.until) {
      ++silence.suppressed;
      return std::nullopt;
    }
    silence.until = now + options_.repeat_pause;
    return std::exchange(silence.suppressed, 0);
  }

 private:
  struct Silence {
    std::optional<std::chrono::steady_clock::time_point> until;
    std::uint64_t suppressed = 0;
  };

  LogOptions options_;
  std::atomic<LogLevel> level_;
  std::optional<LineWriter> writer_;
  std::mutex mutex_;
  std::unordered_map<std::string, Silence> silences_;
};

Logger::Logger(LogOptions options) : output_(std::make_unique<Output>(std::move(options))) {}
Logger::~Logger() = default;
Logger::Logger(Logger&&) noexcept = default;
Logger& Logger::operator=(Logger&&) noexcept = default;

void Logger::write(LogLevel level, std::string_view message, LogFields fields) {
  if (output_->is_enabled(level)) output_->write(level, message, fields);
}

void Logger::repeated(LogLevel level, std::string_view key, std::string_view message,
                      LogFields fields) {
  if (!output_->is_enabled(level)) return;
  const std::optional<std::uint64_t> suppressed = output_->admit(key);
  if (suppressed) output_->write(level, message, fields, *suppressed);
}

bool Logger::is_enabled(LogLevel level) const { return output_->is_enabled(level); }
void Logger::set_level(LogLevel level) { output_->set_level(level); }

bool Logger::flush(std::chrono::milliseconds timeout) {
  return !output_->writer() || output_->writer()->flush(timeout);
}

std::uint64_t Logger::shed() const { return output_->writer() ? output_->writer()->shed() : 0; }

LogRescue::LogRescue(const Logger& logger) {
  if (logger.output_->writer()) rescue_.emplace(*logger.output_->writer());
}

}  // namespace callgate::telemetry
