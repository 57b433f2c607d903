// Llama 4, ToolACE, small Llama 3.2:
//
//   [get_weather(city="Paris", days=3), get_time()]
//   <|python_start|>[get_time()]<|python_end|>
//
// A bare bracket opens a call only before the name of a declared tool. Llama 4 also writes the JSON of its predecessors:
//
//   {"name": "get_weather", "parameters": {"city": "Paris"}}
#include "dialect/family/choice_reader.h"
#include "dialect/family/either_calls.h"
#include "dialect/family/marked_json.h"
#include "dialect/family/python_calls.h"

namespace callgate::dialect::pythonic {
namespace {

constexpr Opener kOpen[] = {
    {.text = "[", .names = Opener::Names::declared, .in_code = Opener::InCode::text},
    {.text = "<|python_start|>"},
    {.text = "{", .where = Opener::Where::first, .names = Opener::Names::declared}};
constexpr std::string_view kClose[] = {"<|python_end|>"};
constexpr std::string_view kTail[] = {"<|eot|>", "<|eom|>", "<|eot_id|>", "<|eom_id|>"};
constexpr std::string_view kSpecial[] = {"<|python_start|>", "<|python_end|>"};
constexpr Prose kProse{.reasoning = kThink,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .tail = kTail,
                       .special = kSpecial};
constexpr CallKeys kKeys{};
constexpr std::string_view kModels[] = {"*llama-4*",         "*llama4*",       "*toolace*",
                                        "*toolace*llama-3*", "*llama-3.2-1b*", "*llama-3.2-3b*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  std::vector<Alternative> shapes;
  shapes.push_back({"{", make_marked_json(kProse, kKeys, options)});
  shapes.push_back(
      {"", std::make_unique<EitherCalls>(make_marked_json(kProse, kKeys, options),
                                         std::make_unique<PythonCalls>(kOpen, options))});
  return make_turn_parser(kProse, make_choice(kProse, std::move(shapes)), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "pythonic", .spec = R"([f(k="v"), g()])", .models = kModels, .make = make};

}  // namespace callgate::dialect::pythonic
