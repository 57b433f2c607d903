// Hunyuan (hy_v3):
//
//   <tool_calls><tool_call>get_weather<tool_sep><arg_key>city</arg_key><arg_value>Paris</arg_value></tool_call></tool_calls>
#include "dialect/tagged_arguments.h"

namespace callgate::dialect {
namespace {

constexpr std::string_view kSection[] = {"<tool_calls>"};
constexpr std::string_view kSectionClose[] = {"</tool_calls>"};
constexpr std::string_view kClose[] = {"</tool_call>", "</tool_calls>"};
constexpr std::string_view kSeparator[] = {"<tool_sep>"};
constexpr std::string_view kTail[] = {"<|eos|>", "<|endoftext|>"};
constexpr Opener kOpen[] = {{"<tool_calls>"}, {"<tool_call>"}};
constexpr Prose kProse{.reasoning = kThink,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .tail = kTail,
                       .empty_block = Prose::EmptyBlock::structure};
constexpr TaggedGrammar kGrammar[] = {
    {.lead = kSection,
     .call = {.open = "<tool_call>", .style = NameTag::Style::text, .end = ""},
     .call_close = "</tool_call>",
     .parameter = {.open = "<arg_key>", .style = NameTag::Style::text, .end = "</arg_key>"},
     .value_open = "<arg_value>",
     .value_close = "</arg_value>",
     .filler = kSeparator,
     .section_close = kSectionClose,
     .tail = kTail}};
constexpr std::string_view kModels[] = {"*hy-v3*", "*hunyuan-v3*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_tagged_parser(kProse, kGrammar, options);
}

}  // namespace

extern const Dialect hunyuan;
constinit const Dialect hunyuan{
    .name = "hunyuan",
    .spec =
        "<tool_calls><tool_call>f<tool_sep><arg_key>k</arg_key><arg_value>v</arg_value>"
        "</tool_call></tool_calls>",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect
