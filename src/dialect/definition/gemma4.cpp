// Gemma 4. Strings stand between quote markers, without escapes:
//
//   <|channel>thought\nLook it up.<channel|><|tool_call>call:get_weather{city:<|"|>Paris<|"|>,days:3}<tool_call|>
#include "dialect/family/gemma_calls.h"

namespace callgate::dialect::gemma4 {
namespace {

constexpr Envelope kReasoning[] = {{"<|channel>thought", "<channel|>"}, {"<|channel>", ""}};
constexpr GemmaMarkers kMarkers{.quote = R"(<|"|>)", .close = "<tool_call|>"};
constexpr Opener kOpen[] = {{"<|tool_call>"}};
constexpr std::string_view kClose[] = {"<tool_call|>", "<|tool_response>"};
constexpr std::string_view kTail[] = {"<turn|>", "<end_of_turn>", "<eos>"};
constexpr std::string_view kSpecial[] = {"<|tool_call>", "<tool_call|>", "<|tool_response>",
                                         "<tool_response|>", R"(<|"|>)"};
constexpr Prose kProse{.reasoning = kReasoning,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .tail = kTail,
                       .special = kSpecial};
constexpr std::string_view kModels[] = {"*gemma-4*", "*gemma4*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(kProse, std::make_unique<GemmaCalls>(kMarkers), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{.name = "gemma4",
                                 .spec = R"(<|tool_call>call:f{k:<|"|>v<|"|>}<tool_call|>)",
                                 .models = kModels,
                                 .make = make};

}  // namespace callgate::dialect::gemma4
