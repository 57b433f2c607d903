#include <charconv>
#include <optional>
#include <utility>

#include "callgate/policy.h"

namespace callgate {
namespace {

template <class T>
using Words = std::initializer_list<std::pair<std::string_view, T>>;

template <class T>
bool set_word(T& into, std::string_view value, Words<T> words) {
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

bool set_number(std::uint32_t& into, std::string_view value) {
  std::uint32_t number = 0;
  const auto [end, fault] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (value.empty() || fault != std::errc() || end != value.data() + value.size()) return false;
  into = number;
  return true;
}

bool set_stop(StopAfterTools& into, std::string_view value) {
  using enum StopAfterTools;
  return set_word(into, value,
                  {{"off", off},
                   {"first", first},
                   {"burst", burst},
                   {"true", burst},
                   {"1", burst},
                   {"false", off},
                   {"0", off}});
}

bool set_output(CallOutput& into, std::string_view value) {
  using enum CallOutput;
  return set_word(into, value,
                  {{"tool_calls", tool_calls},
                   {"json", json},
                   {"openai-json", json},
                   {"xml", xml},
                   {"obsidian-xml", xml},
                   {"xml_only", xml_only}});
}

}  // namespace

std::string_view to_string(StopAfterTools mode) {
  switch (mode) {
    case StopAfterTools::off:
      return "off";
    case StopAfterTools::first:
      return "first";
    case StopAfterTools::burst:
      return "burst";
  }
  return {};
}

bool set_policy(PolicyOptions& options, std::string_view name, std::string_view value) {
  if (name == "stop_after_tools") return set_stop(options.stop_after_tools, value);
  if (name == "suppress_tail_after_tools") {
    return set_switch(options.suppress_tail_after_tools, value);
  }
  if (name == "tool_call_max") return set_number(options.tool_call_max, value);
  if (name == "call_whitespace") return set_switch(options.call_whitespace, value);
  if (name == "dedupe_calls") return set_switch(options.dedupe_calls, value);
  if (name == "undeclared_tools") {
    using enum UndeclaredTools;
    return set_word(options.undeclared_tools, value,
                    {{"pass", pass}, {"text", text}, {"drop_with_note", drop_with_note}});
  }
  if (name == "invalid_arguments") {
    using enum InvalidArguments;
    return set_word(options.invalid_arguments, value,
                    {{"pass", pass}, {"repair", repair}, {"raw", raw}});
  }
  if (name == "reasoning") {
    return set_word(options.reasoning, value,
                    {{"reasoning_content", ReasoningForm::reasoning_content},
                     {"reasoning", ReasoningForm::reasoning},
                     {"think_tags", ReasoningForm::think_tags},
                     {"hide", ReasoningForm::hide}});
  }
  if (name == "reasoning_coalesce_bytes") {
    return set_number(options.reasoning_coalesce_bytes, value);
  }
  if (name == "call_id_style") {
    using enum CallIdStyle;
    return set_word(options.call_id_style, value, {{"native", native}, {"random", random}});
  }
  if (name == "output") return set_output(options.output, value);
  if (name == "error_after_tools") {
    using enum ErrorAfterTools;
    return set_word(options.error_after_tools, value,
                    {{"report", report}, {"tool_calls", tool_calls}});
  }
  if (name == "estimate_usage") return set_switch(options.estimate_usage, value);
  if (name == "trailing_counters") return set_switch(options.trailing_counters, value);
  if (name == "split") {
    using enum TextSplit;
    return set_word(options.split, value, {{"none", none}, {"sentences", sentences}});
  }
  if (name == "call_delimiter") {
    options.call_delimiter = value == "true" ? "\n\n" : value == "false" ? "" : value;
    return true;
  }
  if (name == "split_min_characters") return set_number(options.split_min_characters, value);
  return false;
}

}  // namespace callgate
