// MiniMax M1: one object a line between tags.
//
//   <tool_calls>
//   {"name": "get_weather", "arguments": {"city": "Paris"}}
//   {"name": "get_time", "arguments": {}}
//   </tool_calls>
#include "dialect/family/marked_json.h"

namespace callgate::dialect::minimax_m1 {
namespace {

constexpr Opener kOpen[] = {{"<tool_calls>"}};
constexpr std::string_view kClose[] = {"</tool_calls>"};
constexpr std::string_view kTail[] = {"<end_of_sentence>"};
constexpr Prose kProse{.reasoning = kThink,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .tail = kTail,
                       .empty_block = Prose::EmptyBlock::structure};
constexpr CallKeys kKeys{};
constexpr std::string_view kModels[] = {"*minimax-m1*", "*minimax-text*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(kProse, make_marked_json(kProse, kKeys, options), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "minimax_m1",
    .spec = R"(<tool_calls>\n{"name": "f", "arguments": {...}}\n</tool_calls>)",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::minimax_m1
