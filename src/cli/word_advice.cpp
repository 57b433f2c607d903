#include "cli/word_advice.h"

#include <string_view>
#include <vector>

#include "base/quoted.h"
#include "config/config_text.h"

namespace callgate::cli {
namespace {

// Further away is a guess.
constexpr std::size_t kFurthest = 3;

std::string near_one(std::string_view word, const std::vector<std::string>& known) {
  std::vector<std::string_view> close;
  for (const std::string& name : known) {
    const std::size_t longer = std::max(name.size(), word.size());
    if (longer - std::min(name.size(), word.size()) <= kFurthest) close.push_back(name);
  }
  const std::string_view best = server::nearest(word, close);
  // At least half of it has to be the same.
  std::size_t same = 0;
  for (const char letter : word) same += best.find(letter) != std::string_view::npos;
  return best.empty() || 2 * same < word.size() ? "" : ", did you mean " + in_quotes(best) + "?";
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

const CLI::App* find_command(const CLI::App& app, std::string_view word) {
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == word) return command;
  }
  return nullptr;
}

}  // namespace

std::string advise_on_words(const CLI::App& app, int argc, const char* const* argv) {
  const CLI::App* at = &app;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--") return {};
    if (word.starts_with("--")) {
      const std::string name(word.substr(0, word.find('=')));
      const CLI::Option* option = at->get_option_no_throw(name);
      if (option == nullptr) {
        return "unknown option " + in_quotes(name) + near_one(name, option_names(*at));
      }
      const bool has_value = option->get_items_expected_max() > 0;
      if (has_value && word.find('=') == std::string_view::npos) ++i;
    } else if (word.starts_with('-') && word.size() > 1) {
      continue;
    } else if (const CLI::App* command = find_command(*at, word)) {
      at = command;
    } else if (const auto commands = command_names(*at); !commands.empty()) {
      return "unknown command " + in_quotes(word) + near_one(word, commands);
    }
  }
  return {};
}

}  // namespace callgate::cli
