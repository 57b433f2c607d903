// Log lines to stderr, as text for people or as JSON for machines. A Logger is passed down to what
// needs it. A line never makes its caller wait for stderr, see line_writer.h.
//
//   2026-01-02T03:04:05.678Z info listening address=127.0.0.1:8080
//   {"time":"2026-01-02T03:04:05.678Z","level":"info","message":"listening","address":"127.0.0.1:8080"}
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>

#include "base/secret.h"
#include "telemetry/line_writer.h"

namespace callgate::telemetry {

enum class LogLevel : std::uint8_t { debug, info, warning, error, off };
enum class LogFormat : std::uint8_t { text, json };

std::optional<LogLevel> to_log_level(std::string_view name);
std::optional<LogFormat> to_log_format(std::string_view name);

// One `name=value` of a line. Borrows its texts. A secret leaves as `***`; a field without a name is left out.
struct LogField {
  std::string_view name;
  std::variant<std::string_view, std::int64_t, double, bool> value;

  template <std::convertible_to<std::string_view> Text>
  LogField(std::string_view field, const Text& text) : name(field), value(std::string_view(text)) {}
  template <std::integral Number>
  requires(!std::same_as<Number, bool>) LogField(std::string_view field, Number number)
      : name(field), value(static_cast<std::int64_t>(number)) {}
  LogField(std::string_view field, double number) : name(field), value(number) {}
  LogField(std::string_view field, std::same_as<bool> auto flag) : name(field), value(flag) {}
  LogField(std::string_view field, const Secret&) : name(field), value(std::string_view("***")) {}
};

using LogFields = std::initializer_list<LogField>;

struct LogOptions {
  LogLevel level = LogLevel::info;
  LogFormat format = LogFormat::text;
  // How long a repeated fault stays silent after a line about it.
  std::chrono::seconds repeat_pause{60};
  int descriptor = 2;                  // borrowed
  std::size_t queue_bytes = 1u << 20;  // lines that may wait; more are shed and counted
  // Both for tests: what gets each line, at once, instead of the descriptor, and the clock of
  // `repeated`.
  std::function<void(std::string_view line)> write;
  std::function<std::chrono::steady_clock::time_point()> now;
};

// Safe to use from any thread. A line is written whole, with its line feed; text in it cannot begin
// a new one.
class Logger {
 public:
  explicit Logger(LogOptions options = {});
  ~Logger();
  Logger(Logger&&) noexcept;
  Logger& operator=(Logger&&) noexcept;

  void debug(std::string_view message, LogFields fields = {}) {
    write(LogLevel::debug, message, fields);
  }
  void info(std::string_view message, LogFields fields = {}) {
    write(LogLevel::info, message, fields);
  }
  void warning(std::string_view message, LogFields fields = {}) {
    write(LogLevel::warning, message, fields);
  }
  void error(std::string_view message, LogFields fields = {}) {
    write(LogLevel::error, message, fields);
  }
  void write(LogLevel level, std::string_view message, LogFields fields);

  // For faults that come in thousands: at most one line per `key` and pause. The next one carries
  // `suppressed=N`.
  void repeated(LogLevel level, std::string_view key, std::string_view message,
                LogFields fields = {});

  bool is_enabled(LogLevel level) const;
  void set_level(LogLevel level);

  // Waits until the lines so far are written; false when `timeout` comes first. Not for event loops.
  // The destructor waits likewise.
  bool flush(std::chrono::milliseconds timeout);
  // Lines that were not written since the descriptor was too slow, or failed.
  std::uint64_t shed() const;

 private:
  friend class LogRescue;
  class Output;
  std::unique_ptr<Output> output_;
};

// While it lives, a process that aborts or crashes writes its last lines first. REQUIRES: the logger
// outlives it and is not moved.
class LogRescue {
 public:
  explicit LogRescue(const Logger& logger);

 private:
  std::optional<LineRescue> rescue_;
};

}  // namespace callgate::telemetry
