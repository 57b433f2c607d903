// Salesforce xLAM: a list, bare, in a code fence, or behind the markers of others.
//
//   [{"name": "get_weather", "arguments": {"city": "Paris"}}]
#include "dialect/family/marked_json.h"

namespace callgate::dialect::xlam {
namespace {

constexpr Opener kOpen[] = {
    {"[", Opener::Where::anywhere, Opener::Names::declared, Opener::InCode::text},
    {"{", Opener::Where::first, Opener::Names::declared},
    {"```json", Opener::Where::anywhere, Opener::Names::declared, Opener::InCode::text},
    {"[TOOL_CALLS]"},
    {"<tool_call>"}};
constexpr std::string_view kClose[] = {"</tool_call>", "[/TOOL_CALLS]"};
constexpr std::string_view kTail[] = {"<|im_end|>", "<|eot_id|>", "</s>"};
constexpr Prose kProse{
    .reasoning = kThink, .call_open = kOpen, .call_close = kClose, .tail = kTail};
constexpr CallKeys kKeys{};
constexpr std::string_view kModels[] = {"*xlam*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(kProse, make_marked_json(kProse, kKeys, options), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{.name = "xlam",
                                 .spec = R"([{"name": "f", "arguments": {...}}])",
                                 .models = kModels,
                                 .make = make};

}  // namespace callgate::dialect::xlam
