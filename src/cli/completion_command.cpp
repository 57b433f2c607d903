#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace callgate::cli {
namespace {

// The words that may follow a command: its subcommands and its long options.
std::string words_of(const CLI::App& app) {
  std::string words;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    words += sub->get_name() + " ";
  }
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words += "--" + name + " ";
  }
  if (!words.empty()) words.pop_back();
  return words;
}

std::string bash_script(const CLI::App& root) {
  std::string out =
      "_callgate() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} words\n"
      "  case ${COMP_WORDS[1]} in\n";
  for (const CLI::App* sub : root.get_subcommands([](const CLI::App*) { return true; })) {
    out += "    " + sub->get_name() + ") words='" + words_of(*sub) + "' ;;\n";
  }
  out += "  esac\n  [ \"$COMP_CWORD\" -eq 1 ] && words='" + words_of(root) + "'\n";
  out += "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n";
  out += "  [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- \"$word\"))\n}\n";
  return out + "complete -o filenames -F _callgate callgate\n";
}

std::string fish_script(const CLI::App& root) {
  std::string out;
  for (const CLI::App* sub : root.get_subcommands([](const CLI::App*) { return true; })) {
    out += "complete -c callgate -n __fish_use_subcommand -f -a " + sub->get_name() + " -d '" +
           sub->get_description() + "'\n";
    for (const CLI::Option* option : sub->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        out += "complete -c callgate -n '__fish_seen_subcommand_from " + sub->get_name() + "' -l " +
               name + "\n";
      }
    }
  }
  return out;
}

}  // namespace

void add_completion(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("completion", "Print a shell completion script");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer("Example: source <(callgate completion bash)");
  command->callback([&app, shell, &exit_code] {
    if (*shell == "zsh") std::cout << "autoload -U +X bashcompinit && bashcompinit\n";
    std::cout << (*shell == "fish" ? fish_script(app) : bash_script(app));
    exit_code = 0;
  });
}

}  // namespace callgate::cli
