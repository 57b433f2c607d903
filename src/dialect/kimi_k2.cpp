// Kimi K2, K2-Thinking, K2.5: the id holds the name. Its index counts over the whole conversation, so the id goes back as it
// came. A call ends reasoning, because the model forgets to.
//
//   <|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Paris"}
//   <|tool_call_end|><|tool_calls_section_end|>
#include "dialect/named_json.h"

namespace callgate::dialect {
namespace {

constexpr Envelope kReasoning[] = {{"<think>", "</think>"}, {"◁think▷", "◁/think▷"}};
constexpr std::string_view kSectionOpen[] = {"<|tool_calls_section_begin|>",
                                             "<|tool_call_section_begin|>"};
constexpr std::string_view kSectionClose[] = {"<|tool_calls_section_end|>",
                                              "<|tool_call_section_end|>"};
constexpr Field kFields[] = {{"<|tool_call_argument_begin|>", Slot::arguments}};
constexpr Opener kOpen[] = {{"<|tool_call_begin|>"}};
constexpr std::string_view kClose[] = {"<|tool_call_end|>"};
constexpr std::string_view kTail[] = {"<|im_end|>"};
constexpr Prose kProse{.reasoning = kReasoning,
                       .section_open = kSectionOpen,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .section_close = kSectionClose,
                       .tail = kTail,
                       .after_call = Prose::AfterCall::text};
constexpr NamedJson kGrammar{.first = Slot::kimi_id, .fields = kFields};
constexpr std::string_view kModels[] = {"*kimi-k2*", "*kimi_k2*", "*kimi-dev*", "*kimi-vl*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(kProse, make_named_json(kProse, kGrammar, options), options);
}

}  // namespace

extern const Dialect kimi_k2;
constinit const Dialect kimi_k2{
    .name = "kimi_k2",
    .spec = R"(<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{...}<|tool_call_end|>)",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect
