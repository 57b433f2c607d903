#include "cli/option_values.h"

#include <algorithm>
#include <string_view>

#include "callgate/dialect.h"
#include "replay/dialect_survey.h"

namespace callgate::cli {
namespace {

// CLI11 writes the words of IsMember into the option's type: `TEXT:{bash,zsh,fish}`.
std::vector<std::string> members_in(std::string_view type) {
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}', open);
  std::vector<std::string> words;
  if (open == type.npos || close == type.npos) return words;
  std::string_view list = type.substr(open + 1, close - open - 1);
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    words.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return words;
}

}  // namespace

std::vector<std::string> values_of(const CLI::Option& option) {
  if (option.check_lname("dialect")) {
    std::vector<std::string> words;
    for (const Dialect* dialect : dialect::all()) words.emplace_back(dialect->name);
    words.emplace_back(replay::kAllDialects);
    return words;
  }
  return members_in(option.get_type_name());
}

std::vector<const CLI::Option*> shown_options(const CLI::App& app) {
  std::vector<const CLI::Option*> options;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_name().empty()) options.push_back(option);
  }
  return options;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

}  // namespace callgate::cli
