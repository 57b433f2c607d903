// SoftBank Sarashina: calls as a Python list of dicts. The marker is a special token that servers usually drop.
//
//   <|tool_calls|>[{'name': 'get_weather', 'arguments': {'city': 'Paris'}}]
//
// Without the marker a list opens a call only where it begins a stretch of text and names a declared tool.
#include "dialect/family/literal_calls.h"

namespace callgate::dialect::sarashina {
namespace {

constexpr Opener kOpen[] = {
    {"<|tool_calls|>"},
    {.text = "[", .where = Opener::Where::first, .names = Opener::Names::declared}};
constexpr std::string_view kTail[] = {"</s>", "<|end|>"};
constexpr Prose kProse{.reasoning = kThink, .call_open = kOpen, .tail = kTail};
constexpr std::string_view kModels[] = {"*sarashina*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(kProse, std::make_unique<LiteralCalls>(kOpen, options), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{.name = "sarashina",
                                 .spec = R"(<|tool_calls|>[{'name': 'f', 'arguments': {...}}])",
                                 .models = kModels,
                                 .make = make};

}  // namespace callgate::dialect::sarashina
