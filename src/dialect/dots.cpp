// dots.llm1.
//
//   <dots_function_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</dots_function_call>
#include "dialect/marked_json.h"

namespace callgate::dialect {
namespace {

constexpr Opener kOpen[] = {{"<dots_function_call>"}};
constexpr std::string_view kClose[] = {"</dots_function_call>"};
constexpr std::string_view kTail[] = {"<|endofresponse|>", "<|endoftext|>"};
constexpr std::string_view kSpecial[] = {"<dots_function_call>", "</dots_function_call>"};
constexpr Prose kProse{.reasoning = kThink,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .tail = kTail,
                       .special = kSpecial};
constexpr CallKeys kKeys{};
constexpr std::string_view kModels[] = {"*dots.llm*", "*dots-llm*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(kProse, make_marked_json(kProse, kKeys, options), options);
}

}  // namespace

extern const Dialect dots;
constinit const Dialect dots{
    .name = "dots",
    .spec = R"(<dots_function_call>{"name": "f", "arguments": {...}}</dots_function_call>)",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect
