// Hunyuan (hy_v3):
//
//   <tool_calls><tool_call>get_weather<tool_sep><arg_key>city</arg_key><arg_value>Paris</arg_value></tool_call></tool_calls>
//
// The tokens of Hy3 carry a suffix: `<tool_calls:opensource>`.
#include "dialect/family/tagged_arguments.h"

namespace callgate::dialect::hunyuan {
namespace {

constexpr Envelope kReasoning[] = {{"<think>", "</think>"},
                                   {"<think:opensource>", "</think:opensource>"}};
constexpr std::string_view kSection[] = {"<tool_calls>"};
constexpr std::string_view kSectionClose[] = {"</tool_calls>"};
constexpr std::string_view kSeparator[] = {"<tool_sep>"};
constexpr std::string_view kOpenSection[] = {"<tool_calls:opensource>"};
constexpr std::string_view kOpenSectionClose[] = {"</tool_calls:opensource>"};
constexpr std::string_view kOpenSeparator[] = {"<tool_sep:opensource>"};
constexpr std::string_view kClose[] = {"</tool_call>", "</tool_calls>", "</tool_call:opensource>",
                                       "</tool_calls:opensource>"};
constexpr std::string_view kTail[] = {"<|eos|>", "<|endoftext|>", "<｜hy_eos:opensource｜>"};
constexpr Opener kOpen[] = {
    {"<tool_calls>"}, {"<tool_call>"}, {"<tool_calls:opensource>"}, {"<tool_call:opensource>"}};
constexpr Prose kProse{.reasoning = kReasoning,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .tail = kTail,
                       .empty_block = Prose::EmptyBlock::structure};
constexpr TaggedGrammar kPlain{
    .lead = kSection,
    .call = {.open = "<tool_call>", .style = NameTag::Style::text, .end = ""},
    .call_close = "</tool_call>",
    .parameter = {.open = "<arg_key>", .style = NameTag::Style::text, .end = "</arg_key>"},
    .value_open = "<arg_value>",
    .value_close = "</arg_value>",
    .filler = kSeparator,
    .section_close = kSectionClose,
    .tail = kTail};
constexpr TaggedGrammar kSuffixed{
    .lead = kOpenSection,
    .call = {.open = "<tool_call:opensource>", .style = NameTag::Style::text, .end = ""},
    .call_close = "</tool_call:opensource>",
    .parameter = {.open = "<arg_key:opensource>",
                  .style = NameTag::Style::text,
                  .end = "</arg_key:opensource>"},
    .value_open = "<arg_value:opensource>",
    .value_close = "</arg_value:opensource>",
    .filler = kOpenSeparator,
    .section_close = kOpenSectionClose,
    .tail = kTail};
constexpr TaggedGrammar kGrammars[] = {kPlain, kPlain, kSuffixed, kSuffixed};
constexpr std::string_view kModels[] = {"*hy-v3*", "*hunyuan-v3*", "*hunyuan3*",
                                        "hy3*",    "*/hy3*",       "*_hy3*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_tagged_parser(kProse, kGrammars, options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "hunyuan",
    .spec =
        "<tool_calls><tool_call>f<tool_sep><arg_key>k</arg_key><arg_value>v</arg_value>"
        "</tool_call></tool_calls>",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::hunyuan
