// LFM2, and LFM2.5 which also writes JSON:
//
//   <|tool_call_start|>[get_weather(city="Paris")]<|tool_call_end|>
//   <|tool_call_start|>[{"name": "get_weather", "arguments": {"city": "Paris"}}]<|tool_call_end|>
//
// Without its markers a list at the start of a line opens a call before the name of a declared tool.
#include "dialect/family/either_calls.h"
#include "dialect/family/marked_json.h"
#include "dialect/family/python_calls.h"

namespace callgate::dialect::lfm2 {
namespace {

constexpr Opener kOpen[] = {{"<|tool_call_start|>"},
                            {"[", Opener::Where::line, Opener::Names::declared}};
constexpr std::string_view kClose[] = {"<|tool_call_end|>"};
constexpr std::string_view kTail[] = {"<|im_end|>", "<|endoftext|>"};
constexpr std::string_view kSpecial[] = {"<|tool_call_start|>", "<|tool_call_end|>"};
constexpr Prose kProse{.reasoning = kThink,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .tail = kTail,
                       .special = kSpecial};
constexpr CallKeys kKeys{};
constexpr std::string_view kModels[] = {"*lfm2*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(
      kProse,
      std::make_unique<EitherCalls>(make_marked_json(kProse, kKeys, options),
                                    std::make_unique<PythonCalls>(kOpen, options)),
      options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{.name = "lfm2",
                                 .spec = R"(<|tool_call_start|>[f(k="v")]<|tool_call_end|>)",
                                 .models = kModels,
                                 .make = make};

}  // namespace callgate::dialect::lfm2
