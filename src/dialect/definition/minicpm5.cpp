// MiniCPM5:
//
//   <function name="get_weather"><param name="city">Paris</param></function>
//   <function name="write"><param name="text"><![CDATA[a < b]]></param></function>
#include "dialect/family/tagged_arguments.h"

namespace callgate::dialect::minicpm5 {
namespace {

constexpr std::string_view kSection[] = {"<tool_call>"};
constexpr std::string_view kSectionClose[] = {"</tool_call>"};
constexpr std::string_view kFiller[] = {"<arguments>", "</arguments>"};
constexpr std::string_view kTail[] = {"<|im_end|>", "</s>"};
constexpr Opener kOpen[] = {{"<tool_call>"}, {"<function"}};
constexpr Prose kProse{
    .reasoning = kThink, .call_open = kOpen, .call_close = kSectionClose, .tail = kTail};
constexpr TaggedGrammar kGrammar[] = {
    {.lead = kSection,
     .call = {.open = "<function", .style = NameTag::Style::attribute},
     .call_close = "</function>",
     .parameter = {.open = "<param", .style = NameTag::Style::attribute},
     .value_close = "</param>",
     .raw_open = "<![CDATA[",
     .raw_close = "]]>",
     .filler = kFiller,
     .section_close = kSectionClose,
     .tail = kTail}};
constexpr std::string_view kModels[] = {"*minicpm5*", "*minicpm-5*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_tagged_parser(kProse, kGrammar, options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "minicpm5",
    .spec = R"(<function name="f"><param name="k">v</param></function>)",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::minicpm5
