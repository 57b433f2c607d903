// DSML, the markup of DeepSeek V3.2 and V4, in every spelling that the models use:
//
//   <｜DSML｜function_calls>
//   <｜DSML｜invoke name="get_weather">
//   <｜DSML｜parameter name="city" string="true">Paris</｜DSML｜parameter>
//   <｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>
//   </｜DSML｜invoke>
//   </｜DSML｜function_calls>
//
// The bars also come as ‖, doubled or as ASCII, a space may follow them, and each model writes the other's block name.
#pragma once

#include "dialect/family/tagged_arguments.h"

namespace callgate::dialect {

extern const Prose kDsmlProse;
std::span<const TaggedGrammar> dsml_grammars();

}  // namespace callgate::dialect
