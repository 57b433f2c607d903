// Kimi K2, K2-Thinking, K2.5: the id holds the name. Its index counts over the whole conversation, so the id goes back as it
// came. A call ends reasoning, because the model forgets to.
//
//   <|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Paris"}
//   <|tool_call_end|><|tool_calls_section_end|>
//
// Servers that drop some of the special tokens leave `get_weather:0<|tool_call_argument_begin|>{...}`: at the start of a line, the
// name of a declared tool opens a call.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "dialect/family/named_json.h"

namespace callgate::dialect::kimi_k2 {
namespace {

constexpr Envelope kReasoning[] = {{"<think>", "</think>"}, {"◁think▷", "◁/think▷"}};
constexpr std::string_view kSectionOpen[] = {"<|tool_calls_section_begin|>",
                                             "<|tool_call_section_begin|>"};
constexpr std::string_view kSectionClose[] = {"<|tool_calls_section_end|>",
                                              "<|tool_call_section_end|>"};
constexpr Field kFields[] = {{"<|tool_call_argument_begin|>", Slot::arguments}};
constexpr Opener kOpen[] = {{"<|tool_call_begin|>"}};
constexpr std::string_view kClose[] = {"<|tool_call_end|>"};
constexpr std::string_view kTail[] = {"<|im_end|>"};
constexpr std::string_view kSpecial[] = {
    "<|tool_calls_section_begin|>", "<|tool_call_section_begin|>", "<|tool_calls_section_end|>",
    "<|tool_call_section_end|>",    "<|tool_call_begin|>",         "<|tool_call_end|>",
    "<|tool_call_argument_begin|>"};
constexpr std::string_view kMarkup[] = {"<|tool_call_argument_begin|>{"};
constexpr Prose kProse{.reasoning = kReasoning,
                       .section_open = kSectionOpen,
                       .call_open = kOpen,
                       .call_close = kClose,
                       .section_close = kSectionClose,
                       .tail = kTail,
                       .special = kSpecial,
                       .markup = kMarkup,
                       .after_call = Prose::AfterCall::text};
constexpr NamedJson kGrammar{.first = Slot::kimi_id, .fields = kFields};
constexpr std::string_view kModels[] = {"*kimi-k2*", "*kimi_k2*", "*kimi-dev*", "*kimi-vl*"};

// The openers of a request: that of the grammar, and for each tool its name with a colon.
struct ToolProse {
  static constexpr std::string_view kPrefix = "functions.";
  static constexpr std::size_t kMaxOpeners = 16384;  // bytes; no set of markers is larger

  explicit ToolProse(std::span<const ToolSpec> tools) {
    names.reserve(tools.size());
    for (const ToolSpec& tool : tools) names.push_back(tool.name);
    texts.reserve(2 * tools.size());
    openers.assign(std::begin(kOpen), std::end(kOpen));
    std::size_t size = 0;
    for (const ToolSpec& tool : tools) {
      size += 2 * (tool.name.size() + kPrefix.size());
      if (tool.name.empty() || size > kMaxOpeners) continue;
      for (const std::string_view prefix : {kPrefix, std::string_view()}) {
        const std::string text = std::string(prefix) + tool.name + ":";
        if (std::find(texts.begin(), texts.end(), text) != texts.end()) continue;
        texts.push_back(text);
        openers.push_back({texts.back(), Opener::Where::line, Opener::Names::declared});
      }
    }
    prose.call_open = openers;
  }

  bool is_of(std::span<const ToolSpec> tools) const {
    return std::equal(
        tools.begin(), tools.end(), names.begin(), names.end(),
        [](const ToolSpec& tool, const std::string& name) { return tool.name == name; });
  }

  std::vector<std::string> names;
  std::vector<std::string> texts;
  std::vector<Opener> openers;
  Prose prose = kProse;
};

std::unique_ptr<DialectParser> make(const DialectOptions& options) {
  if (options.tools.empty()) {
    return make_turn_parser(kProse, make_named_json(kProse, kGrammar, options), options);
  }
  // That of the last request on this thread, if it has the same tools.
  thread_local std::shared_ptr<const ToolProse> own;
  if (own == nullptr || !own->is_of(options.tools)) {
    own = std::make_shared<const ToolProse>(options.tools);
  }
  std::shared_ptr<const Prose> prose(own, &own->prose);
  auto reader = make_named_json(*prose, kGrammar, options);
  return make_turn_parser(std::move(prose), std::move(reader), options);
}

}  // namespace

extern const Dialect kDialect;
constinit const Dialect kDialect{
    .name = "kimi_k2",
    .spec = R"(<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{...}<|tool_call_end|>)",
    .models = kModels,
    .make = make};

}  // namespace callgate::dialect::kimi_k2
