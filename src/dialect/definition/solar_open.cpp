// Solar Open: the model writes the id.
//
//   <|tool_calls|><|tool_call:begin|>a1<|tool_call:name|>get_weather<|tool_call:args|>{"city": "Paris"}<|tool_call:end|><|calls|>
#include "dialect/family/named_json.h"

namespace callgate::dialect::solar_open {
namespace {

constexpr Envelope kReasoning[] = {{"<|think|>", "<|end|>"}, {"<think>", "</think>"}};
constexpr std::string_view kSectionOpen[] = {"<|tool_calls|>"};
constexpr std::string_view kSectionClose[] = {"<|calls|>"};
constexpr Field kFields[] = {{"<|tool_call:name|>", Slot::name},
                             {"<|tool_call:args|>", Slot::arguments}};
constexpr Opener kOpen[] = {{"<|tool_call:begin|>"}};
constexpr Envelope kAnswer[] = {{"<|content|>", ""}, {"<|begin|>assistant", ""}};
constexpr std::string_view kClose[] = {"<|tool_call:end|>"};
constexpr std::string_view kTail[] = {"<|flush|>"};
constexpr std::string_view kSpecial[] = {"<|tool_calls|>",      "<|calls|>",
                                         "<|tool_call:begin|>", "<|tool_call:end|>",
                                         "<|tool_call:name|>",  "<|tool_call:args|>"};
constexpr Prose kProse{.reasoning = kReasoning,
                       .answer = kAnswer,
                       .section_open = kSectionOpen,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .section_close = kSectionClose,
                       .tail = kTail,
                       .special = kSpecial};
constexpr NamedJson kGrammar{.first = Slot::id, .fields = kFields};
constexpr std::string_view kModels[] = {"*solar-open*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(kProse, make_named_json(kProse, kGrammar, options), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "solar_open",
    .spec = R"(<|tool_call:begin|>ID<|tool_call:name|>f<|tool_call:args|>{...}<|tool_call:end|>)",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::solar_open
