// Claude's prompt-style calls, which many proxies ask for:
//
//   <function_calls>
//   <invoke name="get_weather">
//   <parameter name="city">Paris</parameter>
//   </invoke>
//   </function_calls>
//
// The tags may carry the prefix `antml:`.
#include "dialect/family/tagged_arguments.h"

namespace callgate::dialect::anthropic_xml {
namespace {

constexpr std::string_view kSection[] = {"<function_calls>"};
constexpr std::string_view kSectionClose[] = {"</function_calls>"};
constexpr std::string_view kNamedSection[] = {"<antml:function_calls>"};
constexpr std::string_view kNamedSectionClose[] = {"</antml:function_calls>"};
constexpr std::string_view kClose[] = {"</function_calls>", "</antml:function_calls>"};
constexpr Opener kOpen[] = {
    {"<function_calls>"}, {"<invoke"}, {"<antml:function_calls>"}, {"<antml:invoke"}};
constexpr Prose kProse{.reasoning = kThink, .call_open = kOpen, .call_close = kClose};
constexpr TaggedGrammar kPlain{
    .lead = kSection,
    .call = {.open = "<invoke", .style = NameTag::Style::attribute},
    .call_close = "</invoke>",
    .parameter = {.open = "<parameter", .style = NameTag::Style::attribute},
    .value_close = "</parameter>",
    .section_close = kSectionClose};
constexpr TaggedGrammar kNamed{
    .lead = kNamedSection,
    .call = {.open = "<antml:invoke", .style = NameTag::Style::attribute},
    .call_close = "</antml:invoke>",
    .parameter = {.open = "<antml:parameter", .style = NameTag::Style::attribute},
    .value_close = "</antml:parameter>",
    .section_close = kNamedSectionClose};
constexpr TaggedGrammar kGrammars[] = {kPlain, kPlain, kNamed, kNamed};
constexpr std::string_view kModels[] = {"claude-2*", "claude-instant*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_tagged_parser(kProse, kGrammars, options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "anthropic_xml",
    .spec = R"(<function_calls><invoke name="f"><parameter name="k">v</parameter></invoke>)"
            "</function_calls>",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::anthropic_xml
