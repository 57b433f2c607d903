// Seed-OSS:
//
//   <seed:tool_call>
//   <function=get_weather>
//   <parameter=city>Tokyo</parameter>
//   </function>
//   </seed:tool_call>
#include "dialect/family/tagged_arguments.h"

namespace callgate::dialect::seed_oss {
namespace {

constexpr Envelope kReasoning[] = {{"<seed:think>", "</seed:think>"}};
constexpr std::string_view kSection[] = {"<seed:tool_call>"};
constexpr std::string_view kSectionClose[] = {"</seed:tool_call>"};
constexpr std::string_view kTail[] = {"<seed:eos>"};
constexpr Opener kOpen[] = {{"<seed:tool_call>"}, {"<function="}};
constexpr Prose kProse{
    .reasoning = kReasoning, .call_open = kOpen, .call_close = kSectionClose, .tail = kTail};
constexpr TaggedGrammar kGrammar[] = {{.lead = kSection,
                                       .call = {.open = "<function="},
                                       .call_close = "</function>",
                                       .parameter = {.open = "<parameter="},
                                       .value_close = "</parameter>",
                                       .section_close = kSectionClose,
                                       .tail = kTail}};
constexpr std::string_view kModels[] = {"*seed-oss*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_tagged_parser(kProse, kGrammar, options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "seed_oss",
    .spec = "<seed:tool_call><function=f><parameter=k>v</parameter></function></seed:tool_call>",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::seed_oss
