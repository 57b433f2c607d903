// AI21 Jamba: an array between tags.
//
//   <tool_calls>[
//       {"name": "get_weather", "arguments": {"city": "Paris"}}
//   ]</tool_calls>
#include "dialect/family/marked_json.h"

namespace callgate::dialect::jamba {
namespace {

constexpr Opener kOpen[] = {{"<tool_calls>"}};
constexpr std::string_view kClose[] = {"</tool_calls>"};
constexpr std::string_view kTail[] = {"<|eom|>", "<|endoftext|>"};
constexpr Prose kProse{.reasoning = kThink,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .tail = kTail,
                       .empty_block = Prose::EmptyBlock::structure};
constexpr CallKeys kKeys{};
constexpr std::string_view kModels[] = {"*jamba*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(kProse, make_marked_json(kProse, kKeys, options), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "jamba",
    .spec = R"(<tool_calls>[{"name": "f", "arguments": {...}}]</tool_calls>)",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::jamba
