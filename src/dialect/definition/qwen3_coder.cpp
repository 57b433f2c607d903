// Qwen3-Coder, Qwen3.5 and later, Nemotron 3, Step 3.5, MiMo, K-EXAONE:
//
//   <tool_call>
//   <function=get_weather>
//   <parameter=city>
//   Paris
//   </parameter>
//   </function>
//   </tool_call>
//
// One newline at each end of a value is structure. The wrapper may be missing, and some write JSON into it.
#include "dialect/family/either_calls.h"
#include "dialect/family/marked_json.h"
#include "dialect/family/tagged_arguments.h"

namespace callgate::dialect::qwen3_coder {
namespace {

constexpr std::string_view kSection[] = {"<tool_call>"};
constexpr std::string_view kSectionClose[] = {"</tool_call>"};
constexpr std::string_view kTail[] = {"<|im_end|>", "<|endoftext|>"};
constexpr Opener kOpen[] = {{"<tool_call>"}, {"<function="}};
constexpr Prose kProse{.reasoning = kThink,
                       .call_open = kOpen,
                       .call_close = kSectionClose,
                       .tail = kTail,
                       .after_call = Prose::AfterCall::text};
constexpr TaggedGrammar kGrammar[] = {{.lead = kSection,
                                       .call = {.open = "<function="},
                                       .call_close = "</function>",
                                       .parameter = {.open = "<parameter="},
                                       .value_close = "</parameter>",
                                       .value_newline = "\n",
                                       .section_close = kSectionClose,
                                       .tail = kTail}};
constexpr CallKeys kKeys{};
constexpr std::string_view kModels[] = {
    "*qwen3-coder*", "*qwen3.5*", "*qwen3.6*",  "*qwen3.7*",  "*qwen3.8*",  "*nemotron-3*",
    "*step-3.5*",    "*mimo-v2*", "*k-exaone*", "*step-3.6*", "*step-3.7*", "*intern-s2*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  auto tagged = std::make_unique<TaggedCalls>(kGrammar, kOpen, options);
  return make_turn_parser(
      kProse,
      std::make_unique<EitherCalls>(make_marked_json(kProse, kKeys, options), std::move(tagged)),
      options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "qwen3_coder",
    .spec = "<tool_call><function=f><parameter=k>v</parameter></function></tool_call>",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::qwen3_coder
