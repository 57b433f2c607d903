// Llama-Nemotron and Nemotron Nano v2: an array between tags.
//
//   <TOOLCALL>[{"name": "get_weather", "arguments": {"city": "Paris"}}]</TOOLCALL>
#include "dialect/family/marked_json.h"

namespace callgate::dialect::nemotron_deci {
namespace {

constexpr Opener kOpen[] = {{"<TOOLCALL>"}};
constexpr std::string_view kClose[] = {"</TOOLCALL>"};
constexpr std::string_view kTail[] = {"<|eot_id|>", "<SPECIAL_12>"};
constexpr Prose kProse{.reasoning = kThink,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .tail = kTail,
                       .empty_block = Prose::EmptyBlock::structure};
constexpr CallKeys kKeys{};
constexpr std::string_view kModels[] = {"*nemotron-nano-9b*", "*nemotron-nano-12b*",
                                        "*llama-3*nemotron*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(kProse, make_marked_json(kProse, kKeys, options), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "nemotron_deci",
    .spec = R"(<TOOLCALL>[{"name": "f", "arguments": {...}}]</TOOLCALL>)",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::nemotron_deci
