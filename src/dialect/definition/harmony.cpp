// gpt-oss: messages with channels and recipients. The prompt ends with `<|start|>assistant`.
//
//   <|channel|>analysis<|message|>Need weather.<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather
//   <|constrain|>json<|message|>{"city":"Paris"}<|call|>
#include "dialect/family/channels.h"

namespace callgate::dialect::harmony {
namespace {

constexpr std::string_view kModels[] = {"*gpt-oss*", "*gpt_oss*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return std::make_unique<ChannelParser>(options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "harmony",
    .spec = "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{...}<|call|>",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::harmony
