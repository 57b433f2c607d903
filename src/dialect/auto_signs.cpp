#include "dialect/auto_signs.h"

#include <algorithm>
#include <iterator>

namespace callgate::dialect {
namespace {

using SignKind = Sign::Kind;
using Look = Sign::Look;

constexpr Sign kSigns[] = {
    {"<", "generic_xml", SignKind::text, Look::tag},
    {"<tool_call>", {}, SignKind::text, Look::tool_call, true},
    {"<tool_calls>", {}, SignKind::text, Look::tool_calls, true},
    {"<function_calls>", {}, SignKind::text, Look::invokes, true},
    {"[", {}, SignKind::text, Look::list},
    {"{", "llama3_json"},
    {"```json", "xlam", SignKind::first},
    {"<function=", "qwen3_coder"},
    {"<function name=", "minicpm5"},
    {"<invoke name=", "anthropic_xml"},
    {"<antml:function_calls>", "anthropic_xml"},
    {"<antml:invoke name=", "anthropic_xml"},
    {"<function_call>", "granite20b_fc", SignKind::text, Look::none, true},
    {"functools[", "phi4_mini"},
    {"<TOOLCALL>", "nemotron_deci", SignKind::text, Look::none, true},
    {"<longcat_tool_call>", "longcat", SignKind::text, Look::none, true},
    {"<dots_function_call>", "dots", SignKind::text, Look::none, true},
    {"<seed:tool_call>", "seed_oss", SignKind::text, Look::none, true},
    {"<minimax:tool_call>", "minimax_m2", SignKind::text, Look::none, true},
    {"<steptml:invoke", "step3"},
    {"<use_tool", "use_tool"},
    {"<|tool_call|>", "granite", SignKind::token},
    {"<|python_tag|>", "llama3_json", SignKind::token},
    {"<|python_start|>", "pythonic", SignKind::token},
    {"[TOOL_CALLS]", "mistral_v13", SignKind::token},
    {"<|tool_calls_section_begin|>", "kimi_k2", SignKind::token},
    {"<|tool_call_section_begin|>", "kimi_k2", SignKind::token},
    {"<|tool_call_begin|>", "kimi_k2", SignKind::token},
    {"<｜tool▁calls▁begin｜>", "deepseek_v31", SignKind::token},
    {"<｜tool▁call▁begin｜>", "deepseek_v31", SignKind::token},
    {"<|tool▁calls▁begin|>", "deepseek_v31", SignKind::token},
    {"<|tool▁call▁begin|>", "deepseek_v31", SignKind::token},
    {"<|tool_calls_begin|>", "deepseek_v31", SignKind::token},
    {"<｜DSML｜", "deepseek_v4", SignKind::token},
    {"<|DSML|", "deepseek_v4", SignKind::token},
    {"<‖DSML‖", "deepseek_v4", SignKind::token},
    {"<｜｜DSML｜｜", "deepseek_v4", SignKind::token},
    {"<|action_start|>", "internlm2", SignKind::token},
    {"<|START_ACTION|>", "cohere_command_r7b", SignKind::token},
    {"<|tools_prefix|>", "apertus", SignKind::token},
    {"<|function_call|>", "gigachat3", SignKind::token},
    {"function call<|role_sep|>", "gigachat3", SignKind::token},
    {"<|tool_call:begin|>", "solar_open", SignKind::token},
    {"<|tool_calls|>", {}, SignKind::token, Look::token_list},
    {"<tool_calls:opensource>", "hunyuan", SignKind::token},
    {"<tool_call:opensource>", "hunyuan", SignKind::token},
    {"]<]minimax[>[", "minimax_m3", SignKind::token},
    {"<｜tool_calls_begin｜>", "step3", SignKind::token},
    {"<｜tool_call_begin｜>", "step3", SignKind::token},
    {"<|tool_call>", "gemma4", SignKind::token},
    {"<start_function_call>", "functiongemma", SignKind::token},
    {"<|tool_call_start|>", "lfm2", SignKind::token},
    {"[THINK]", "mistral_v13", SignKind::turn},
    {"◁think▷", "kimi_k2", SignKind::turn},
    {"<longcat_think>", "longcat", SignKind::turn},
    {"<|START_THINKING|>", "cohere_command_r7b", SignKind::turn},
    {"<|START_RESPONSE|>", "cohere_command_r7b", SignKind::turn},
    {"<|START_TEXT|>", "cohere_command_r7b", SignKind::turn},
    {"<|inner_prefix|>", "apertus", SignKind::turn},
    {"<|message_sep|>", "gigachat3", SignKind::turn},
    {"<|think|>", "solar_open", SignKind::turn},
    {"<|begin|>assistant", "solar_open", SignKind::turn},
    {"<|channel|>", "harmony", SignKind::turn},
    {"<|start|>assistant", "harmony", SignKind::turn},
    {"<|start|>assistant to=functions.", "harmony", SignKind::turn},
    {"<|start|>assistant to=", "muse_glimmer", SignKind::turn},
    {"<|message_model|>", "inkling", SignKind::turn},
    {"<|content_thinking|>", "inkling", SignKind::turn},
    {"<|content_text|>", "inkling", SignKind::turn},
    {"<|content_invoke_tool_json|>", "inkling", SignKind::turn},
    {"<think:opensource>", "hunyuan", SignKind::turn},
    {"<seed:think>", "seed_oss", SignKind::turn},
    {"<mm:think>", "minimax_m3", SignKind::turn},
    {"<|open|>", "kimi_k3", SignKind::turn},
    {"<|channel>", "gemma4", SignKind::turn},
};

constexpr Envelope kReasoningSigns[] = {
    {"<think>", "</think>"},  {"", "</seed:think>"},
    {"", "</mm:think>"},      {"", "[/THINK]"},
    {"", "<|END_THINKING|>"}, {"", "<channel|>"},
    {"", "<|inner_suffix|>"}, {"", "<|close|>think<|sep|>"},
    {"", "◁/think▷"},         {"", "[BEGIN FINAL RESPONSE]"},
};

constexpr std::string_view kSectionEnds[] = {
    "</tool_call>",          "</tool_calls>",     "</function_calls>",
    "</function_call>",      "</TOOLCALL>",       "</longcat_tool_call>",
    "</dots_function_call>", "</seed:tool_call>", "</minimax:tool_call>"};

constexpr std::string_view kTails[] = {"<|im_end|>",           "<|eot_id|>",        "<|eom_id|>",
                                       "<|endoftext|>",        "<|end_of_text|>",   "</s>",
                                       "<|endofresponse|>",    "<|assistant_end|>", "<|end|>",
                                       "<｜end▁of▁sentence｜>"};

}  // namespace

std::span<const Sign> auto_signs() { return kSigns; }
std::span<const std::string_view> auto_section_ends() { return kSectionEnds; }
std::span<const Envelope> auto_reasoning() { return kReasoningSigns; }
std::span<const std::string_view> auto_tails() { return kTails; }

WatchList::WatchList(std::vector<OwnSigns> added) : set(texts(added)) {}

const Dialect& WatchList::dialect(std::string_view name) const {
  for (const Dialect* each : own) {
    if (each->name == name) return *each;
  }
  return *find(name);
}

bool WatchList::calls_in_text(std::string_view dialect) const {
  return std::any_of(signs.begin(), signs.end(), [&](const Sign& sign) {
    return sign.dialect == dialect && sign.kind == SignKind::text;
  });
}

std::vector<std::string_view> WatchList::texts(const std::vector<OwnSigns>& added) {
  std::vector<std::string_view> all;
  const auto add = [&](std::string_view text, Watched::Role role, std::size_t index) {
    if (text.empty() || std::find(all.begin(), all.end(), text) != all.end()) return;
    all.push_back(text);
    watched.push_back({role, index});
  };
  for (const OwnSigns& each : added) {
    own.push_back(each.dialect);
    signs.insert(signs.end(), each.signs.begin(), each.signs.end());
  }
  signs.insert(signs.end(), std::begin(kSigns), std::end(kSigns));
  for (std::size_t i = 0; i < signs.size(); ++i) add(signs[i].text, Watched::Role::sign, i);
  for (std::size_t i = 0; i < auto_section_ends().size(); ++i) {
    add(auto_section_ends()[i], Watched::Role::section_end, i);
  }
  for (std::size_t i = 0; i < auto_reasoning().size(); ++i) {
    add(auto_reasoning()[i].open, Watched::Role::reasoning_open, i);
    add(auto_reasoning()[i].close, Watched::Role::reasoning_close, i);
  }
  for (std::size_t i = 0; i < auto_tails().size(); ++i) {
    add(auto_tails()[i], Watched::Role::tail, i);
  }
  // What only the prompt opens is closed by any closer but the first.
  for (const OwnSigns& each : added) {
    for (const Envelope& envelope : each.reasoning) {
      add(envelope.close, Watched::Role::reasoning_close, auto_reasoning().size());
    }
    for (const std::string_view tail : each.tails) add(tail, Watched::Role::tail, 0);
  }
  return all;
}

const WatchList& watch_list() {
  thread_local const WatchList list;
  return list;
}

}  // namespace callgate::dialect
