// Step-3:
//
//   <｜tool_calls_begin｜>
//   <｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="get_weather"><steptml:parameter name="city">Paris
//   </steptml:parameter></steptml:invoke><｜tool_call_end｜>
//   <｜tool_calls_end｜>
#include "dialect/family/tagged_arguments.h"

namespace callgate::dialect::step3 {
namespace {

constexpr std::string_view kLead[] = {"<｜tool_calls_begin｜>", "<｜tool_call_begin｜>", "function",
                                      "<｜tool_sep｜>"};
constexpr std::string_view kClose[] = {"<｜tool_call_end｜>", "<｜tool_calls_end｜>"};
constexpr std::string_view kTail[] = {"<|EOT|>", "<｜end▁of▁sentence｜>"};
constexpr Opener kOpen[] = {
    {"<｜tool_calls_begin｜>"}, {"<｜tool_call_begin｜>"}, {"<steptml:invoke"}};
constexpr std::string_view kSpecial[] = {"<｜tool_calls_begin｜>", "<｜tool_call_begin｜>",
                                         "<｜tool_call_end｜>",    "<｜tool_calls_end｜>",
                                         "<｜tool_sep｜>",         "<steptml:invoke"};
constexpr Prose kProse{.reasoning = kThink,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .tail = kTail,
                       .special = kSpecial};
constexpr TaggedGrammar kGrammar[] = {
    {.lead = kLead,
     .call = {.open = "<steptml:invoke", .style = NameTag::Style::attribute},
     .call_close = "</steptml:invoke>",
     .parameter = {.open = "<steptml:parameter", .style = NameTag::Style::attribute},
     .value_close = "</steptml:parameter>",
     .section_close = kClose,
     .tail = kTail}};
constexpr std::string_view kModels[] = {"*step3*", "*step-3"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_tagged_parser(kProse, kGrammar, options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "step3",
    .spec =
        R"(<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="f">)"
        R"(<steptml:parameter name="k">v</steptml:parameter></steptml:invoke><｜tool_call_end｜>)"
        "<｜tool_calls_end｜>",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::step3
