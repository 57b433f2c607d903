// Hermes 2 and 3, Qwen2.5, Qwen3, QwQ, SmolLM3 and many others:
//
//   <tool_call>
//   {"name": "get_weather", "arguments": {"city": "Paris"}}
//   </tool_call>
#include "dialect/marked_json.h"

namespace callgate::dialect {
namespace {

constexpr Opener kOpen[] = {{"<tool_call>"}};
constexpr std::string_view kClose[] = {"</tool_call>"};
constexpr std::string_view kTail[] = {"<|im_end|>", "<|endoftext|>"};
constexpr Prose kProse{
    .reasoning = kThink, .call_open = kOpen, .call_close = kClose, .tail = kTail};
constexpr CallKeys kKeys{};
constexpr std::string_view kModels[] = {"*hermes*", "*qwen2.5*", "*qwen3*",  "*qwq*",
                                        "*bielik*", "*smollm3*", "*mimo-vl*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(kProse, make_marked_json(kProse, kKeys, options), options);
}

}  // namespace

extern const Dialect hermes;
constinit const Dialect hermes{
    .name = "hermes",
    .spec = R"(<tool_call>{"name": "f", "arguments": {...}}</tool_call>)",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect
