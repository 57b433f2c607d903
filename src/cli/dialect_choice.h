// `callgate dialects --for MODEL`: which dialect a name means, and why.
//
//   Qwen/Qwen3-Coder-30B: qwen3_coder (the longest pattern that matches the name)
//     *qwen3-coder*  qwen3_coder  chosen: longest pattern
//     *qwen3*  hermes  shorter pattern
#pragma once

#include <string>
#include <string_view>

#include "dialect/models.h"

namespace callgate::cli {

// Lines for people, each with its line end.
std::string print_choice(std::string_view model, const dialect::ModelChoice& choice);
// One JSON object: model, dialect, reason and matches, without a line end.
std::string print_choice_json(std::string_view model, const dialect::ModelChoice& choice);

}  // namespace callgate::cli
