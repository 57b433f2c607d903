#include "dialect/special_tokens.h"

#include <algorithm>
#include <array>

namespace callgate::dialect {
namespace {

// Their markers are ordinary text in every tokenizer: prompts taught them, or JSON, Python and XML that no vocabulary has
// as a whole. `<tool_call>` (hermes, qwen3_coder) is not here: some models have it as a special token.
constexpr std::array<std::string_view, 14> kOrdinaryText{
    "anthropic_xml", "functionary_v31", "functionary_v32", "generic_xml", "granite20b_fc",
    "hunyuan_a13b",  "json_array",      "minicpm5",        "minimax_m1",  "native",
    "nemotron_deci", "olmo3",           "use_tool",        "xlam",
};

}  // namespace

bool writes_special_tokens(std::string_view dialect) {
  return std::find(kOrdinaryText.begin(), kOrdinaryText.end(), dialect) == kOrdinaryText.end();
}

}  // namespace callgate::dialect
