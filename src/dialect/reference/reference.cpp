#include "dialect/reference/reference.h"

#include "dialect/reference/family.h"
#include "dialect/reference/tagged.h"
#include "dialect/reference/turn.h"

namespace callgate::dialect::reference {
namespace {

bool dots_of_both_forms(const ReferenceCase& turn, EventLog& log) {
  constexpr std::string_view kOpen = "<dots_function_call>";
  bool json = false;
  bool tags = turn.text.find("<invoke") != std::string_view::npos;
  for (std::size_t at = turn.text.find(kOpen); at != std::string_view::npos;
       at = turn.text.find(kOpen, at + 1)) {
    const std::size_t body = skip_space(turn.text, at + kOpen.size());
    const bool brace = body < turn.text.size() && turn.text[body] == '{';
    (brace ? json : tags) = true;
  }
  if (json && tags) return false;
  return json ? dots(turn, log) : tagged::read_dots(turn, log);
}

struct Row {
  std::string_view dialect;
  Reference reference;
};

constexpr Row kRows[] = {
    {"apertus", apertus},
    {"apriel", apriel},
    {"cohere_command_r7b", cohere_command_r7b},
    {"deepseek_v3", deepseek},
    {"deepseek_v31", deepseek},
    {"dots", dots_of_both_forms},
    {"ernie45", ernie45},
    {"functionary_v31", functionary_v31},
    {"functionary_v32", functionary_v32},
    {"functiongemma", functiongemma},
    {"gemma4", gemma4},
    {"gigachat3", gigachat3},
    {"granite", granite},
    {"granite20b_fc", granite20b_fc},
    {"granite4", granite4},
    {"harmony", harmony},
    {"hermes", hermes},
    {"hunyuan_a13b", hunyuan_a13b},
    {"inkling", inkling},
    {"internlm2", internlm2},
    {"jamba", jamba},
    {"json_array", json_array},
    {"kimi_k2", kimi_k2},
    {"lfm2", lfm2},
    {"llama3_json", llama3_json},
    {"longcat", longcat},
    {"minimax_m1", minimax_m1},
    {"mistral_old", mistral_old},
    {"mistral_v13", mistral_v13},
    {"muse_glimmer", muse_glimmer},
    {"nemotron_deci", nemotron_deci},
    {"olmo3", olmo3},
    {"phi4_mini", phi4_mini},
    {"pythonic", pythonic},
    {"sarashina", sarashina},
    {"solar_open", solar_open},
    {"xlam", xlam},
};

}  // namespace

Reference find_reference(std::string_view dialect) {
  for (const Row& row : kRows) {
    if (row.dialect == dialect) return row.reference;
  }
  return tagged::find_reference(dialect);
}

}  // namespace callgate::dialect::reference
