#include "tool/plan_tool.h"

#include <utility>

#include "base/quoted.h"
#include "base/text.h"
#include "json/reader.h"

namespace callgate::tool {
namespace {

constexpr std::size_t kMaxSteps = 100;
constexpr std::size_t kMaxStep = 500;  // bytes

constexpr std::string_view kPlanParameters =
    R"({"type":"object","properties":{"steps":{"type":"array","items":{"type":"object","properties":{"step":{"type":"string"},"state":{"type":"string","enum":["pending","in_progress","done","dropped"]}},"required":["step","state"]}}},"required":["steps"],"additionalProperties":false})";

tl::unexpected<Error> wrong(std::string message) {
  return fail(ErrorCode::invalid_request, std::move(message));
}

// Empty if the state is unknown.
std::string_view mark_of(std::string_view state) {
  if (state == "pending") return "[ ] ";
  if (state == "in_progress") return "[>] ";
  if (state == "done") return "[x] ";
  return state == "dropped" ? "[-] " : "";
}

class PlanText {
 public:
  Result<void> add(json::Reader& in) {
    std::string step;
    std::string state;
    for (std::string_view key; in.next_member(key);) {
      if (key == "step") {
        step = in.string();
      } else if (key == "state") {
        state = in.string();
      } else {
        in.skip();
      }
    }
    const std::string where = "steps[" + std::to_string(count_++) + "]";
    if (in.failed()) return wrong(where + ": expected {\"step\": \"...\", \"state\": \"...\"}");
    if (count_ > kMaxSteps)
      return wrong("expected at most " + std::to_string(kMaxSteps) + " steps");
    if (is_blank(step)) return wrong(where + ".step is empty");
    const std::string_view mark = mark_of(state);
    if (mark.empty()) {
      return wrong(where + ".state: " + in_quotes(state) +
                   ", expected pending, in_progress, done or dropped");
    }
    for (char& c : step) c = is_space(c) ? ' ' : c;
    done_ += state == "done" ? 1 : 0;
    lines_.append(mark).append(shortened(trimmed(step), kMaxStep)) += '\n';
    return {};
  }
  std::string take() const {
    if (count_ == 0) return "The plan is empty.";
    return "Plan, " + std::to_string(done_) + " of " + std::to_string(count_) + " done:\n" + lines_;
  }

 private:
  std::string lines_;
  std::size_t count_ = 0;
  std::size_t done_ = 0;
};

class PlanTool final : public Tool {
 public:
  using Tool::Tool;

 private:
  net::Task<ToolResult> perform(const ToolCall& call, net::Millis, CancelToken&) override {
    auto text = print_plan(call.arguments);
    if (!text) co_return error_result(text.error().message);
    ToolResult result;
    result.text = std::move(*text);
    co_return result;
  }
};

}  // namespace

Result<std::string> print_plan(std::string_view arguments) {
  json::Reader in(arguments);
  PlanText plan;
  bool has_steps = false;
  for (std::string_view key; in.next_member(key);) {
    if (key != "steps" || has_steps) {
      in.skip();
      continue;
    }
    has_steps = true;
    while (in.next_element()) {
      if (auto added = plan.add(in); !added) return tl::unexpected(added.error());
    }
  }
  if (!in.finish() || !has_steps) return wrong("expected {\"steps\": [...]}, the whole list");
  return plan.take();
}

std::shared_ptr<Tool> make_plan_tool(net::Loop& loop, const ToolConfig& config) {
  ToolSpec spec{
      .name = config.name, .description = config.description, .parameters = config.parameters};
  if (spec.description.empty()) {
    spec.description =
        "Keeps the plan of a task with several steps, for you and for those who watch. Give the "
        "whole list each time, with the state of each step.";
  }
  if (spec.parameters.empty()) spec.parameters.text = kPlanParameters;
  return std::make_shared<PlanTool>(loop, std::move(spec), config.limits);
}

}  // namespace callgate::tool
