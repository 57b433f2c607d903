// FunctionGemma:
//
//   <start_function_call>call:get_weather{city:<escape>Paris<escape>}<end_function_call>
#include "dialect/family/gemma_calls.h"

namespace callgate::dialect::functiongemma {
namespace {

constexpr GemmaMarkers kMarkers{.quote = "<escape>", .close = "<end_function_call>"};
constexpr Opener kOpen[] = {{"<start_function_call>"}};
constexpr std::string_view kClose[] = {"<end_function_call>", "<start_function_response>"};
constexpr std::string_view kTail[] = {"<end_of_turn>", "<eos>"};
constexpr std::string_view kSpecial[] = {"<start_function_call>", "<end_function_call>",
                                         "<start_function_response>"};
constexpr Prose kProse{.reasoning = kThink,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .tail = kTail,
                       .special = kSpecial};
constexpr std::string_view kModels[] = {"*functiongemma*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(kProse, std::make_unique<GemmaCalls>(kMarkers), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "functiongemma",
    .spec = "<start_function_call>call:f{k:<escape>v<escape>}<end_function_call>",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::functiongemma
