// ServiceNow Apriel: reasoning in plain sentences up to a marker, then an answer or an array of calls. The prompt of
// Apriel 1.6 ends with `Here are my reasoning steps:`, Apriel 1.5 writes that line itself.
//
//   Here are my reasoning steps:
//   Look it up.
//   [BEGIN FINAL RESPONSE]
//   <tool_calls>[{"name": "get_weather", "arguments": {"city": "Paris"}}]</tool_calls>
//   <|end|>
#include "dialect/family/marked_json.h"

namespace callgate::dialect::apriel {
namespace {

constexpr Envelope kReasoning[] = {{"Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"},
                                   {"<thinking>", "</thinking>"}};
constexpr Envelope kAnswer[] = {{"", "[END FINAL RESPONSE]"}};
constexpr Opener kOpen[] = {{"<tool_calls>"}};
constexpr std::string_view kClose[] = {"</tool_calls>"};
constexpr std::string_view kTail[] = {"<|end|>", "</s>"};
constexpr Prose kProse{.reasoning = kReasoning,
                       .answer = kAnswer,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .tail = kTail};
constexpr CallKeys kKeys{};
constexpr std::string_view kModels[] = {"*apriel*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(kProse, make_marked_json(kProse, kKeys, options), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "apriel",
    .spec = R"(<tool_calls>[{"name": "f", "arguments": {...}}]</tool_calls>)",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::apriel
