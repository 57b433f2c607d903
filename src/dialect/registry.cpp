// Every dialect, by name. A new one is declared and listed here.
#include <algorithm>

#include "callgate/dialect.h"

namespace callgate::dialect {

extern const Dialect anthropic_xml;
extern const Dialect apertus;
extern const Dialect apriel;
extern const Dialect automatic;
extern const Dialect cohere_command_r7b;
extern const Dialect deepseek_v3;
extern const Dialect deepseek_v31;
extern const Dialect deepseek_v32;
extern const Dialect deepseek_v4;
extern const Dialect dots;
extern const Dialect ernie45;
extern const Dialect functionary_v31;
extern const Dialect functionary_v32;
extern const Dialect functiongemma;
extern const Dialect gemma4;
extern const Dialect generic_xml;
extern const Dialect gigachat3;
extern const Dialect glm45;
extern const Dialect glm47;
extern const Dialect granite;
extern const Dialect granite20b_fc;
extern const Dialect granite4;
extern const Dialect harmony;
extern const Dialect hermes;
extern const Dialect hunyuan;
extern const Dialect hunyuan_a13b;
extern const Dialect inkling;
extern const Dialect internlm2;
extern const Dialect jamba;
extern const Dialect json_array;
extern const Dialect kimi_k2;
extern const Dialect kimi_k3;
extern const Dialect lfm2;
extern const Dialect llama3_json;
extern const Dialect longcat;
extern const Dialect minicpm5;
extern const Dialect minimax_m1;
extern const Dialect minimax_m2;
extern const Dialect minimax_m3;
extern const Dialect mistral_old;
extern const Dialect mistral_v13;
extern const Dialect muse_glimmer;
extern const Dialect native;
extern const Dialect nemotron_deci;
extern const Dialect olmo3;
extern const Dialect phi4_mini;
extern const Dialect pythonic;
extern const Dialect qwen3_coder;
extern const Dialect sarashina;
extern const Dialect seed_oss;
extern const Dialect solar_open;
extern const Dialect step3;
extern const Dialect use_tool;
extern const Dialect xlam;

namespace {

constexpr const Dialect* kDialects[] = {
    &anthropic_xml,
    &apertus,
    &apriel,
    &automatic,
    &cohere_command_r7b,
    &deepseek_v3,
    &deepseek_v31,
    &deepseek_v32,
    &deepseek_v4,
    &dots,
    &ernie45,
    &functionary_v31,
    &functionary_v32,
    &functiongemma,
    &gemma4,
    &generic_xml,
    &gigachat3,
    &glm45,
    &glm47,
    &granite,
    &granite20b_fc,
    &granite4,
    &harmony,
    &hermes,
    &hunyuan,
    &hunyuan_a13b,
    &inkling,
    &internlm2,
    &jamba,
    &json_array,
    &kimi_k2,
    &kimi_k3,
    &lfm2,
    &llama3_json,
    &longcat,
    &minicpm5,
    &minimax_m1,
    &minimax_m2,
    &minimax_m3,
    &mistral_old,
    &mistral_v13,
    &muse_glimmer,
    &native,
    &nemotron_deci,
    &olmo3,
    &phi4_mini,
    &pythonic,
    &qwen3_coder,
    &sarashina,
    &seed_oss,
    &solar_open,
    &step3,
    &use_tool,
    &xlam,
};

}  // namespace

std::span<const Dialect* const> all() { return kDialects; }

const Dialect* find(std::string_view name) {
  const auto at = std::find_if(std::begin(kDialects), std::end(kDialects),
                               [&](const Dialect* dialect) { return dialect->name == name; });
  return at == std::end(kDialects) ? nullptr : *at;
}

}  // namespace callgate::dialect
