// IBM Granite 4: one JSON object per pair of special tokens, no newlines.
//
//   <tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>
#include "dialect/family/marked_json.h"

namespace callgate::dialect::granite4 {
namespace {

constexpr Opener kOpen[] = {{"<tool_call>"}};
constexpr std::string_view kClose[] = {"</tool_call>"};
constexpr std::string_view kTail[] = {"<|end_of_text|>"};
constexpr Prose kProse{.reasoning = kThink,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .tail = kTail,
                       .empty_block = Prose::EmptyBlock::structure};
constexpr CallKeys kKeys{};
constexpr std::string_view kModels[] = {"*granite-4*", "*granite4*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(kProse, make_marked_json(kProse, kKeys, options), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "granite4",
    .spec = R"(<tool_call>{"name": "f", "arguments": {...}}</tool_call>)",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::granite4
