// Mistral up to tokenizer v7: an array with ids.
//
//   [TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Paris"}, "id": "a1b2c3d4e"}]
#include "dialect/family/choice_reader.h"
#include "dialect/family/marked_json.h"
#include "dialect/family/named_json.h"

namespace callgate::dialect::mistral_old {
namespace {

constexpr Envelope kReasoning[] = {{"[THINK]", "[/THINK]"}, {"<think>", "</think>"}};
constexpr std::string_view kId[] = {"id"};
constexpr Field kFields[] = {{"[CALL_ID]", Slot::id}, {"[ARGS]", Slot::arguments}};
constexpr NamedJson kNamed{.first = Slot::name, .fields = kFields};
constexpr Opener kOpen[] = {{"[TOOL_CALLS]"}, {"[", Opener::Where::first, Opener::Names::declared}};
constexpr std::string_view kClose[] = {"[/TOOL_CALLS]"};
constexpr std::string_view kTail[] = {"</s>"};
constexpr std::string_view kSpecial[] = {"[TOOL_CALLS]", "[/TOOL_CALLS]"};
constexpr Prose kProse{.reasoning = kReasoning,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .tail = kTail,
                       .special = kSpecial};
constexpr CallKeys kKeys{.id = kId};
constexpr std::string_view kModels[] = {"*mistral-7b*", "*mixtral*", "*mistral-nemo*",
                                        "*mistral-large*", "*mistral-small-3.1*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  std::vector<Alternative> shapes;
  shapes.push_back({"[{", make_marked_json(kProse, kKeys, options)});
  shapes.push_back({"", make_named_json(kProse, kNamed, options)});
  return make_turn_parser(kProse, make_choice(kProse, std::move(shapes)), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "mistral_old",
    .spec = R"([TOOL_CALLS] [{"name": "f", "arguments": {...}, "id": "a1b2c3d4e"}])",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::mistral_old
