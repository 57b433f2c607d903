// MiniMax-M2, M2.1, M2.5:
//
//   <minimax:tool_call>
//   <invoke name="get_weather">
//   <parameter name="city">Paris</parameter>
//   </invoke>
//   </minimax:tool_call>
#include "dialect/family/tagged_arguments.h"

namespace callgate::dialect::minimax_m2 {
namespace {

constexpr std::string_view kSection[] = {"<minimax:tool_call>"};
constexpr std::string_view kSectionClose[] = {"</minimax:tool_call>"};
constexpr std::string_view kTail[] = {"[e~["};
constexpr Opener kOpen[] = {{"<minimax:tool_call>"}, {"<invoke"}};
constexpr Prose kProse{
    .reasoning = kThink, .call_open = kOpen, .call_close = kSectionClose, .tail = kTail};
constexpr TaggedGrammar kGrammar[] = {
    {.lead = kSection,
     .call = {.open = "<invoke", .style = NameTag::Style::attribute},
     .call_close = "</invoke>",
     .parameter = {.open = "<parameter", .style = NameTag::Style::attribute},
     .value_close = "</parameter>",
     .section_close = kSectionClose,
     .tail = kTail}};
constexpr std::string_view kModels[] = {"*minimax-m2*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_tagged_parser(kProse, kGrammar, options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "minimax_m2",
    .spec = R"(<minimax:tool_call><invoke name="f"><parameter name="k">v</parameter></invoke>)"
            "</minimax:tool_call>",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::minimax_m2
