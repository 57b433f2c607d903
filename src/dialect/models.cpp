#include "dialect/models.h"

#include <algorithm>

#include "base/glob.h"

namespace callgate::dialect {
namespace {

// Longer patterns first; then in an order that does not depend on the table's.
bool goes_before(const ModelMatch& a, const ModelMatch& b) {
  if (a.pattern.size() != b.pattern.size()) return a.pattern.size() > b.pattern.size();
  if (a.dialect->name != b.dialect->name) return a.dialect->name < b.dialect->name;
  return a.pattern < b.pattern;
}

}  // namespace

ModelChoice choose_for(std::string_view model, std::span<const Dialect* const> dialects) {
  ModelChoice choice;
  std::vector<ModelMatch>& matches = choice.matches;
  for (const Dialect* dialect : dialects) {
    for (const std::string_view pattern : dialect->models) {
      if (glob_matches(pattern, model, Case::ignored)) matches.push_back({dialect, pattern});
    }
  }
  if (matches.empty()) return choice;
  std::sort(matches.begin(), matches.end(), goes_before);
  const ModelMatch& best = matches.front();
  const bool tied = std::any_of(matches.begin(), matches.end(), [&](const ModelMatch& match) {
    return match.dialect != best.dialect && match.pattern.size() == best.pattern.size();
  });
  if (!tied) choice.dialect = best.dialect;
  return choice;
}

const Dialect* default_for(std::string_view model) { return choose_for(model).dialect; }

}  // namespace callgate::dialect
