#include "dialect/render/render.h"

#include <algorithm>
#include <variant>

#include "dialect/render/render_family.h"

namespace callgate::dialect {
namespace {

using CallText = std::variant<ObjectText, NamedText, TaggedText, ElementText, PrefixedText,
                              PythonText, DictText, GemmaText>;

struct Row {
  std::string_view dialect;
  CallText text;
};

constexpr std::string_view kParameters = R"(, "parameters": )";

// An array of objects between two markers.
constexpr ObjectText array(std::string_view open, std::string_view close) {
  return {.section_open = open, .between = ", ", .section_close = close};
}

// One object between two markers, for each call.
constexpr ObjectText objects(std::string_view open, std::string_view close,
                             std::string_view between = {}) {
  return {.call_open = open, .call_close = close, .between = between};
}

constexpr TaggedText invokes(std::string_view section_open, std::string_view section_close) {
  return {.section_open = section_open,
          .call_open = R"(<invoke name=")",
          .call_name_close = "\">\n",
          .key_open = R"(<parameter name=")",
          .value_open = ">",
          .value_close = "</parameter>\n",
          .call_close = "</invoke>\n",
          .section_close = section_close,
          .names = TaggedText::Names::attribute};
}

constexpr TaggedText dsml(std::string_view section_open, std::string_view section_close) {
  return {.section_open = section_open,
          .call_open = R"(<｜DSML｜invoke name=")",
          .call_name_close = "\">\n",
          .key_open = R"(<｜DSML｜parameter name=")",
          .types = TaggedText::Types::string_or_not,
          .value_open = ">",
          .value_close = "</｜DSML｜parameter>\n",
          .call_close = "</｜DSML｜invoke>\n",
          .section_close = section_close,
          .names = TaggedText::Names::attribute};
}

constexpr Row kRows[] = {
    {"anthropic_xml", invokes("<function_calls>\n", "</function_calls>")},
    {"apertus", ObjectText{.section_open = "<|tools_prefix|>[",
                           .name = "{",
                           .arguments = ": ",
                           .between = ", ",
                           .section_close = "]<|tools_suffix|>"}},
    {"apriel", array("<tool_calls>[", "]</tool_calls>")},
    {"cohere_command_r7b", ObjectText{.section_open = "<|START_ACTION|>[\n",
                                      .call_open = "    ",
                                      .name = R"("tool_name": )",
                                      .arguments = kParameters,
                                      .between = ",\n",
                                      .section_close = "\n]<|END_ACTION|>",
                                      .id_key = "tool_call_id",
                                      .id = ObjectText::Id::first}},
    {"deepseek_v3", NamedText{.section_open = "<｜tool▁calls▁begin｜>",
                              .call_open = "<｜tool▁call▁begin｜>function<｜tool▁sep｜>",
                              .arguments_open = "\n```json\n",
                              .call_close = "\n```<｜tool▁call▁end｜>",
                              .between = "\n",
                              .section_close = "<｜tool▁calls▁end｜>"}},
    {"deepseek_v31", NamedText{.section_open = "<｜tool▁calls▁begin｜>",
                               .call_open = "<｜tool▁call▁begin｜>",
                               .arguments_open = "<｜tool▁sep｜>",
                               .call_close = "<｜tool▁call▁end｜>",
                               .section_close = "<｜tool▁calls▁end｜>"}},
    {"deepseek_v32", dsml("<｜DSML｜function_calls>\n", "</｜DSML｜function_calls>")},
    {"deepseek_v4", dsml("<｜DSML｜tool_calls>\n", "</｜DSML｜tool_calls>")},
    {"dots", invokes("<dots_function_call>\n", "</dots_function_call>")},
    {"ernie45", objects("<tool_call>\n", "\n</tool_call>\n")},
    {"functionary_v31",
     NamedText{.call_open = "<function=", .arguments_open = ">", .call_close = "</function>"}},
    {"functionary_v32", NamedText{.call_open = ">>>", .arguments_open = "\n"}},
    {"functiongemma", GemmaText{"<start_function_call>", "<escape>", "<end_function_call>"}},
    {"gemma4", GemmaText{"<|tool_call>", R"(<|"|>)", "<tool_call|>"}},
    {"generic_xml", ElementText{}},
    {"gigachat3", objects("<|function_call|>", "")},
    {"glm45", TaggedText{.call_open = "<tool_call>",
                         .call_name_close = "\n",
                         .key_open = "<arg_key>",
                         .value_open = "</arg_key>\n<arg_value>",
                         .value_close = "</arg_value>\n",
                         .call_close = "</tool_call>",
                         .between = "\n"}},
    {"glm47", TaggedText{.call_open = "<tool_call>",
                         .key_open = "<arg_key>",
                         .value_open = "</arg_key><arg_value>",
                         .value_close = "</arg_value>",
                         .call_close = "</tool_call>"}},
    {"granite", array("<|tool_call|>[", "]")},
    {"granite20b_fc", objects("<function_call> ", "", " ")},
    {"granite4", objects("<tool_call>", "</tool_call>")},
    {"harmony", NamedText{.call_open = "<|channel|>commentary to=functions.",
                          .arguments_open = " <|constrain|>json<|message|>",
                          .call_close = "<|call|>",
                          .between = "<|start|>assistant"}},
    {"hermes", objects("<tool_call>\n", "\n</tool_call>", "\n")},
    {"hunyuan", TaggedText{.section_open = "<tool_calls>",
                           .call_open = "<tool_call>",
                           .call_name_close = "<tool_sep>",
                           .key_open = "<arg_key>",
                           .value_open = "</arg_key><arg_value>",
                           .value_close = "</arg_value>",
                           .call_close = "</tool_call>",
                           .section_close = "</tool_calls>"}},
    {"hunyuan_a13b", array("<tool_calls>[", "]</tool_calls>")},
    {"inkling", ObjectText{.call_open = "<|message_model|>",
                           .header_close = "<|content_invoke_tool_json|>",
                           .name = R"({"name":)",
                           .arguments = R"(,"args":)",
                           .call_close = "<|end_message|>"}},
    {"internlm2", ObjectText{.call_open = "<|action_start|><|plugin|>",
                             .arguments = kParameters,
                             .call_close = "<|action_end|>"}},
    {"jamba", ObjectText{.section_open = "<tool_calls>[\n",
                         .call_open = "    ",
                         .between = ",\n",
                         .section_close = "\n]</tool_calls>"}},
    {"json_array",
     ObjectText{
         .section_open = "[", .arguments = kParameters, .between = ", ", .section_close = "]"}},
    {"kimi_k2", NamedText{.section_open = "<|tool_calls_section_begin|>",
                          .call_open = "<|tool_call_begin|>",
                          .arguments_open = "<|tool_call_argument_begin|>",
                          .call_close = "<|tool_call_end|>",
                          .section_close = "<|tool_calls_section_end|>",
                          .id = NamedText::Id::is_name}},
    {"kimi_k3", TaggedText{.section_open = "<|open|>tools<|sep|>",
                           .call_open = R"(<|open|>call tool=")",
                           .index = R"(" index=")",
                           .call_name_close = R"("<|sep|>)",
                           .key_open = R"(<|open|>argument key=")",
                           .types = TaggedText::Types::type_name,
                           .value_open = "<|sep|>",
                           .value_close = "<|close|>argument<|sep|>",
                           .call_close = "<|close|>call<|sep|>",
                           .section_close = "<|close|>tools<|sep|>",
                           .names = TaggedText::Names::attribute}},
    {"lfm2", PythonText{"<|tool_call_start|>[", ", ", "]<|tool_call_end|>"}},
    {"llama3_json", ObjectText{.arguments = kParameters, .between = "; "}},
    {"longcat", objects("<longcat_tool_call>", "</longcat_tool_call>", "\n")},
    {"minicpm5", TaggedText{.call_open = R"(<function name=")",
                            .call_name_close = R"(">)",
                            .key_open = R"(<param name=")",
                            .value_open = ">",
                            .value_close = "</param>",
                            .call_close = "</function>",
                            .between = "\n",
                            .names = TaggedText::Names::attribute,
                            .raw_open = "<![CDATA[",
                            .raw_close = "]]>"}},
    {"minimax_m1",
     ObjectText{
         .section_open = "<tool_calls>\n", .call_close = "\n", .section_close = "</tool_calls>"}},
    {"minimax_m2", invokes("<minimax:tool_call>\n", "</minimax:tool_call>")},
    {"minimax_m3", PrefixedText{"]<]minimax[>["}},
    {"mistral_old", ObjectText{.section_open = "[TOOL_CALLS] [",
                               .between = ", ",
                               .section_close = "]",
                               .id_key = "id",
                               .id = ObjectText::Id::last}},
    {"mistral_v13", NamedText{.call_open = "[TOOL_CALLS]",
                              .arguments_open = "[ARGS]",
                              .id = NamedText::Id::after_name,
                              .id_marker = "[CALL_ID]"}},
    {"muse_glimmer", TaggedText{.address_open = "<|start|>assistant to=",
                                .address_close = "<|message|>",
                                .call_open = "<atem:function_calls>\n<atem:invoke name=\"",
                                .call_name_close = "\">\n",
                                .key_open = R"(<atem:parameter name=")",
                                .value_open = ">",
                                .value_close = "</atem:parameter>\n",
                                .call_close = "</atem:invoke>\n</atem:function_calls>",
                                .between = "<|eom|>",
                                .names = TaggedText::Names::attribute}},
    {"nemotron_deci", array("<TOOLCALL>[", "]</TOOLCALL>")},
    {"olmo3", PythonText{"<function_calls>", "\n", "</function_calls>"}},
    {"phi4_mini", array("functools[", "]")},
    {"pythonic", PythonText{"[", ", ", "]"}},
    {"qwen3_coder", TaggedText{.call_open = "<tool_call>\n<function=",
                               .call_name_close = ">\n",
                               .key_open = "<parameter=",
                               .value_open = ">\n",
                               .value_close = "\n</parameter>\n",
                               .call_close = "</function>\n</tool_call>",
                               .between = "\n"}},
    {"sarashina", DictText{"<|tool_calls|>[", "]"}},
    {"seed_oss", TaggedText{.call_open = "<seed:tool_call>\n<function=",
                            .call_name_close = ">\n",
                            .key_open = "<parameter=",
                            .value_open = ">",
                            .value_close = "</parameter>\n",
                            .call_close = "</function>\n</seed:tool_call>",
                            .between = "\n"}},
    {"solar_open", NamedText{.section_open = "<|tool_calls|>",
                             .call_open = "<|tool_call:begin|>",
                             .arguments_open = "<|tool_call:args|>",
                             .call_close = "<|tool_call:end|>",
                             .section_close = "<|calls|>",
                             .id = NamedText::Id::before_name,
                             .id_marker = "<|tool_call:name|>"}},
    {"step3",
     TaggedText{.section_open = "<｜tool_calls_begin｜>\n",
                .call_open = R"(<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=")",
                .call_name_close = R"(">)",
                .key_open = R"(<steptml:parameter name=")",
                .value_open = ">",
                .value_close = "</steptml:parameter>",
                .call_close = "</steptml:invoke><｜tool_call_end｜>\n",
                .section_close = "<｜tool_calls_end｜>",
                .names = TaggedText::Names::attribute}},
    {"use_tool", ElementText{"use_tool"}},
    {"xlam", array("[", "]")},
};

const Row* find_row(std::string_view dialect) {
  const auto row = std::find_if(std::begin(kRows), std::end(kRows),
                                [&](const Row& each) { return each.dialect == dialect; });
  return row == std::end(kRows) ? nullptr : row;
}

bool is_object_or_empty(std::string_view json) {
  if (json.empty()) return true;
  json::Reader in(json);
  if (in.peek() != json::Kind::object) return false;
  in.skip();
  return in.finish();
}

}  // namespace

bool render_calls(std::string_view dialect, std::span<const CallRecord> calls, std::string& out) {
  const Row* const row = find_row(dialect);
  const bool good = std::all_of(calls.begin(), calls.end(), [](const CallRecord& call) {
    return is_object_or_empty(call.arguments);
  });
  if (row == nullptr || !good) return false;
  if (calls.empty()) return true;
  std::visit([&](const auto& text) { append_calls(text, calls, out); }, row->text);
  return true;
}

bool writes_calls_as_text(std::string_view dialect) { return find_row(dialect) != nullptr; }

}  // namespace callgate::dialect
