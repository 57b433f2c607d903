// Which dialect a model writes, by its name: what counts when the configuration says nothing.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "callgate/dialect.h"

namespace callgate::dialect {

struct ModelMatch {
  const Dialect* dialect = nullptr;
  std::string_view pattern;  // of the dialect; it matches the name
};

// The longest pattern wins. Patterns of two dialects that are as long as each other say nothing: then there is no
// winner, whatever the order of the dialects.
struct ModelChoice {
  const Dialect* dialect = nullptr;  // nullptr: the model is read as `auto`
  std::vector<ModelMatch> matches;   // of all dialects, the longest pattern first
};

// Patterns match without regard to case.
ModelChoice choose_for(std::string_view model, std::span<const Dialect* const> dialects = all());

// The dialect that choose_for() chooses.
const Dialect* default_for(std::string_view model);

}  // namespace callgate::dialect
