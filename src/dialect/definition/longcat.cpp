// LongCat Flash, in its earlier and its newer form:
//
//   <longcat_tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</longcat_tool_call>
//   <longcat_tool_call>get_weather
//   <longcat_arg_key>city</longcat_arg_key>
//   <longcat_arg_value>Paris</longcat_arg_value>
//   </longcat_tool_call>
#include "dialect/family/choice_reader.h"
#include "dialect/family/marked_json.h"
#include "dialect/family/tagged_arguments.h"

namespace callgate::dialect::longcat {
namespace {

constexpr Envelope kReasoning[] = {{"<think>", "</think>"},
                                   {"<longcat_think>", "</longcat_think>"}};
constexpr Opener kOpen[] = {{"<longcat_tool_call>"}};
constexpr std::string_view kClose[] = {"</longcat_tool_call>"};
constexpr std::string_view kTail[] = {"</longcat_s>", "<|endoftext|>"};
constexpr std::string_view kSpecial[] = {"<longcat_tool_call>", "</longcat_tool_call>"};
constexpr Prose kProse{.reasoning = kReasoning,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .tail = kTail,
                       .special = kSpecial};
constexpr CallKeys kKeys{};
constexpr TaggedGrammar kTagged[] = {
    {.call = {.open = "<longcat_tool_call>", .style = NameTag::Style::text, .end = ""},
     .call_close = "</longcat_tool_call>",
     .parameter = {.open = "<longcat_arg_key>",
                   .style = NameTag::Style::text,
                   .end = "</longcat_arg_key>"},
     .value_open = "<longcat_arg_value>",
     .value_close = "</longcat_arg_value>",
     .tail = kTail}};
constexpr std::string_view kModels[] = {"*longcat*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  std::vector<Alternative> shapes;
  shapes.push_back({"{[", make_marked_json(kProse, kKeys, options)});
  shapes.push_back({"", std::make_unique<TaggedCalls>(kTagged, kOpen, options)});
  return make_turn_parser(kProse, make_choice(kProse, std::move(shapes)), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "longcat",
    .spec = R"(<longcat_tool_call>{"name": "f", "arguments": {...}}</longcat_tool_call>)",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::longcat
