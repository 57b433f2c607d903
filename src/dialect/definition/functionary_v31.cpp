// Functionary 3.1: the name in the tag, then the arguments.
//
//   <function=get_weather>{"city": "Paris"}</function>
#include "dialect/family/named_json.h"

namespace callgate::dialect::functionary_v31 {
namespace {

constexpr Field kFields[] = {{">", Slot::arguments}};
constexpr Opener kOpen[] = {{"<function="}};
constexpr std::string_view kClose[] = {"</function>"};
constexpr std::string_view kTail[] = {"<|eom_id|>", "<|eot_id|>"};
constexpr Prose kProse{
    .reasoning = kThink, .call_open = kOpen, .call_close = kClose, .tail = kTail};
constexpr NamedJson kGrammar{.first = Slot::name, .fields = kFields};
constexpr std::string_view kModels[] = {"*functionary*v3.1*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(kProse, make_named_json(kProse, kGrammar, options), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{.name = "functionary_v31",
                                 .spec = R"(<function=f>{...}</function>)",
                                 .models = kModels,
                                 .make = make};

}  // namespace callgate::dialect::functionary_v31
