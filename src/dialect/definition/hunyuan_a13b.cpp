// Hunyuan A13B: an array between tags; the answer is wrapped too.
//
//   <think>
//   Look it up.
//   </think>
//   <answer>
//   One moment.
//   <tool_calls>[{"name": "get_weather", "arguments": {"city": "Paris"}}]</tool_calls>
//   </answer>
#include "dialect/family/marked_json.h"

namespace callgate::dialect::hunyuan_a13b {
namespace {

constexpr Opener kOpen[] = {{"<tool_calls>"}};
constexpr Envelope kAnswer[] = {{"<answer>", "</answer>"}};
constexpr std::string_view kClose[] = {"</tool_calls>"};
constexpr std::string_view kTail[] = {"<|eos|>"};
constexpr Prose kProse{.reasoning = kThink,
                       .answer = kAnswer,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .tail = kTail,
                       .empty_block = Prose::EmptyBlock::structure};
constexpr CallKeys kKeys{};
constexpr std::string_view kModels[] = {"*hunyuan-a13b*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(kProse, make_marked_json(kProse, kKeys, options), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "hunyuan_a13b",
    .spec = R"(<tool_calls>[{"name": "f", "arguments": {...}}]</tool_calls>)",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::hunyuan_a13b
