// Cohere Command R7B, A and later: an array with ids between tokens; Command R+ writes a fence instead.
//
//   <|START_THINKING|>Look it up.<|END_THINKING|><|START_ACTION|>[
//       {"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city": "Paris"}}
//   ]<|END_ACTION|>
#include "dialect/family/marked_json.h"

namespace callgate::dialect::cohere_command_r7b {
namespace {

constexpr Envelope kReasoning[] = {{"<|START_THINKING|>", "<|END_THINKING|>"},
                                   {"<think>", "</think>"}};
constexpr std::string_view kId[] = {"tool_call_id"};
constexpr Opener kOpen[] = {{"<|START_ACTION|>"}, {"Action:\n```json"}, {"Action: ```json"}};
constexpr Envelope kAnswer[] = {{"<|START_RESPONSE|>", "<|END_RESPONSE|>"},
                                {"<|START_TEXT|>", "<|END_TEXT|>"}};
constexpr std::string_view kClose[] = {"<|END_ACTION|>"};
constexpr std::string_view kTail[] = {"<|END_OF_TURN_TOKEN|>"};
constexpr std::string_view kSpecial[] = {"<|START_ACTION|>", "<|END_ACTION|>"};
constexpr Prose kProse{.reasoning = kReasoning,
                       .answer = kAnswer,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .tail = kTail,
                       .special = kSpecial,
                       .odd_block = Prose::OddBlock::structure};
constexpr CallKeys kKeys{.id = kId};
constexpr std::string_view kModels[] = {"*command-r7b*", "*command-a*", "*command-r*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(kProse, make_marked_json(kProse, kKeys, options), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "cohere_command_r7b",
    .spec =
        R"(<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {...}}]<|END_ACTION|>)",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::cohere_command_r7b
