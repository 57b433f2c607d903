#include "tool/tool.h"

#include <algorithm>
#include <exception>

#include "base/utf8.h"
#include "tool/bounded_text.h"

namespace callgate::tool {
std::vector<std::pair<std::string, std::string>> ToolContext::fields() const {
  std::vector<std::pair<std::string, std::string>> fields;
  const auto add = [&fields](const char* name, const std::string& value) {
    if (!value.empty()) fields.emplace_back(name, value);
  };
  add("request-id", request_id);
  add("key", key_name);
  add("model", model);
  add("session", session);
  return fields;
}

ToolResult error_result(std::string text) {
  ToolResult result;
  result.text = std::move(text);
  result.is_error = true;
  return result;
}

void tidy(ToolResult& result, std::size_t limit) {
  result.bytes = std::max<std::uint64_t>(result.bytes, result.text.size());
  if (result.text.size() <= limit && utf8::is_valid(result.text)) return;
  BoundedText text(limit);
  text.append(result.text);
  result.truncated = result.truncated || text.truncated();
  result.text = text.take();
}

Tool::Tool(net::Loop& loop, ToolSpec spec, ToolLimits limits)
    : loop_(loop), spec_(std::move(spec)), limits_(limits) {}

net::Task<ToolResult> Tool::run(const ToolCall& call, net::Millis timeout, CancelToken& cancel) {
  if (timeout == net::kNever || timeout > limits_.timeout) timeout = limits_.timeout;
  const std::uint64_t began = loop_.now();
  ToolResult result;
  try {
    if (cancel.cancelled()) {
      result = error_result(kCancelledWords);
    } else {
      result = co_await perform(call, timeout, cancel);
    }
  } catch (const std::exception& fault) {
    result = error_result(std::string("the tool failed: ") + fault.what());
  }
  tidy(result, limits_.result_bytes);
  result.duration = net::Millis(loop_.now() - began);
  co_return result;
}

std::string timeout_words(net::Millis timeout) {
  return "timed out after " + std::to_string(timeout.count()) + " ms";
}

}  // namespace callgate::tool
