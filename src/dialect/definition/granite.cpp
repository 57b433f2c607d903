// IBM Granite 3.x: an array behind a token that the upstream may already have removed. Reasoning is announced by plain
// sentences, or tagged.
//
//   Here is my thought process: look it up. Here is my response: <|tool_call|>[{"name": "f", "arguments": {"a": 1}}]
#include "dialect/family/marked_json.h"

namespace callgate::dialect::granite {
namespace {

constexpr Envelope kReasoning[] = {{"<think>", "</think>"},
                                   {"Here is my thought process:", "Here is my response:"},
                                   {"Here's my thought process:", "Here's my response:"}};
constexpr Opener kOpen[] = {
    {"<|tool_call|>"}, {"<tool_call>"}, {"[", Opener::Where::first, Opener::Names::declared}};
constexpr Envelope kAnswer[] = {{"<response>", "</response>"}};
constexpr std::string_view kClose[] = {"</tool_call>", "<|/tool_call|>"};
constexpr std::string_view kTail[] = {"<|end_of_text|>"};
constexpr std::string_view kSpecial[] = {"<|tool_call|>", "<|/tool_call|>"};
constexpr Prose kProse{.reasoning = kReasoning,
                       .answer = kAnswer,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .tail = kTail,
                       .special = kSpecial};
constexpr CallKeys kKeys{};
constexpr std::string_view kModels[] = {"*granite-3*", "*granite3*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(kProse, make_marked_json(kProse, kKeys, options), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{.name = "granite",
                                 .spec = R"(<|tool_call|>[{"name": "f", "arguments": {...}}])",
                                 .models = kModels,
                                 .make = make};

}  // namespace callgate::dialect::granite
