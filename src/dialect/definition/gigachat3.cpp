// GigaChat 3.1, and 3.0 with a header in place of the token.
//
//   <|function_call|>{"name": "get_weather", "arguments": {"city": "Paris"}}
//   <|message_sep|>
//
//   function call<|role_sep|>
//   {"name": "get_weather", "arguments": {"city": "Paris"}}
#include "dialect/family/marked_json.h"

namespace callgate::dialect::gigachat3 {
namespace {

constexpr Opener kOpen[] = {{"<|function_call|>"},
                            {"<|message_sep|>\n\nfunction call<|role_sep|>\n"},
                            {"function call<|role_sep|>\n"}};
constexpr std::string_view kTail[] = {"</s>", "<|message_sep|>"};
constexpr Prose kProse{.reasoning = kThink, .call_open = kOpen, .tail = kTail};
constexpr CallKeys kKeys{};
constexpr std::string_view kModels[] = {"*gigachat3*", "*gigachat-3*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(kProse, make_marked_json(kProse, kKeys, options), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{.name = "gigachat3",
                                 .spec = R"(<|function_call|>{"name": "f", "arguments": {...}})",
                                 .models = kModels,
                                 .make = make};

}  // namespace callgate::dialect::gigachat3
