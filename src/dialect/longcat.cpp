// LongCat Flash.
//
//   <longcat_tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</longcat_tool_call>
#include "dialect/marked_json.h"

namespace callgate::dialect {
namespace {

constexpr Envelope kReasoning[] = {{"<think>", "</think>"},
                                   {"<longcat_think>", "</longcat_think>"}};
constexpr Opener kOpen[] = {{"<longcat_tool_call>"}};
constexpr std::string_view kClose[] = {"</longcat_tool_call>"};
constexpr std::string_view kTail[] = {"</longcat_s>", "<|endoftext|>"};
constexpr Prose kProse{
    .reasoning = kReasoning, .call_open = kOpen, .call_close = kClose, .tail = kTail};
constexpr CallKeys kKeys{};
constexpr std::string_view kModels[] = {"*longcat*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(kProse, make_marked_json(kProse, kKeys, options), options);
}

}  // namespace

extern const Dialect longcat;
constinit const Dialect longcat{
    .name = "longcat",
    .spec = R"(<longcat_tool_call>{"name": "f", "arguments": {...}}</longcat_tool_call>)",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect
