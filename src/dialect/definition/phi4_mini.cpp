// Phi-4-mini and Firefunction v2: an array behind a word, or between tokens.
//
//   functools[{"name": "get_weather", "arguments": {"city": "Paris"}}]
//   <|tool_call|>[{"name": "get_weather", "arguments": {"city": "Paris"}}]<|/tool_call|>
#include "dialect/family/marked_json.h"

namespace callgate::dialect::phi4_mini {
namespace {

constexpr Opener kOpen[] = {{"functools["}, {"functools ["}, {"<|tool_call|>"}};
constexpr std::string_view kClose[] = {"<|/tool_call|>"};
constexpr std::string_view kTail[] = {"<|end|>", "<|endoftext|>", "<|eot_id|>"};
constexpr std::string_view kSpecial[] = {"<|tool_call|>", "<|/tool_call|>"};
constexpr Prose kProse{.reasoning = kThink,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .tail = kTail,
                       .special = kSpecial};
constexpr CallKeys kKeys{};
constexpr std::string_view kModels[] = {"*phi-4-mini*", "*phi4-mini*", "*firefunction*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(kProse, make_marked_json(kProse, kKeys, options), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{.name = "phi4_mini",
                                 .spec = R"(functools[{"name": "f", "arguments": {...}}])",
                                 .models = kModels,
                                 .make = make};

}  // namespace callgate::dialect::phi4_mini
