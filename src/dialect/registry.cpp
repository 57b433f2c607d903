// Every dialect, by name. A new one is declared and listed here.
#include <algorithm>

#include "callgate/dialect.h"

namespace callgate::dialect {

// clang-format off
namespace anthropic_xml { extern const Dialect kDialect; }
namespace apertus { extern const Dialect kDialect; }
namespace apriel { extern const Dialect kDialect; }
extern const Dialect automatic;
namespace cohere_command_r7b { extern const Dialect kDialect; }
namespace deepseek_v3 { extern const Dialect kDialect; }
namespace deepseek_v31 { extern const Dialect kDialect; }
namespace deepseek_v32 { extern const Dialect kDialect; }
namespace deepseek_v4 { extern const Dialect kDialect; }
namespace dots { extern const Dialect kDialect; }
namespace ernie45 { extern const Dialect kDialect; }
namespace functionary_v31 { extern const Dialect kDialect; }
namespace functionary_v32 { extern const Dialect kDialect; }
namespace functiongemma { extern const Dialect kDialect; }
namespace gemma4 { extern const Dialect kDialect; }
namespace generic_xml { extern const Dialect kDialect; }
namespace gigachat3 { extern const Dialect kDialect; }
namespace glm45 { extern const Dialect kDialect; }
namespace glm47 { extern const Dialect kDialect; }
namespace granite { extern const Dialect kDialect; }
namespace granite20b_fc { extern const Dialect kDialect; }
namespace granite4 { extern const Dialect kDialect; }
namespace harmony { extern const Dialect kDialect; }
namespace hermes { extern const Dialect kDialect; }
namespace hunyuan { extern const Dialect kDialect; }
namespace hunyuan_a13b { extern const Dialect kDialect; }
namespace inkling { extern const Dialect kDialect; }
namespace internlm2 { extern const Dialect kDialect; }
namespace jamba { extern const Dialect kDialect; }
namespace json_array { extern const Dialect kDialect; }
namespace kimi_k2 { extern const Dialect kDialect; }
namespace kimi_k3 { extern const Dialect kDialect; }
namespace lfm2 { extern const Dialect kDialect; }
namespace llama3_json { extern const Dialect kDialect; }
namespace longcat { extern const Dialect kDialect; }
namespace minicpm5 { extern const Dialect kDialect; }
namespace minimax_m1 { extern const Dialect kDialect; }
namespace minimax_m2 { extern const Dialect kDialect; }
namespace minimax_m3 { extern const Dialect kDialect; }
namespace mistral_old { extern const Dialect kDialect; }
namespace mistral_v13 { extern const Dialect kDialect; }
namespace muse_glimmer { extern const Dialect kDialect; }
namespace native { extern const Dialect kDialect; }
namespace nemotron_deci { extern const Dialect kDialect; }
namespace olmo3 { extern const Dialect kDialect; }
namespace phi4_mini { extern const Dialect kDialect; }
namespace pythonic { extern const Dialect kDialect; }
namespace qwen3_coder { extern const Dialect kDialect; }
namespace sarashina { extern const Dialect kDialect; }
namespace seed_oss { extern const Dialect kDialect; }
namespace solar_open { extern const Dialect kDialect; }
namespace step3 { extern const Dialect kDialect; }
namespace use_tool { extern const Dialect kDialect; }
namespace xlam { extern const Dialect kDialect; }
// clang-format on

namespace {

constexpr const Dialect* kDialects[] = {
    &anthropic_xml::kDialect,
    &apertus::kDialect,
    &apriel::kDialect,
    &automatic,
    &cohere_command_r7b::kDialect,
    &deepseek_v3::kDialect,
    &deepseek_v31::kDialect,
    &deepseek_v32::kDialect,
    &deepseek_v4::kDialect,
    &dots::kDialect,
    &ernie45::kDialect,
    &functionary_v31::kDialect,
    &functionary_v32::kDialect,
    &functiongemma::kDialect,
    &gemma4::kDialect,
    &generic_xml::kDialect,
    &gigachat3::kDialect,
    &glm45::kDialect,
    &glm47::kDialect,
    &granite::kDialect,
    &granite20b_fc::kDialect,
    &granite4::kDialect,
    &harmony::kDialect,
    &hermes::kDialect,
    &hunyuan::kDialect,
    &hunyuan_a13b::kDialect,
    &inkling::kDialect,
    &internlm2::kDialect,
    &jamba::kDialect,
    &json_array::kDialect,
    &kimi_k2::kDialect,
    &kimi_k3::kDialect,
    &lfm2::kDialect,
    &llama3_json::kDialect,
    &longcat::kDialect,
    &minicpm5::kDialect,
    &minimax_m1::kDialect,
    &minimax_m2::kDialect,
    &minimax_m3::kDialect,
    &mistral_old::kDialect,
    &mistral_v13::kDialect,
    &muse_glimmer::kDialect,
    &native::kDialect,
    &nemotron_deci::kDialect,
    &olmo3::kDialect,
    &phi4_mini::kDialect,
    &pythonic::kDialect,
    &qwen3_coder::kDialect,
    &sarashina::kDialect,
    &seed_oss::kDialect,
    &solar_open::kDialect,
    &step3::kDialect,
    &use_tool::kDialect,
    &xlam::kDialect,
};

}  // namespace

std::span<const Dialect* const> all() { return kDialects; }

const Dialect* find(std::string_view name) {
  const auto at = std::find_if(std::begin(kDialects), std::end(kDialects),
                               [&](const Dialect* dialect) { return dialect->name == name; });
  return at == std::end(kDialects) ? nullptr : *at;
}

}  // namespace callgate::dialect
