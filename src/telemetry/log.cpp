#include "telemetry/log.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <charconv>
#include <mutex>
#include <string>
#include <unordered_map>

#include "callgate/event.h"
#include "json/writer.h"

namespace callgate::telemetry {
namespace {

constexpr std::size_t kMostKeys = 1000;

class FunctionSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit FunctionSink(std::function<void(std::string_view)> write) : write_(std::move(write)) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    write_({line.data(), line.size()});
  }
  void flush_() override {}

 private:
  std::function<void(std::string_view)> write_;
};

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::off:
      return spdlog::level::off;
  }
  return spdlog::level::off;
}

const char* pattern_of(LogFormat format) {
  switch (format) {
    case LogFormat::text:
      return "%Y-%m-%dT%H:%M:%S.%eZ %l %v";
    case LogFormat::json:
      return R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})";
  }
  return "%v";
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

void append_message(std::string& out, std::string_view message, LogFormat format) {
  if (format == LogFormat::json) {
    out += "\"message\":";
    json::append_string(out, message);
  } else if (std::none_of(message.begin(), message.end(), is_control)) {
    out += message;
  } else {
    json::append_escaped(out, message);
  }
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
  explicit Output(LogOptions options)
      : options_(std::move(options)), lines_("callgate", make_sink(options_)) {
    lines_.set_formatter(std::make_unique<spdlog::pattern_formatter>(
        pattern_of(options_.format), spdlog::pattern_time_type::utc));
    lines_.set_level(to_spdlog(options_.level));
    // There is nowhere left to complain.
    lines_.set_error_handler([](const std::string&) {});
    if (!options_.now) options_.now = [] { return std::chrono::steady_clock::now(); };
  }

  bool is_enabled(LogLevel level) const {
    return level != LogLevel::off && lines_.should_log(to_spdlog(level));
  }
  void set_level(LogLevel level) { lines_.set_level(to_spdlog(level)); }

  void write(LogLevel level, std::string_view message, LogFields fields,
             std::uint64_t suppressed = 0) {
    std::string line;
    append_message(line, message, options_.format);
    for (const LogField& field : fields) append_field(line, field, options_.format);
    if (suppressed > 0) append_field(line, {"suppressed", suppressed}, options_.format);
    lines_.log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
  }

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

  static spdlog::sink_ptr make_sink(const LogOptions& options) {
    if (options.write) return std::make_shared<FunctionSink>(options.write);
    return std::make_shared<spdlog::sinks::stderr_sink_mt>();
  }

  LogOptions options_;
  spdlog::logger lines_;
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

}  // namespace callgate::telemetry
