// Llama 3.1 to 3.3 with JSON calls: bare objects, parallel ones behind a semicolon. A brace opens a call only when a declared
// tool is named; other JSON is the answer. Built-in tools are called as Python does.
//
//   <|python_tag|>{"name": "get_weather", "parameters": {"city": "Paris"}}; {"name": "get_time", "parameters": {}}<|eom_id|>
#include "dialect/family/choice_reader.h"
#include "dialect/family/marked_json.h"
#include "dialect/family/python_calls.h"

namespace callgate::dialect::llama3_json {
namespace {

constexpr Opener kOpen[] = {
    {"<|python_tag|>"},
    {"{", Opener::Where::anywhere, Opener::Names::declared, Opener::InCode::text},
    {"[", Opener::Where::first, Opener::Names::declared}};
constexpr Opener kBuiltIn[] = {
    {"<|python_tag|>", Opener::Where::anywhere, Opener::Names::declared}};
constexpr std::string_view kTail[] = {"<|eom_id|>", "<|eot_id|>", "<|end_of_text|>", "<|eom|>",
                                      "<|eot|>"};
constexpr Prose kProse{.reasoning = kThink, .call_open = kOpen, .tail = kTail};
constexpr CallKeys kKeys{};
constexpr std::string_view kModels[] = {"*llama-3*", "*llama3*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  std::vector<Alternative> shapes;
  shapes.push_back({"{[", make_marked_json(kProse, kKeys, options)});
  shapes.push_back({"", std::make_unique<PythonCalls>(kBuiltIn, options)});
  return make_turn_parser(kProse, make_choice(kProse, std::move(shapes)), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{.name = "llama3_json",
                                 .spec = R"({"name": "f", "parameters": {...}}; {...})",
                                 .models = kModels,
                                 .make = make};

}  // namespace callgate::dialect::llama3_json
