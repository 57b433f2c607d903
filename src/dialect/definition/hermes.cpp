// Hermes 2 and 3, Qwen2.5, Qwen3, QwQ, SmolLM3 and many others:
//
//   <tool_call>
//   {"name": "get_weather", "arguments": {"city": "Paris"}}
//   </tool_call>
//
// Qwen3 sometimes writes the tagged form of Qwen3-Coder between the same tags.
#include "dialect/family/choice_reader.h"
#include "dialect/family/marked_json.h"
#include "dialect/family/tagged_arguments.h"

namespace callgate::dialect::hermes {
namespace {

constexpr Opener kOpen[] = {{"<tool_call>"}};
constexpr std::string_view kLead[] = {"<tool_call>"};
constexpr std::string_view kClose[] = {"</tool_call>"};
constexpr std::string_view kTail[] = {"<|im_end|>", "<|endoftext|>"};
constexpr Prose kProse{
    .reasoning = kThink, .call_open = kOpen, .call_close = kClose, .tail = kTail};
constexpr CallKeys kKeys{};
constexpr TaggedGrammar kTagged[] = {{.lead = kLead,
                                      .call = {.open = "<function="},
                                      .call_close = "</function>",
                                      .parameter = {.open = "<parameter="},
                                      .value_close = "</parameter>",
                                      .value_newline = "\n",
                                      .section_close = kClose,
                                      .tail = kTail}};
constexpr std::string_view kModels[] = {
    "*hermes*",   "*hermes*llama-3*", "*hermes*llama3*", "*hermes*mistral*", "*hermes*mixtral*",
    "*qwen2.5*",  "*qwen3*",          "*qwq*",           "*bielik*",         "*smollm3*",
    "*mimo-vl*",  "*mimo-7b*",        "*trinity-*",      "*reka-edge*",      "*exaone-4*",
    "*ling-2.5*", "*ling-2.6*",       "*ring-2.5*",      "*step3-vl*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  std::vector<Alternative> shapes;
  shapes.push_back({"{[", make_marked_json(kProse, kKeys, options)});
  shapes.push_back({"<", std::make_unique<TaggedCalls>(kTagged, kOpen, options)});
  return make_turn_parser(kProse, make_choice(kProse, std::move(shapes)), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "hermes",
    .spec = R"(<tool_call>{"name": "f", "arguments": {...}}</tool_call>)",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::hermes
