#include "engine/golden_case.h"

#include "base/check.h"
#include "chat/event_log.h"
#include "client/protocol.h"

namespace callgate::engine {
namespace {

bool set_switch(bool& into, std::string_view value) {
  if (value != "true" && value != "false") return false;
  into = value == "true";
  return true;
}

}  // namespace

std::string_view usual_golden_request() {
  return R"({"model":"demo","stream":true,
  "stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}],
  "tools":[{"type":"function","function":{"name":"find"}},{"type":"function","function":{"name":"add"}}]})";
}

PipelineOptions golden_options(std::string_view wire, std::string_view protocol) {
  PipelineOptions options;
  options.wire = wire;
  options.protocol = protocol;
  options.response_id = "chatcmpl-golden";
  options.created = 1700000000;
  options.id_seed = 1;
  return options;
}

bool set_golden_option(PipelineOptions& options, std::string_view name, std::string_view value) {
  if (name == "dialect") {
    options.dialect = dialect::find(value);
    return options.dialect != nullptr;
  }
  if (name == "commit") {
    if (value != "eager" && value != "whole_call") return false;
    options.commit = value == "eager" ? Commit::eager : Commit::whole_call;
    return true;
  }
  if (name == "dialect_is_default") return set_switch(options.dialect_is_default, value);
  if (name == "reasoning_open") return set_switch(options.reasoning_open, value);
  return set_policy(options.policy, name, value);
}

GoldenAnswer run_golden(const Request& request, const PipelineOptions& options,
                        std::string_view input, std::span<const std::size_t> cuts) {
  Result<Pipeline> pipeline = Pipeline::make(request, options);
  CALLGATE_CHECK(pipeline.has_value());
  GoldenAnswer answer;
  std::size_t at = 0;
  for (const std::size_t cut : cuts) {
    pipeline->push(input.substr(at, cut - at), answer.bytes);
    at = cut;
  }
  pipeline->push(input.substr(at), answer.bytes);
  pipeline->finish(answer.bytes);
  CALLGATE_CHECK(pipeline->finished());
  if (!pipeline->started()) {
    CALLGATE_CHECK(answer.bytes.empty());  // nothing is written before the answer starts
    CALLGATE_CHECK(pipeline->error().has_value());
    const Error& error = *pipeline->error();
    const Protocol& protocol = *client::find(options.protocol);
    answer.bytes =
        "status " + std::to_string(protocol.status_of(error)) + "\n" + protocol.error_body(error);
  }
  if (!request.stream || !pipeline->started()) answer.bytes += "\n";
  answer.summary = print_summary(pipeline->summary());
  return answer;
}

std::string print_summary(const TurnSummary& summary) {
  std::string text = "finish " + std::string(to_string(summary.reason)) + "\n";
  text += "calls " + std::to_string(summary.calls) + "\n";
  for (std::size_t i = 0; i < kRepairCount; ++i) {
    if (summary.repairs[i] == 0) continue;
    text += "repair " + std::string(to_string(static_cast<Repair>(i))) + " " +
            std::to_string(summary.repairs[i]) + "\n";
  }
  const auto count = [&](std::string_view what, std::uint64_t number) {
    if (number > 0) text += std::string(what) + " " + std::to_string(number) + "\n";
  };
  count("withheld calls", summary.withheld_calls);
  count("withheld bytes", summary.withheld_bytes);
  count("mended calls", summary.mended_calls);
  if (summary.cut) text += "cut\n";
  count("late frames", summary.late_frames);
  return text;
}

}  // namespace callgate::engine
