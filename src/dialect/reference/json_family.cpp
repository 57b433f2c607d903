// The dialects whose calls are JSON objects behind a marker.
#include "dialect/reference/family.h"
#include "dialect/reference/json_calls.h"

namespace callgate::dialect::reference {
namespace {

struct JsonFamily {
  TurnGrammar turn;
  CallShape shape = {};
};

bool read(const ReferenceCase& turn, EventLog& log, const JsonFamily& family) {
  const auto read_calls = [&](const ReferenceCase& of, const CallOpener& opener, std::size_t at) {
    const bool bracket = opener.text.ends_with('[') || opener.text.ends_with('{');
    return read_json_calls(of, opener, bracket ? at - 1 : at, family.shape);
  };
  return read_turn(turn, family.turn, read_calls, log);
}

JsonFamily tagged(std::string_view open, std::string_view close, Texts tail) {
  JsonFamily family;
  family.turn.call_open = {{open}};
  family.turn.call_close = {close};
  family.turn.tail = std::move(tail);
  family.turn.empty_blocks = true;
  return family;
}

}  // namespace

// Granite 4; hermes and ernie45 look alike.
bool granite4(const ReferenceCase& turn, EventLog& log) {
  return read(turn, log, tagged("<tool_call>", "</tool_call>", {"<|end_of_text|>"}));
}

bool hermes(const ReferenceCase& turn, EventLog& log) {
  const JsonFamily family = tagged("<tool_call>", "</tool_call>", {"<|im_end|>", "<|endoftext|>"});
  const auto read_calls = [&](const ReferenceCase& of, const CallOpener& opener, std::size_t at) {
    // The tagged form is another family's.
    if (of.text.substr(skip_space(of.text, at)).starts_with('<')) {
      return Reading{.what = Reading::What::no_opinion};
    }
    return read_json_calls(of, opener, at, family.shape);
  };
  return read_turn(turn, family.turn, read_calls, log);
}

bool ernie45(const ReferenceCase& turn, EventLog& log) {
  JsonFamily family = tagged("<tool_call>", "</tool_call>", {"</s>", "<|end_of_sentence|>"});
  family.turn.answer = {{"<response>", "</response>"}};
  return read(turn, log, family);
}

bool granite(const ReferenceCase& turn, EventLog& log) {
  JsonFamily family;
  family.turn.reasoning = {{"<think>", "</think>"},
                           {"Here is my thought process:", "Here is my response:"},
                           {"Here's my thought process:", "Here's my response:"}};
  family.turn.answer = {{"<response>", "</response>"}};
  family.turn.call_open = {
      {"<|tool_call|>"}, {"<tool_call>"}, {.text = "[", .first = true, .declared = true}};
  family.turn.call_close = {"</tool_call>", "<|/tool_call|>"};
  family.turn.tail = {"<|end_of_text|>"};
  family.turn.special = {"<|tool_call|>", "<|/tool_call|>"};
  return read(turn, log, family);
}

bool granite20b_fc(const ReferenceCase& turn, EventLog& log) {
  return read(turn, log, tagged("<function_call>", "</function_call>", {"<|endoftext|>"}));
}

bool phi4_mini(const ReferenceCase& turn, EventLog& log) {
  JsonFamily family;
  family.turn.call_open = {{"functools["}, {"functools ["}, {"<|tool_call|>"}};
  family.turn.call_close = {"<|/tool_call|>"};
  family.turn.tail = {"<|end|>", "<|endoftext|>", "<|eot_id|>"};
  family.turn.special = {"<|tool_call|>", "<|/tool_call|>"};
  return read(turn, log, family);
}

bool jamba(const ReferenceCase& turn, EventLog& log) {
  return read(turn, log, tagged("<tool_calls>", "</tool_calls>", {"<|eom|>", "<|endoftext|>"}));
}

bool apriel(const ReferenceCase& turn, EventLog& log) {
  JsonFamily family = tagged("<tool_calls>", "</tool_calls>", {"<|end|>", "</s>"});
  family.turn.reasoning = {{"Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"},
                           {"<thinking>", "</thinking>"}};
  family.turn.answer = {{"", "[END FINAL RESPONSE]"}};
  return read(turn, log, family);
}

bool minimax_m1(const ReferenceCase& turn, EventLog& log) {
  return read(turn, log, tagged("<tool_calls>", "</tool_calls>", {"<end_of_sentence>"}));
}

bool hunyuan_a13b(const ReferenceCase& turn, EventLog& log) {
  JsonFamily family = tagged("<tool_calls>", "</tool_calls>", {"<|eos|>"});
  family.turn.answer = {{"<answer>", "</answer>"}};
  return read(turn, log, family);
}

bool nemotron_deci(const ReferenceCase& turn, EventLog& log) {
  return read(turn, log, tagged("<TOOLCALL>", "</TOOLCALL>", {"<|eot_id|>", "<SPECIAL_12>"}));
}

bool internlm2(const ReferenceCase& turn, EventLog& log) {
  JsonFamily family;
  family.turn.section_open = {"<|action_start|>"};
  family.turn.call_open = {{"<|plugin|>"}};
  family.turn.section_close = {"<|action_end|>"};
  family.turn.tail = {"<|im_end|>"};
  family.turn.special = {"<|action_start|>", "<|action_end|>", "<|plugin|>"};
  return read(turn, log, family);
}

bool xlam(const ReferenceCase& turn, EventLog& log) {
  JsonFamily family;
  family.turn.call_open = {{.text = "[", .declared = true, .quotable = true},
                           {.text = "{", .first = true, .declared = true},
                           {.text = "```json", .declared = true, .quotable = true},
                           {"[TOOL_CALLS]"},
                           {"<tool_call>"}};
  family.turn.call_close = {"</tool_call>", "[/TOOL_CALLS]"};
  family.turn.tail = {"<|im_end|>", "<|eot_id|>", "</s>"};
  return read(turn, log, family);
}

bool cohere_command_r7b(const ReferenceCase& turn, EventLog& log) {
  JsonFamily family;
  family.turn.reasoning = {{"<|START_THINKING|>", "<|END_THINKING|>"}, {"<think>", "</think>"}};
  family.turn.answer = {{"<|START_RESPONSE|>", "<|END_RESPONSE|>"},
                        {"<|START_TEXT|>", "<|END_TEXT|>"}};
  family.turn.call_open = {{"<|START_ACTION|>"}, {"Action:\n```json"}, {"Action: ```json"}};
  family.turn.call_close = {"<|END_ACTION|>"};
  family.turn.tail = {"<|END_OF_TURN_TOKEN|>"};
  family.turn.special = {"<|START_ACTION|>", "<|END_ACTION|>"};
  family.shape.id_key = "tool_call_id";
  const auto read_calls = [&](const ReferenceCase& of, const CallOpener& opener, std::size_t at) {
    // What begins like no call is hidden if its closer comes.
    const std::size_t body = skip_space(of.text, at);
    const std::size_t first = of.text.find_first_not_of(" \t\r\n[", at);
    const bool list = first != std::string_view::npos && first != body;
    const bool calls = first == std::string_view::npos || of.text[first] == '{' ||
                       of.text[first] == (list ? ']' : '<');
    if (opener.text == "<|START_ACTION|>" && !calls) {
      return Reading{.what = Reading::What::no_opinion};
    }
    return read_json_calls(of, opener, at, family.shape);
  };
  return read_turn(turn, family.turn, read_calls, log);
}

bool apertus(const ReferenceCase& turn, EventLog& log) {
  JsonFamily family = tagged("<|tools_prefix|>", "<|tools_suffix|>", {"<|assistant_end|>"});
  family.turn.reasoning = {{"<|inner_prefix|>", "<|inner_suffix|>"}, {"<think>", "</think>"}};
  family.turn.special = {"<|tools_prefix|>", "<|tools_suffix|>"};
  family.shape.name_is_key = true;
  return read(turn, log, family);
}

bool gigachat3(const ReferenceCase& turn, EventLog& log) {
  JsonFamily family;
  family.turn.call_open = {{"<|function_call|>"},
                           {"<|message_sep|>\n\nfunction call<|role_sep|>\n"},
                           {"function call<|role_sep|>\n"}};
  family.turn.tail = {"</s>", "<|message_sep|>"};
  return read(turn, log, family);
}

bool dots(const ReferenceCase& turn, EventLog& log) {
  JsonFamily family = tagged("<dots_function_call>", "</dots_function_call>",
                             {"<|endofresponse|>", "<|endoftext|>"});
  family.turn.special = {"<dots_function_call>", "</dots_function_call>"};
  return read(turn, log, family);
}

bool longcat(const ReferenceCase& turn, EventLog& log) {
  JsonFamily family =
      tagged("<longcat_tool_call>", "</longcat_tool_call>", {"</longcat_s>", "<|endoftext|>"});
  family.turn.reasoning = {{"<think>", "</think>"}, {"<longcat_think>", "</longcat_think>"}};
  family.turn.special = {"<longcat_tool_call>", "</longcat_tool_call>"};
  const auto read_calls = [&](const ReferenceCase& of, const CallOpener& opener, std::size_t at) {
    // The newer form is another family's.
    const std::size_t first = skip_space(of.text, at);
    const bool json = first == of.text.size() || of.text[first] == '{' || of.text[first] == '[';
    if (!json) return Reading{.what = Reading::What::no_opinion};
    return read_json_calls(of, opener, at, family.shape);
  };
  return read_turn(turn, family.turn, read_calls, log);
}

// Guided decoding. The bare arguments of the only tool are told by its schema: no opinion.
bool json_array(const ReferenceCase& turn, EventLog& log) {
  JsonFamily family;
  family.turn.call_open = {{.text = "[", .declared = true, .quotable = true},
                           {.text = "{", .first = true, .declared = true}};
  if (turn.tools.size() == 1 && trimmed(turn.text).starts_with('{')) return false;
  return read(turn, log, family);
}

bool llama3_json(const ReferenceCase& turn, EventLog& log) {
  JsonFamily family;
  family.turn.call_open = {{"<|python_tag|>"},
                           {.text = "{", .declared = true, .quotable = true},
                           {.text = "[", .first = true, .declared = true}};
  family.turn.tail = {"<|eom_id|>", "<|eot_id|>", "<|end_of_text|>", "<|eom|>", "<|eot|>"};
  const auto read_calls = [&](const ReferenceCase& of, const CallOpener& opener, std::size_t at) {
    if (opener.declared) return read_json_calls(of, opener, at - 1, family.shape);
    const std::size_t first = skip_space(of.text, at);
    const bool json = first == of.text.size() || of.text[first] == '{' || of.text[first] == '[';
    // Python behind its tag: only the references of Python know.
    if (!json) return Reading{.what = Reading::What::no_opinion};
    return read_json_calls(of, opener, at, family.shape);
  };
  return read_turn(turn, family.turn, read_calls, log);
}

}  // namespace callgate::dialect::reference
