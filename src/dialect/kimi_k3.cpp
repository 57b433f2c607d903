// Kimi K3 (XTML). Each value says its type:
//
//   <|open|>tools<|sep|><|open|>call tool="get_weather" index="1"<|sep|>
//   <|open|>argument key="city" type="string"<|sep|>Paris<|close|>argument<|sep|>
//   <|close|>call<|sep|><|close|>tools<|sep|>
#include "dialect/tagged_arguments.h"

namespace callgate::dialect {
namespace {

constexpr Envelope kReasoning[] = {{"<|open|>think<|sep|>", "<|close|>think<|sep|>"}};
constexpr Envelope kAnswer[] = {{"<|open|>response<|sep|>", "<|close|>response<|sep|>"}};
constexpr std::string_view kSection[] = {"<|open|>tools<|sep|>"};
constexpr std::string_view kSectionClose[] = {"<|close|>tools<|sep|>"};
constexpr std::string_view kTail[] = {"<|end|>", "<|im_end|>"};
constexpr Opener kOpen[] = {{"<|open|>tools<|sep|>"}, {"<|open|>call"}};
constexpr Prose kProse{.reasoning = kReasoning,
                       .answer = kAnswer,
                       .call_open = kOpen,
                       .call_close = kSectionClose,
                       .tail = kTail};
constexpr TaggedGrammar kGrammar[] = {{.lead = kSection,
                                       .call = {.open = "<|open|>call",
                                                .style = NameTag::Style::attribute,
                                                .end = "<|sep|>",
                                                .key = "tool"},
                                       .call_close = "<|close|>call<|sep|>",
                                       .parameter = {.open = "<|open|>argument",
                                                     .style = NameTag::Style::attribute,
                                                     .end = "<|sep|>",
                                                     .key = "key"},
                                       .value_close = "<|close|>argument<|sep|>",
                                       .type_attribute = "type",
                                       .section_close = kSectionClose,
                                       .tail = kTail}};
constexpr std::string_view kModels[] = {"*kimi-k3*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_tagged_parser(kProse, kGrammar, options);
}

}  // namespace

extern const Dialect kimi_k3;
constinit const Dialect kimi_k3{
    .name = "kimi_k3",
    .spec = R"(<|open|>tools<|sep|><|open|>call tool="f" index="1"<|sep|>)"
            R"(<|open|>argument key="k" type="string"<|sep|>v<|close|>argument<|sep|>)"
            "<|close|>call<|sep|><|close|>tools<|sep|>",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect
