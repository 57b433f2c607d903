// The references, one per dialect.
#pragma once

#include "dialect/reference/reference.h"

namespace callgate::dialect::reference {

bool apertus(const ReferenceCase& turn, EventLog& log);
bool apriel(const ReferenceCase& turn, EventLog& log);
bool cohere_command_r7b(const ReferenceCase& turn, EventLog& log);
// DeepSeek V3 and V3.1: each reads the other's form.
bool deepseek(const ReferenceCase& turn, EventLog& log);
bool dots(const ReferenceCase& turn, EventLog& log);
bool ernie45(const ReferenceCase& turn, EventLog& log);
bool functionary_v31(const ReferenceCase& turn, EventLog& log);
bool functionary_v32(const ReferenceCase& turn, EventLog& log);
bool functiongemma(const ReferenceCase& turn, EventLog& log);
bool gemma4(const ReferenceCase& turn, EventLog& log);
bool gigachat3(const ReferenceCase& turn, EventLog& log);
bool granite(const ReferenceCase& turn, EventLog& log);
bool granite20b_fc(const ReferenceCase& turn, EventLog& log);
bool granite4(const ReferenceCase& turn, EventLog& log);
bool harmony(const ReferenceCase& turn, EventLog& log);
bool hermes(const ReferenceCase& turn, EventLog& log);
bool hunyuan_a13b(const ReferenceCase& turn, EventLog& log);
bool inkling(const ReferenceCase& turn, EventLog& log);
bool internlm2(const ReferenceCase& turn, EventLog& log);
bool jamba(const ReferenceCase& turn, EventLog& log);
bool json_array(const ReferenceCase& turn, EventLog& log);
bool kimi_k2(const ReferenceCase& turn, EventLog& log);
bool lfm2(const ReferenceCase& turn, EventLog& log);
bool llama3_json(const ReferenceCase& turn, EventLog& log);
bool longcat(const ReferenceCase& turn, EventLog& log);
bool minimax_m1(const ReferenceCase& turn, EventLog& log);
bool mistral_old(const ReferenceCase& turn, EventLog& log);
bool mistral_v13(const ReferenceCase& turn, EventLog& log);
bool muse_glimmer(const ReferenceCase& turn, EventLog& log);
bool nemotron_deci(const ReferenceCase& turn, EventLog& log);
bool olmo3(const ReferenceCase& turn, EventLog& log);
bool phi4_mini(const ReferenceCase& turn, EventLog& log);
bool pythonic(const ReferenceCase& turn, EventLog& log);
bool sarashina(const ReferenceCase& turn, EventLog& log);
bool solar_open(const ReferenceCase& turn, EventLog& log);
bool xlam(const ReferenceCase& turn, EventLog& log);

}  // namespace callgate::dialect::reference
