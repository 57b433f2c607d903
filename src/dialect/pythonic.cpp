// Llama 4, ToolACE, small Llama 3.2:
//
//   [get_weather(city="Paris", days=3), get_time()]
//   <|python_start|>[get_time()]<|python_end|>
//
// A bare bracket opens a call only before the name of a declared tool.
#include "dialect/python_calls.h"

namespace callgate::dialect {
namespace {

constexpr Opener kOpen[] = {{.text = "[", .names = Opener::Names::declared},
                            {.text = "<|python_start|>"}};
constexpr std::string_view kClose[] = {"<|python_end|>"};
constexpr std::string_view kTail[] = {"<|eot|>", "<|eom|>", "<|eot_id|>", "<|eom_id|>"};
constexpr std::string_view kSpecial[] = {"<|python_start|>", "<|python_end|>"};
constexpr Prose kProse{.reasoning = kThink,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .tail = kTail,
                       .special = kSpecial};
constexpr std::string_view kModels[] = {"*llama-4*", "*toolace*", "*llama-3.2-1b*",
                                        "*llama-3.2-3b*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(kProse, std::make_unique<PythonCalls>(kOpen, options), options);
}

}  // namespace

extern const Dialect pythonic;
constinit const Dialect pythonic{
    .name = "pythonic", .spec = R"([f(k="v"), g()])", .models = kModels, .make = make};

}  // namespace callgate::dialect
