#include "dialect/reference/tagged.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "dialect/reference/tagged_call.h"
#include "dialect/reference/tagged_turn.h"

namespace callgate::dialect::reference::tagged {
namespace {

struct Spelling {
  std::string opener;
  const Markers* markers;
};

// The markers of a call are those of the longest opener that stands there.
bool read(const ReferenceCase& turn, TurnGrammar grammar, const std::vector<Spelling>& spellings,
          EventLog& log) {
  for (const Spelling& spelling : spellings) {
    const Markers& markers = *spelling.markers;
    grammar.openers.push_back(spelling.opener);
    grammar.tails = markers.tails;
    grammar.closers.insert(grammar.closers.end(), markers.section_closes.begin(),
                           markers.section_closes.end());
  }
  const auto read_call = [&](std::size_t at) {
    const std::string opener = longest_at(turn.text, at, grammar.openers);
    const auto spelling = std::find_if(spellings.begin(), spellings.end(),
                                       [&](const Spelling& each) { return each.opener == opener; });
    return read_tagged_call(turn, *spelling->markers, at);
  };
  return read_turn(turn, grammar, read_call, log);
}

Tag equals(std::string open) { return {.open = std::move(open)}; }
Tag attribute(std::string open) {
  return {.open = std::move(open), .style = Tag::Style::attribute};
}

Markers invokes(const std::string& prefix, Texts leads, Texts closes, Texts tails) {
  return {.leads = std::move(leads),
          .call = attribute("<" + prefix + "invoke"),
          .call_close = "</" + prefix + "invoke>",
          .parameter = attribute("<" + prefix + "parameter"),
          .value_close = "</" + prefix + "parameter>",
          .section_closes = std::move(closes),
          .tails = std::move(tails)};
}

bool read_qwen3_coder(const ReferenceCase& turn, EventLog& log) {
  const Markers markers{.leads = {"<tool_call>"},
                        .call = equals("<function="),
                        .call_close = "</function>",
                        .parameter = equals("<parameter="),
                        .value_close = "</parameter>",
                        .section_closes = {"</tool_call>"},
                        .tails = {"<|im_end|>", "<|endoftext|>"},
                        .newlines = true};
  return read(turn, {.call_ends_reasoning = true},
              {{"<tool_call>", &markers}, {"<function=", &markers}}, log);
}

bool read_seed_oss(const ReferenceCase& turn, EventLog& log) {
  const Markers markers{.leads = {"<seed:tool_call>"},
                        .call = equals("<function="),
                        .call_close = "</function>",
                        .parameter = equals("<parameter="),
                        .value_close = "</parameter>",
                        .section_closes = {"</seed:tool_call>"},
                        .tails = {"<seed:eos>"}};
  return read(turn, {.think_open = "<seed:think>", .think_close = "</seed:think>"},
              {{"<seed:tool_call>", &markers}, {"<function=", &markers}}, log);
}

bool read_glm(const ReferenceCase& turn, EventLog& log) {
  const Markers markers{
      .call = {.open = "<tool_call>", .style = Tag::Style::bare},
      .call_close = "</tool_call>",
      .parameter = {.open = "<arg_key>", .style = Tag::Style::text, .end = "</arg_key>"},
      .value_open = "<arg_value>",
      .value_close = "</arg_value>",
      .tails = {"<|observation|>", "<|user|>", "<|endoftext|>"}};
  if (may_hold_bare_json(turn.text)) return false;
  return read(turn, {.closers = {"</tool_call>"}, .empty_blocks = true},
              {{"<tool_call>", &markers}}, log);
}

bool read_hunyuan(const ReferenceCase& turn, EventLog& log) {
  // The suffixed markers are the same with other names.
  if (turn.text.find(":opensource") != std::string_view::npos) return false;
  const Markers markers{
      .leads = {"<tool_calls>"},
      .call = {.open = "<tool_call>", .style = Tag::Style::bare},
      .call_close = "</tool_call>",
      .parameter = {.open = "<arg_key>", .style = Tag::Style::text, .end = "</arg_key>"},
      .value_open = "<arg_value>",
      .value_close = "</arg_value>",
      .fillers = {"<tool_sep>"},
      .section_closes = {"</tool_calls>"},
      .tails = {"<|eos|>", "<|endoftext|>"}};
  return read(turn, {.closers = {"</tool_call>"}, .empty_blocks = true},
              {{"<tool_calls>", &markers}, {"<tool_call>", &markers}}, log);
}

bool read_dsml(const ReferenceCase& turn, EventLog& log) {
  const std::string_view bars[] = {"｜DSML｜", "｜DSML｜ ", "‖DSML‖", "｜｜DSML｜｜", "|DSML|"};
  TurnGrammar grammar{.call_ends_reasoning = true, .special = true};
  std::vector<Markers> all;
  for (const std::string_view spelled : bars) {
    Texts opens;
    Texts closes;
    for (const std::string_view block : {"function_calls>", "tool_calls>", "calls>"}) {
      opens.push_back(std::string("<").append(spelled).append(block));
      closes.push_back(std::string("</").append(spelled).append(block));
    }
    all.push_back(invokes(std::string(spelled), opens, closes, {"<｜end▁of▁sentence｜>"}));
    all.back().type_key = "string";
    for (const std::string_view tag : {"invoke>", "parameter>"}) {
      grammar.strays.push_back(std::string("</").append(spelled).append(tag));
    }
  }
  std::vector<Spelling> spellings;
  for (std::size_t i = 0; i < all.size(); ++i) {
    spellings.push_back({std::string("<").append(bars[i]), &all[i]});
  }
  return read(turn, grammar, spellings, log);
}

bool read_minimax_m2(const ReferenceCase& turn, EventLog& log) {
  const Markers markers = invokes("", {"<minimax:tool_call>"}, {"</minimax:tool_call>"}, {"[e~["});
  return read(turn, {}, {{"<minimax:tool_call>", &markers}, {"<invoke", &markers}}, log);
}

bool read_anthropic_xml(const ReferenceCase& turn, EventLog& log) {
  const std::string name = "antml:";
  const Markers plain = invokes("", {"<function_calls>"}, {"</function_calls>"}, {});
  const Markers named =
      invokes(name, {"<" + name + "function_calls>"}, {"</" + name + "function_calls>"}, {});
  return read(turn, {},
              {{"<function_calls>", &plain},
               {"<invoke", &plain},
               {"<" + name + "function_calls>", &named},
               {"<" + name + "invoke", &named}},
              log);
}

bool read_step3(const ReferenceCase& turn, EventLog& log) {
  const Markers markers = invokes(
      "steptml:", {"<｜tool_calls_begin｜>", "<｜tool_call_begin｜>", "function", "<｜tool_sep｜>"},
      {"<｜tool_call_end｜>", "<｜tool_calls_end｜>"}, {"<|EOT|>", "<｜end▁of▁sentence｜>"});
  return read(turn, {.special = true, .strays = {"<｜tool_sep｜>"}},
              {{"<｜tool_calls_begin｜>", &markers},
               {"<｜tool_call_begin｜>", &markers},
               {"<steptml:invoke", &markers}},
              log);
}

bool read_kimi_k3(const ReferenceCase& turn, EventLog& log) {
  const auto element = [](std::string open, std::string key) {
    return Tag{.open = std::move(open),
               .style = Tag::Style::attribute,
               .end = "<|sep|>",
               .key = std::move(key)};
  };
  const Markers markers{.leads = {"<|open|>tools<|sep|>"},
                        .call = element("<|open|>call", "tool"),
                        .call_close = "<|close|>call<|sep|>",
                        .parameter = element("<|open|>argument", "key"),
                        .value_close = "<|close|>argument<|sep|>",
                        .type_key = "type",
                        .fillers = {"<|open|>json type=\"object\"<|sep|>", "<|open|>json<|sep|>",
                                    "<|close|>json<|sep|>"},
                        .section_closes = {"<|close|>tools<|sep|>"},
                        .tails = {"<|end|>", "<|im_end|>"},
                        .hides_cut_tag = true};
  return read(
      turn,
      {.think_open = "<|open|>think<|sep|>",
       .think_close = "<|close|>think<|sep|>",
       .answer_open = "<|open|>response<|sep|>",
       .answer_close = "<|close|>response<|sep|>",
       .special = true,
       .strays = {"<|close|>call<|sep|>", "<|close|>argument<|sep|>", "<|close|>json<|sep|>",
                  "<|close|>call", "<|close|>tools", "<|open|>", "<|close|>", "<|sep|>"},
       .oddities = {"<|open|>think", "<|close|>think", "<|open|>response", "<|close|>response",
                    "<|open|> think <|sep|>", "<|close|> think <|sep|>",
                    "<|open|> response <|sep|>", "<|close|> response <|sep|>", "<|close|>message",
                    "<|close|> message <|sep|>", "<|end_of_msg|>"}},
      {{"<|open|>tools<|sep|>", &markers}, {"<|open|>call", &markers}}, log);
}

bool read_minicpm5(const ReferenceCase& turn, EventLog& log) {
  const Markers markers{.leads = {"<tool_call>"},
                        .call = attribute("<function"),
                        .call_close = "</function>",
                        .parameter = attribute("<param"),
                        .value_close = "</param>",
                        .fillers = {"<arguments>", "</arguments>"},
                        .section_closes = {"</tool_call>"},
                        .tails = {"<|im_end|>", "</s>"},
                        .raw_open = "<![CDATA[",
                        .raw_close = "]]>"};
  return read(turn, {}, {{"<tool_call>", &markers}, {"<function", &markers}}, log);
}

}  // namespace

// Its JSON form is another family's.
bool read_dots(const ReferenceCase& turn, EventLog& log) {
  constexpr std::string_view kOpen = "<dots_function_call>";
  for (std::size_t at = turn.text.find(kOpen); at != std::string_view::npos;
       at = turn.text.find(kOpen, at + 1)) {
    const std::size_t body = skip_space(turn.text, at + kOpen.size());
    if (body < turn.text.size() && turn.text[body] == '[') return false;
  }
  const Markers markers = invokes("", {std::string(kOpen)}, {"</dots_function_call>"},
                                  {"<|endofresponse|>", "<|endoftext|>"});
  return read(turn, {.special = true, .bare = std::string(kOpen)},
              {{std::string(kOpen), &markers}, {"<invoke", &markers}}, log);
}

namespace {

struct Row {
  std::string_view dialect;
  Reference reference;
};

constexpr Row kRows[] = {
    {"anthropic_xml", read_anthropic_xml},
    {"deepseek_v32", read_dsml},
    {"deepseek_v4", read_dsml},
    {"generic_xml", read_generic_xml},
    {"glm45", read_glm},
    {"glm47", read_glm},
    {"hunyuan", read_hunyuan},
    {"kimi_k3", read_kimi_k3},
    {"minicpm5", read_minicpm5},
    {"minimax_m2", read_minimax_m2},
    {"minimax_m3", read_minimax_m3},
    {"qwen3_coder", read_qwen3_coder},
    {"seed_oss", read_seed_oss},
    {"step3", read_step3},
    {"use_tool", read_use_tool},
};

}  // namespace

Reference find_reference(std::string_view dialect) {
  for (const Row& row : kRows) {
    if (row.dialect == dialect) return row.reference;
  }
  return nullptr;
}

}  // namespace callgate::dialect::reference::tagged
