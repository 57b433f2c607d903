// ERNIE 4.5: an object between tags; the answer is wrapped.
//
//   <think>Look it up.</think>
//
//   <response>
//   One moment.
//   </response>
//   <tool_call>
//   {"name": "get_weather", "arguments": {"city": "Paris"}}
//   </tool_call>
#include "dialect/family/marked_json.h"

namespace callgate::dialect::ernie45 {
namespace {

constexpr Opener kOpen[] = {{"<tool_call>"}};
constexpr Envelope kAnswer[] = {{"<response>", "</response>"}};
constexpr std::string_view kClose[] = {"</tool_call>"};
constexpr std::string_view kTail[] = {"</s>", "<|end_of_sentence|>"};
constexpr Prose kProse{.reasoning = kThink,
                       .answer = kAnswer,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .tail = kTail,
                       .empty_block = Prose::EmptyBlock::structure};
constexpr CallKeys kKeys{};
constexpr std::string_view kModels[] = {"*ernie-4.5*", "*ernie4.5*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(kProse, make_marked_json(kProse, kKeys, options), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "ernie45",
    .spec = R"(<tool_call>\n{"name": "f", "arguments": {...}}\n</tool_call>)",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::ernie45
