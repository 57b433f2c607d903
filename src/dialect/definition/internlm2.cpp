// InternLM 2 and 3. The interpreter's variant carries Python, not a call, and stays text.
//
//   <|action_start|><|plugin|>{"name": "get_weather", "parameters": {"city": "Paris"}}<|action_end|>
#include "dialect/family/marked_json.h"

namespace callgate::dialect::internlm2 {
namespace {

constexpr std::string_view kSectionOpen[] = {"<|action_start|>"};
constexpr std::string_view kSectionClose[] = {"<|action_end|>"};
constexpr Opener kOpen[] = {{"<|plugin|>"}};
constexpr std::string_view kTail[] = {"<|im_end|>"};
constexpr std::string_view kSpecial[] = {"<|action_start|>", "<|action_end|>", "<|plugin|>"};
constexpr Prose kProse{.reasoning = kThink,
                       .section_open = kSectionOpen,
                       .call_open = kOpen,
                       .section_close = kSectionClose,
                       .tail = kTail,
                       .special = kSpecial};
constexpr CallKeys kKeys{};
constexpr std::string_view kModels[] = {"*internlm2*", "*internlm3*", "*intern-s1*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(kProse, make_marked_json(kProse, kKeys, options), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "internlm2",
    .spec = R"(<|action_start|><|plugin|>{"name": "f", "parameters": {...}}<|action_end|>)",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::internlm2
