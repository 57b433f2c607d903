// MiniMax-M3. Every tag carries a prefix:
//
//   ]<]minimax[>[<tool_call>
//   ]<]minimax[>[<invoke name="get_weather">]<]minimax[>[<city>Tokyo]<]minimax[>[</city>]<]minimax[>[</invoke>
//   ]<]minimax[>[</tool_call>
#include "dialect/family/prefixed_tags.h"

namespace callgate::dialect::minimax_m3 {
namespace {

constexpr Envelope kReasoning[] = {{"<mm:think>", "</mm:think>"}};
constexpr PrefixedGrammar kGrammar{.prefix = "]<]minimax[>[",
                                   .section = "tool_call",
                                   .call = "invoke",
                                   .section_close = "]<]minimax[>[</tool_call>"};
constexpr Opener kOpen[] = {{"]<]minimax[>[<tool_call>"}, {"]<]minimax[>[<invoke"}};
constexpr std::string_view kClose[] = {"]<]minimax[>[</tool_call>"};
constexpr std::string_view kTail[] = {"[e~["};
constexpr std::string_view kSpecial[] = {"]<]minimax[>[<tool_call>", "]<]minimax[>[<invoke",
                                         "]<]minimax[>[</tool_call>"};
constexpr Prose kProse{.reasoning = kReasoning,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .tail = kTail,
                       .special = kSpecial};
constexpr std::string_view kModels[] = {"*minimax-m3*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(kProse, std::make_unique<PrefixedTags>(kGrammar, kOpen, options),
                          options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "minimax_m3",
    .spec =
        R"(]<]minimax[>[<invoke name="f">]<]minimax[>[<k>v]<]minimax[>[</k>]<]minimax[>[</invoke>)",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::minimax_m3
