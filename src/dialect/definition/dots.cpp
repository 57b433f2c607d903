// dots.llm1 and its successors. The canonical form has tags, the other one is JSON:
//
//   <dots_function_call>
//   <invoke name="get_weather">
//   <parameter name="city">Paris</parameter>
//   </invoke>
//   </dots_function_call>
//   <dots_function_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</dots_function_call>
#include "dialect/family/either_calls.h"
#include "dialect/family/marked_json.h"
#include "dialect/family/tagged_arguments.h"

namespace callgate::dialect::dots {
namespace {

constexpr Opener kOpen[] = {{"<dots_function_call>"}, {"<invoke"}};
constexpr std::string_view kSection[] = {"<dots_function_call>"};
constexpr std::string_view kClose[] = {"</dots_function_call>"};
constexpr std::string_view kTail[] = {"<|endofresponse|>", "<|endoftext|>"};
constexpr std::string_view kSpecial[] = {"<dots_function_call>", "</dots_function_call>"};
constexpr Prose kProse{.reasoning = kThink,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .tail = kTail,
                       .special = kSpecial,
                       .odd_block = Prose::OddBlock::contents};
constexpr CallKeys kKeys{};
constexpr TaggedGrammar kTagged[] = {
    {.lead = kSection,
     .call = {.open = "<invoke", .style = NameTag::Style::attribute},
     .call_close = "</invoke>",
     .parameter = {.open = "<parameter", .style = NameTag::Style::attribute},
     .value_close = "</parameter>",
     .section_close = kClose,
     .tail = kTail}};
constexpr std::string_view kModels[] = {"*dots.llm*", "*dots-llm*", "*dots2*", "*dots3*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(
      kProse,
      std::make_unique<EitherCalls>(make_marked_json(kProse, kKeys, options),
                                    std::make_unique<TaggedCalls>(kTagged, kOpen, options)),
      options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "dots",
    .spec = R"(<dots_function_call><invoke name="f"><parameter name="k">v</parameter></invoke>)"
            "</dots_function_call>",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::dots
