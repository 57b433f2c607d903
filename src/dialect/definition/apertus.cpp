// Apertus: the name is the key.
//
//   <|inner_prefix|>Look it up.<|inner_suffix|><|tools_prefix|>[{"get_weather": {"city": "Paris"}}, {"get_time": {}}]<|tools_suffix|>
#include "dialect/family/marked_json.h"

namespace callgate::dialect::apertus {
namespace {

constexpr Envelope kReasoning[] = {{"<|inner_prefix|>", "<|inner_suffix|>"},
                                   {"<think>", "</think>"}};
constexpr Opener kOpen[] = {{"<|tools_prefix|>"}};
constexpr std::string_view kClose[] = {"<|tools_suffix|>"};
constexpr std::string_view kTail[] = {"<|assistant_end|>"};
constexpr std::string_view kSpecial[] = {"<|tools_prefix|>", "<|tools_suffix|>"};
constexpr Prose kProse{.reasoning = kReasoning,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .tail = kTail,
                       .special = kSpecial};
constexpr CallKeys kKeys{.shape = CallKeys::Shape::name_is_key};
constexpr std::string_view kModels[] = {"*apertus*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(kProse, make_marked_json(kProse, kKeys, options), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{.name = "apertus",
                                 .spec = R"(<|tools_prefix|>[{"f": {...}}]<|tools_suffix|>)",
                                 .models = kModels,
                                 .make = make};

}  // namespace callgate::dialect::apertus
