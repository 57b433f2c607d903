// DeepSeek V3.1: the name, then the arguments.
//
//   <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Paris"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>
#include "dialect/family/named_json.h"

namespace callgate::dialect::deepseek_v31 {
namespace {

constexpr std::string_view kSectionOpen[] = {"<｜tool▁calls▁begin｜>", "<|tool▁calls▁begin|>",
                                             "<|tool_calls_begin|>", "<｜tool_calls_begin｜>"};
constexpr std::string_view kSectionClose[] = {"<｜tool▁calls▁end｜>", "<|tool▁calls▁end|>",
                                              "<|tool_calls_end|>", "<｜tool_calls_end｜>"};
constexpr Field kFields[] = {{"<｜tool▁sep｜>", Slot::name_and_fence},
                             {"<|tool▁sep|>", Slot::name_and_fence},
                             {"<|tool_sep|>", Slot::name_and_fence},
                             {"<｜tool_sep｜>", Slot::name_and_fence}};
constexpr Opener kOpen[] = {{"<｜tool▁call▁begin｜>"},
                            {"<|tool▁call▁begin|>"},
                            {"<|tool_call_begin|>"},
                            {"<｜tool_call_begin｜>"}};
constexpr std::string_view kClose[] = {"<｜tool▁call▁end｜>", "<|tool▁call▁end|>",
                                       "<|tool_call_end|>", "<｜tool_call_end｜>"};
constexpr std::string_view kTail[] = {"<｜end▁of▁sentence｜>", "<|end▁of▁sentence|>"};
constexpr std::string_view kSpecial[] = {
    "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>",  "<｜tool▁call▁begin｜>",
    "<｜tool▁call▁end｜>",    "<｜tool▁sep｜>",        "<｜tool▁output▁begin｜>",
    "<｜tool▁output▁end｜>",  "<|tool▁calls▁begin|>",  "<|tool▁calls▁end|>",
    "<|tool▁call▁begin|>",    "<|tool▁call▁end|>",     "<|tool▁sep|>",
    "<|tool▁output▁begin|>",  "<|tool▁output▁end|>",   "<|tool_calls_begin|>",
    "<|tool_calls_end|>",     "<|tool_call_begin|>",   "<|tool_call_end|>",
    "<|tool_sep|>",           "<|tool_output_begin|>", "<|tool_output_end|>",
    "<｜tool_calls_begin｜>", "<｜tool_calls_end｜>",  "<｜tool_call_begin｜>",
    "<｜tool_call_end｜>",    "<｜tool_sep｜>",        "<｜tool_output_begin｜>",
    "<｜tool_output_end｜>"};
// What a tool said, made up by the model.
constexpr Envelope kHidden[] = {{"<｜tool▁outputs▁begin｜>", "<｜tool▁outputs▁end｜>"},
                                {"<|tool▁outputs▁begin|>", "<|tool▁outputs▁end|>"},
                                {"<|tool_outputs_begin|>", "<|tool_outputs_end|>"},
                                {"<｜tool_outputs_begin｜>", "<｜tool_outputs_end｜>"}};
constexpr Prose kProse{.reasoning = kThink,
                       .section_open = kSectionOpen,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .section_close = kSectionClose,
                       .tail = kTail,
                       .special = kSpecial,
                       .hidden = kHidden};
constexpr NamedJson kGrammar{.first = Slot::kind_or_name, .fields = kFields};
constexpr std::string_view kModels[] = {"*deepseek-v3.1*", "*deepseek-chat-v3.1*"};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  return make_turn_parser(kProse, make_named_json(kProse, kGrammar, options), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "deepseek_v31",
    .spec = R"(<｜tool▁call▁begin｜>f<｜tool▁sep｜>{...}<｜tool▁call▁end｜>)",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::deepseek_v31
