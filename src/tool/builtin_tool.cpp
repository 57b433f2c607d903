#include "tool/builtin_tool.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <optional>

#include "json/writer.h"
#include "tool/arguments.h"
#include "tool/plan_tool.h"

namespace callgate::tool {
namespace {

constexpr std::string_view kTimeParameters =
    R"({"type":"object","properties":{"utc_offset":{"type":"string","description":"also give the local time at this offset, such as +01:00"}},"additionalProperties":false})";

std::string to_text(std::int64_t seconds) {
  const auto when = static_cast<std::time_t>(seconds);
  std::tm parts{};
  ::gmtime_r(&when, &parts);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  return {text.data(), size};
}

// Minutes of `+01:00`, `-0330` or `Z`.
std::optional<int> offset_minutes(std::string_view text) {
  if (text == "Z") return 0;
  std::string digits;
  for (const char c : text.substr(text.empty() ? 0 : 1)) {
    if (c >= '0' && c <= '9')
      digits.push_back(c);
    else if (c != ':')
      return std::nullopt;
  }
  if (digits.size() != 4 || (text.front() != '+' && text.front() != '-')) return std::nullopt;
  const int hours = (digits[0] - '0') * 10 + digits[1] - '0';
  const int minutes = (digits[2] - '0') * 10 + digits[3] - '0';
  if (hours > 14 || minutes > 59) return std::nullopt;
  return (text.front() == '-' ? -1 : 1) * (hours * 60 + minutes);
}

class TimeTool : public Tool {
 public:
  using Tool::Tool;

 private:
  net::Task<ToolResult> perform(const ToolCall& call, net::Millis, CancelToken&) override {
    const auto arguments = read_arguments(call.arguments);
    if (!arguments) co_return error_result(arguments.error().message);
    const Argument* offset = find_argument(*arguments, "utc_offset");
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
    auto described = describe_time(seconds, offset == nullptr ? "" : to_plain_text(offset->json));
    if (!described) co_return error_result(described.error().message);
    ToolResult result;
    result.text = std::move(*described);
    co_return result;
  }
};

constexpr std::string_view kNoParameters =
    R"({"type":"object","properties":{},"additionalProperties":false})";

// Says what it was given: the instructions of a skill.
class TextTool : public Tool {
 public:
  TextTool(net::Loop& loop, ToolSpec spec, ToolLimits limits, std::string text)
      : Tool(loop, std::move(spec), limits), text_(std::move(text)) {}

 private:
  net::Task<ToolResult> perform(const ToolCall&, net::Millis, CancelToken&) override {
    ToolResult result;
    result.text = text_;
    co_return result;
  }

  const std::string text_;
};

}  // namespace

Result<std::string> describe_time(std::int64_t unix_seconds, std::string_view utc_offset) {
  std::string out;
  json::ObjectWriter object(out);
  object.string("utc", to_text(unix_seconds) + "Z");
  object.integer("unix", unix_seconds);
  if (!utc_offset.empty()) {
    const std::optional<int> minutes = offset_minutes(utc_offset);
    if (!minutes) {
      return fail(ErrorCode::invalid_request, "utc_offset: \"" + std::string(utc_offset) +
                                                  "\", expected one such as +01:00 or -03:30");
    }
    std::array<char, 8> suffix{};
    const int whole = *minutes < 0 ? -*minutes : *minutes;
    std::snprintf(suffix.data(), suffix.size(), "%c%02d:%02d", *minutes < 0 ? '-' : '+',
                  whole / 60 % 100, whole % 60);
    object.string("local", to_text(unix_seconds + *minutes * 60) + suffix.data());
  }
  object.close();
  return out;
}

Result<std::shared_ptr<Tool>> make_builtin(net::Loop& loop, const ToolConfig& config) {
  const auto& [builtin, text] = std::get<BuiltinToolConfig>(config.how);
  const bool is_skill = builtin == "skill" && !text.empty();
  if (builtin == "plan") return make_plan_tool(loop, config);
  if (builtin != "time" && !is_skill) {
    return fail(ErrorCode::invalid_request, "builtin: \"" + builtin + "\", expected time or plan");
  }
  ToolSpec spec{
      .name = config.name, .description = config.description, .parameters = config.parameters};
  if (is_skill) {
    spec.parameters.text = kNoParameters;
    return std::shared_ptr<Tool>(
        std::make_shared<TextTool>(loop, std::move(spec), config.limits, text));
  }
  if (spec.description.empty()) spec.description = "Gives the current date and time.";
  if (spec.parameters.empty()) spec.parameters.text = kTimeParameters;
  return std::shared_ptr<Tool>(std::make_shared<TimeTool>(loop, std::move(spec), config.limits));
}

}  // namespace callgate::tool
