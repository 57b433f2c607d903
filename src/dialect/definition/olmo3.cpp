// OLMo 3:
//
//   <function_calls>get_weather(city="Paris")
//   get_time()</function_calls>
#include "dialect/family/python_calls.h"

namespace callgate::dialect::olmo3 {
namespace {

constexpr Opener kOpen[] = {{"<function_calls>"}};
constexpr std::string_view kClose[] = {"</function_calls>"};
constexpr std::string_view kTail[] = {"<|im_end|>", "<|endoftext|>"};
constexpr Prose kProse{.reasoning = kThink,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .tail = kTail,
                       .empty_block = Prose::EmptyBlock::structure};
constexpr std::string_view kModels[] = {"*olmo-3*", "*olmo3*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(kProse, std::make_unique<PythonCalls>(kOpen, options), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{.name = "olmo3",
                                 .spec = R"(<function_calls>f(k="v")\ng()</function_calls>)",
                                 .models = kModels,
                                 .make = make};

}  // namespace callgate::dialect::olmo3
