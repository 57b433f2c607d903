#include <algorithm>
#include <charconv>
#include <type_traits>
#include <utility>

#include "callgate/loop_options.h"

namespace callgate::loop {
namespace {

template <class Number>
bool set_number(Number& into, std::string_view value) {
  Number number = 0;
  const auto [end, fault] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool whole = fault == std::errc() && end == value.data() + value.size();
  if (value.empty() || !whole || (std::is_signed_v<Number> && number < 0)) return false;
  into = number;
  return true;
}

// 300, 300ms, 5s, 2m, 1h; without a unit milliseconds.
bool set_duration(Millis& into, std::string_view value) {
  const std::size_t digits = std::min(value.find_first_not_of("0123456789"), value.size());
  const std::string_view unit = value.substr(digits);
  Millis number = 0;
  if (!set_number(number, value.substr(0, digits)) || number > 1'000'000'000) return false;
  for (const auto& [word, factor] : std::initializer_list<std::pair<std::string_view, Millis>>{
           {"", 1}, {"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}}) {
    if (unit != word) continue;
    into = number * factor;
    return true;
  }
  return false;
}

template <class T>
bool set_word(T& into, std::string_view value,
              std::initializer_list<std::pair<std::string_view, T>> words) {
  for (const auto& [word, meaning] : words) {
    if (word != value) continue;
    into = meaning;
    return true;
  }
  return false;
}

bool set_switch(bool& into, std::string_view value) {
  return set_word(into, value, {{"true", true}, {"1", true}, {"false", false}, {"0", false}});
}

bool set_mode(Options& options, std::string_view name, std::string_view value) {
  if (name == "on_limit") {
    return set_word(options.on_limit, value,
                    {{"stop", OnLimit::stop}, {"tell_model", OnLimit::tell_model}});
  }
  if (name == "on_tool_error") {
    return set_word(options.on_tool_error, value,
                    {{"stop", OnToolError::stop}, {"tell_model", OnToolError::tell_model}});
  }
  if (name == "memory") {
    return set_word(
        options.memory, value,
        {{"none", Memory::none}, {"outside", Memory::outside}, {"inside", Memory::inside}});
  }
  if (name == "show_tool_calls") return set_switch(options.show_tool_calls, value);
  if (name == "return_reasoning") return set_switch(options.return_reasoning, value);
  if (name == "round_separator") {
    options.round_separator = value;
    return true;
  }
  return false;
}

}  // namespace

bool set_option(Options& options, std::string_view name, std::string_view value) {
  static constexpr std::pair<std::string_view, std::uint32_t Options::*> kCounts[] = {
      {"max_tool_rounds", &Options::max_tool_rounds},
      {"max_calls_per_tool", &Options::max_calls_per_tool},
      {"max_calls", &Options::max_calls},
      {"calls_per_round", &Options::calls_per_round},
      {"max_calls_read", &Options::max_calls_read},
      {"parallel", &Options::parallel},
      {"repeated_calls", &Options::repeated_calls},
      {"repeats_to_force", &Options::repeats_to_force},
      {"repeated_results", &Options::repeated_results},
      {"empty_retries", &Options::empty_retries},
      {"turn_retries", &Options::turn_retries},
      {"find_tools_above", &Options::find_tools_above},
      {"find_tools_limit", &Options::find_tools_limit},
  };
  static constexpr std::pair<std::string_view, std::size_t Options::*> kSizes[] = {
      {"max_turn_bytes", &Options::max_turn_bytes},
      {"evict_bytes", &Options::evict_bytes},
      {"evict_preview_bytes", &Options::evict_preview_bytes},
      {"evicted_results", &Options::evicted_results},
      {"evicted_bytes", &Options::evicted_bytes},
      {"notice_preview_bytes", &Options::notice_preview_bytes},
  };
  static constexpr std::pair<std::string_view, Millis Options::*> kDurations[] = {
      {"loop_timeout", &Options::loop_timeout},
      {"tool_timeout", &Options::tool_timeout},
      {"approval_timeout", &Options::approval_timeout},
  };
  for (const auto& [key, member] : kCounts) {
    if (key == name) return set_number(options.*member, value);
  }
  for (const auto& [key, member] : kSizes) {
    if (key == name) return set_number(options.*member, value);
  }
  for (const auto& [key, member] : kDurations) {
    if (key == name) return set_duration(options.*member, value);
  }
  return set_mode(options, name, value);
}

}  // namespace callgate::loop
