// Mistral from tokenizer v11 on: the name, perhaps an id, then the arguments.
//
//   [TOOL_CALLS]get_weather[CALL_ID]a1b2c3d4e[ARGS]{"city": "Paris"}[TOOL_CALLS]get_time[ARGS]{}
#include "dialect/family/choice_reader.h"
#include "dialect/family/marked_json.h"
#include "dialect/family/named_json.h"

namespace callgate::dialect::mistral_v13 {
namespace {

constexpr Envelope kReasoning[] = {{"[THINK]", "[/THINK]"}, {"<think>", "</think>"}};
constexpr std::string_view kId[] = {"id"};
constexpr Field kFields[] = {{"[CALL_ID]", Slot::id}, {"[ARGS]", Slot::arguments}};
constexpr NamedJson kNamed{.first = Slot::name, .fields = kFields};
constexpr Opener kOpen[] = {{"[TOOL_CALLS]"}};
constexpr std::string_view kClose[] = {"[/TOOL_CALLS]"};
constexpr std::string_view kTail[] = {"</s>"};
constexpr std::string_view kSpecial[] = {"[TOOL_CALLS]", "[/TOOL_CALLS]"};
constexpr Prose kProse{.reasoning = kReasoning,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .tail = kTail,
                       .special = kSpecial};
constexpr CallKeys kKeys{.id = kId};
constexpr std::string_view kModels[] = {"*mistral-small*", "*devstral*", "*ministral*",
                                        "*magistral*", "*mistral-medium*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  std::vector<Alternative> shapes;
  shapes.push_back({"[{", make_marked_json(kProse, kKeys, options)});
  shapes.push_back({"", make_named_json(kProse, kNamed, options)});
  return make_turn_parser(kProse, make_choice(kProse, std::move(shapes)), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "mistral_v13", .spec = R"([TOOL_CALLS]f[ARGS]{...})", .models = kModels, .make = make};

}  // namespace callgate::dialect::mistral_v13
