// GLM-4.5, GLM-4.6, Laguna:
//
//   <tool_call>get_weather
//   <arg_key>city</arg_key>
//   <arg_value>Paris</arg_value>
//   </tool_call>
//
// White space inside a value is data. A call without arguments is its name alone. The models also write JSON, with the
// tag and without, and arguments as Python does.
#include "dialect/family/tagged_arguments.h"

namespace callgate::dialect::glm45 {
namespace {

constexpr std::string_view kClose[] = {"</tool_call>"};
constexpr std::string_view kTail[] = {"<|observation|>", "<|user|>", "<|endoftext|>"};
constexpr Opener kOpen[] = {{"<tool_call>"}, {"{", Opener::Where::line, Opener::Names::declared}};
constexpr Prose kProse{.reasoning = kThink,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .tail = kTail,
                       .empty_block = Prose::EmptyBlock::structure};
constexpr TaggedGrammar kGrammar[] = {
    {.call = {.open = "<tool_call>", .style = NameTag::Style::text, .end = ""},
     .call_close = "</tool_call>",
     .parameter = {.open = "<arg_key>", .style = NameTag::Style::text, .end = "</arg_key>"},
     .value_open = "<arg_value>",
     .value_close = "</arg_value>",
     .tail = kTail}};
constexpr std::string_view kModels[] = {"*glm-4.5*", "*glm-4.6*",  "*glm4.5*",
                                        "*laguna*",  "*ring-2.6*", "*ling-3*tiny*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_tagged_parser(kProse, kGrammar, options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "glm45",
    .spec = "<tool_call>f<arg_key>k</arg_key><arg_value>v</arg_value></tool_call>, a line each",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::glm45
