// Tool: something that the gateway can run for a model. A run never throws, never outlasts its time and answers with a
// value, whatever the tool does.
//   CancelToken cancel;
//   const ToolResult result = co_await tool->run(call, net::Millis(30'000), cancel);
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "callgate/request.h"
#include "net/loop.h"
#include "net/task.h"
#include "tool/cancel.h"

namespace callgate::tool {

// Who the run is for. Tools get it (headers, environment, _meta); models never do. Empty fields are not passed.
struct ToolContext {
  std::string request_id;
  std::string key_name;
  std::string model;
  std::string session;
  // The trace that the run is in, as W3C writes it.
  std::string traceparent = {};
  std::string tracestate = {};

  // `request-id` and its value, and so on.
  std::vector<std::pair<std::string, std::string>> fields() const;
};

struct ToolCall {
  std::string id;         // of the call in its turn
  std::string name;       // as the model wrote it
  std::string arguments;  // a JSON object; empty text counts as {}
  ToolContext context;
  bool wants_content = false;  // for a caller that takes more than text
  // Called on the tool's loop when the tool reports progress, with the JSON it sent, such as {"progress":1,"total":2}.
  std::function<void(std::string_view json)> on_progress;
};

struct ToolResult {
  std::string text;  // valid UTF-8, within the tool's limit
  // What an MCP server gave, JSON, when the caller wants it: a list of images and the like, and an object.
  std::string content;
  std::string structured;
  bool is_error = false;
  bool refused = false;     // by the rules for hosts and addresses: nothing was called
  bool truncated = false;   // there was more
  std::uint64_t bytes = 0;  // that the tool said, kept or not
  net::Millis duration{0};
};

ToolResult error_result(std::string text);
// What every result keeps to, however it was made: valid UTF-8 of at most `limit` bytes.
void tidy(ToolResult& result, std::size_t limit);

struct ToolLimits {
  net::Millis timeout{30'000};  // the longest that a run may take, whatever the caller allows
  std::size_t result_bytes = std::size_t{256} << 10;  // more is cut

  bool operator==(const ToolLimits&) const = default;
};

class Tool {
 public:
  Tool(net::Loop& loop, ToolSpec spec, ToolLimits limits);
  virtual ~Tool() = default;
  Tool(const Tool&) = delete;
  Tool& operator=(const Tool&) = delete;

  // Its name, description and schema as models see them.
  const ToolSpec& spec() const { return spec_; }
  const ToolLimits& limits() const { return limits_; }

  // Ends within `timeout` (kNever: the tool's own limit), and soon after `cancel`. Any number of runs at a time.
  // REQUIRES: the loop's thread; `call` and `cancel` outlive the run, as does the tool.
  net::Task<ToolResult> run(const ToolCall& call, net::Millis timeout, CancelToken& cancel);

 protected:
  // What run() does, without the clock. REQUIRES: ends within `timeout` or soon after it, and after `cancel`.
  virtual net::Task<ToolResult> perform(const ToolCall& call, net::Millis timeout,
                                        CancelToken& cancel) = 0;
  net::Loop& loop() const { return loop_; }

 private:
  net::Loop& loop_;
  const ToolSpec spec_;
  const ToolLimits limits_;
};

// `timed out after 30000 ms`, as all tools say it.
std::string timeout_words(net::Millis timeout);
inline constexpr const char* kCancelledWords = "the call was cancelled";

}  // namespace callgate::tool
