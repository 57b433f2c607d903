// IBM Granite-20B-FunctionCalling: an object behind a token, repeated, no closer.
//
//   <function_call> {"name": "get_weather", "arguments": {"city": "Paris"}}
#include "dialect/family/marked_json.h"

namespace callgate::dialect::granite20b_fc {
namespace {

constexpr Opener kOpen[] = {{"<function_call>"}};
constexpr std::string_view kClose[] = {"</function_call>"};
constexpr std::string_view kTail[] = {"<|endoftext|>"};
constexpr Prose kProse{.reasoning = kThink,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .tail = kTail,
                       .empty_block = Prose::EmptyBlock::structure};
constexpr CallKeys kKeys{};
constexpr std::string_view kModels[] = {"*granite-20b-functioncalling*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(kProse, make_marked_json(kProse, kKeys, options), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{.name = "granite20b_fc",
                                 .spec = R"(<function_call> {"name": "f", "arguments": {...}})",
                                 .models = kModels,
                                 .make = make};

}  // namespace callgate::dialect::granite20b_fc
