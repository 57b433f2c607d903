// Kimi K3 (XTML). Each value says its type:
//
//   <|open|>tools<|sep|><|open|>call tool="get_weather" index="1"<|sep|>
//   <|open|>argument key="city" type="string"<|sep|>Paris<|close|>argument<|sep|>
//   <|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|><|end_of_msg|>
//
// Arguments that were a string in the prompt are one JSON object: <|open|>json type="object"<|sep|>{...}<|close|>json<|sep|>.
// Every `<|...|>` is a special token: one that is left over is hidden, and so is all that follows the message's end.
#include "dialect/family/tagged_arguments.h"

namespace callgate::dialect::kimi_k3 {
namespace {

// As the template writes them, with blanks around the name, and without their last token.
constexpr Envelope kReasoning[] = {{"<|open|>think<|sep|>", "<|close|>think<|sep|>"},
                                   {"<|open|> think <|sep|>", "<|close|> think <|sep|>"},
                                   {"<|open|>think", "<|close|>think"}};
constexpr Envelope kAnswer[] = {{"<|open|>response<|sep|>", "<|close|>response<|sep|>"},
                                {"<|open|> response <|sep|>", "<|close|> response <|sep|>"},
                                {"<|open|>response", "<|close|>response"}};
constexpr Envelope kHidden[] = {{"<|close|>message<|sep|>", ""},
                                {"<|close|> message <|sep|>", ""},
                                {"<|close|>message", ""},
                                {"<|end_of_msg|>", ""}};
constexpr std::string_view kSpecial[] = {"<|open|>tools<|sep|>",
                                         "<|open|>call",
                                         "<|close|>tools<|sep|>",
                                         "<|close|>tools",
                                         "<|close|>call<|sep|>",
                                         "<|close|>call",
                                         "<|close|>argument<|sep|>",
                                         "<|close|>json<|sep|>",
                                         "<|open|>",
                                         "<|close|>",
                                         "<|sep|>"};
constexpr std::string_view kJson[] = {R"(<|open|>json type="object"<|sep|>)", "<|open|>json<|sep|>",
                                      "<|close|>json<|sep|>"};
constexpr std::string_view kSection[] = {"<|open|>tools<|sep|>"};
constexpr std::string_view kSectionClose[] = {"<|close|>tools<|sep|>"};
constexpr std::string_view kTail[] = {"<|end|>", "<|im_end|>"};
constexpr std::string_view kCallTail[] = {"<|end|>", "<|im_end|>", "<|close|>message<|sep|>",
                                          "<|end_of_msg|>"};
constexpr Opener kOpen[] = {{"<|open|>tools<|sep|>"}, {"<|open|>call"}};
constexpr Prose kProse{.reasoning = kReasoning,
                       .answer = kAnswer,
                       .call_open = kOpen,
                       .call_close = kSectionClose,
                       .tail = kTail,
                       .special = kSpecial,
                       .hidden = kHidden};
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
                                       .filler = kJson,
                                       .hides_cut_tag = true,
                                       .section_close = kSectionClose,
                                       .tail = kCallTail}};
constexpr std::string_view kModels[] = {"*kimi-k3*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_tagged_parser(kProse, kGrammar, options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "kimi_k3",
    .spec = R"(<|open|>tools<|sep|><|open|>call tool="f" index="1"<|sep|>)"
            R"(<|open|>argument key="k" type="string"<|sep|>v<|close|>argument<|sep|>)"
            "<|close|>call<|sep|><|close|>tools<|sep|>",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::kimi_k3
