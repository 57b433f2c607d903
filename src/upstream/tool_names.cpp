#include "upstream/tool_names.h"

#include <algorithm>

#include "upstream/repaired_read.h"

namespace callgate::upstream {
namespace {

constexpr std::string_view kFunctions = "functions.";
constexpr std::size_t kFewTools = 16;  // are looked through faster than any index

// `prefix` and then `longer` begin with `name` and go on after it.
bool begins(std::string_view longer, std::string_view prefix, std::string_view name) {
  if (name.size() <= prefix.size()) return prefix.starts_with(name);
  name.remove_prefix(prefix.size());
  return longer.size() > name.size() && longer.starts_with(name);
}

// find:0 -> find
std::string_view without_number(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  const bool numbered =
      last != std::string_view::npos && last > 0 && name[last] == ':' && last + 1 < name.size();
  return numbered ? name.substr(0, last) : name;
}

// Without the markers of a model's own format: find<|channel|>commentary, <|channel|>commentary to=functions.find
std::string_view without_markers(std::string_view name) {
  const std::size_t to = name.rfind("to=");
  if (to != std::string_view::npos && (to == 0 || name[to - 1] == ' ')) name.remove_prefix(to + 3);
  return trimmed(name.substr(0, name.find('<')));
}

// find</tool_call> -> find, find() -> find, <|constrain|>find -> find
std::string_view without_structure(std::string_view name) {
  while (name.starts_with('<') && name.find('>') != std::string_view::npos) {
    name.remove_prefix(name.find('>') + 1);
  }
  return trimmed(name.substr(0, name.find_first_of("<({[")));
}

// "find" -> find
std::string_view without_quotes(std::string_view name) {
  constexpr std::string_view kQuotes = "\"'`";
  const std::size_t first = name.find_first_not_of(kQuotes);
  if (first == std::string_view::npos) return name;
  return name.substr(first, name.find_last_not_of(kQuotes) + 1 - first);
}

}  // namespace

bool ToolNames::declares(std::string_view name) const { return index_.find(name) != nullptr; }

std::string_view ToolNames::cleaned(std::string_view name) const {
  if (declares(name)) return name;
  if (const std::string_view core = without_structure(name); declares(core)) return core;
  const std::string_view bare = without_markers(name);
  if (bare.empty()) return name;
  if (declares(bare)) return bare;
  if (const std::string_view inner = without_quotes(bare); declares(inner)) return inner;
  if (tools_.empty()) {
    if (!bare.starts_with(kFunctions) || bare.size() == kFunctions.size()) return bare;
    return without_number(bare.substr(kFunctions.size()));
  }
  for (std::size_t at = 0; at != std::string_view::npos;) {
    const std::string_view rest = bare.substr(at);
    if (declares(rest)) return rest;
    if (declares(without_number(rest))) return without_number(rest);
    at = bare.find_first_of(".:/", at);
    if (at != std::string_view::npos) ++at;
  }
  const bool prefixed = bare.starts_with(kFunctions) && bare.size() > kFunctions.size();
  return prefixed ? bare.substr(kFunctions.size()) : bare;
}

bool ToolNames::begins_longer(std::string_view name, std::string_view prefix) const {
  if (tools_.size() <= kFewTools || name.size() <= prefix.size()) {
    return std::any_of(tools_.begin(), tools_.end(),
                       [&](const ToolSpec& tool) { return begins(tool.name, prefix, name); });
  }
  if (sorted_.empty()) {
    sorted_.reserve(tools_.size());
    for (const ToolSpec& tool : tools_) sorted_.push_back(tool.name);
    std::sort(sorted_.begin(), sorted_.end());
  }
  name.remove_prefix(prefix.size());
  const auto next = std::upper_bound(sorted_.begin(), sorted_.end(), name);
  return next != sorted_.end() && next->starts_with(name);
}

bool ToolNames::fits(std::string_view name) const {
  return declares(cleaned(name)) || begins_longer(name, {}) || begins_longer(name, kFunctions);
}

std::string ToolNames::joined(std::string_view name, std::string_view piece, bool same_call,
                              bool same_id) const {
  std::string both(name);
  both.append(piece);
  const bool grows = piece.starts_with(name);
  if (!tools_.empty()) {
    const bool two_names = declares(name) && declares(piece);
    if (!two_names && declares(cleaned(both))) return both;
    if (grows && fits(piece)) return std::string(piece);
    if (declares(piece)) return same_id && !declares(name) ? std::string(piece) : std::string();
    if (fits(both)) return both;
    if (declares(name)) return {};
  }
  if (!same_call) return {};
  return grows ? std::string(piece) : both;
}

ToolNames::Growth ToolNames::growth(std::string_view name) const {
  if (tools_.empty()) return Growth::until_arguments;
  const std::string_view bare = cleaned(name);
  if (declares(bare)) return begins_longer(bare, {}) ? Growth::until_arguments : Growth::over;
  return fits(name) || fits(bare) ? Growth::until_their_end : Growth::until_arguments;
}

}  // namespace callgate::upstream
