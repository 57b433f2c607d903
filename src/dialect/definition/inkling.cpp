// Thinking Machines Inkling: messages of typed content. The prompt ends with `<|message_model|>`.
//
//   <|content_thinking|>Need weather.<|end_message|><|message_model|>get_weather<|content_invoke_tool_json|>
//   {"name":"get_weather","args":{"city":"Paris"}}<|end_message|><|content_model_end_sampling|>
#include "dialect/family/content_blocks.h"

namespace callgate::dialect::inkling {
namespace {

constexpr std::string_view kModels[] = {"*inkling*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return std::make_unique<ContentBlocks>(options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "inkling",
    .spec = R"(<|message_model|>f<|content_invoke_tool_json|>{"name":"f","args":{...}})"
            "<|end_message|>",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::inkling
