#include "dialect/models.h"

#include "base/glob.h"

namespace callgate::dialect {
const Dialect* default_for(std::string_view model) {
  const Dialect* best = nullptr;
  std::size_t longest = 0;
  for (const Dialect* dialect : all()) {
    for (const std::string_view pattern : dialect->models) {
      if (pattern.size() <= longest || !glob_matches(pattern, model, Case::ignored)) continue;
      best = dialect;
      longest = pattern.size();
    }
  }
  return best;
}

}  // namespace callgate::dialect
