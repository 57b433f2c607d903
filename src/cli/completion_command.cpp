#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/option_values.h"

namespace callgate::cli {
namespace {

std::string joined_words(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += out.empty() ? word : " " + word;
  return out;
}

// The words that may follow a command: its subcommands, its long options, and what its arguments may be.
std::string words_of(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::App* sub : commands_of(app)) words.push_back(sub->get_name());
  for (const CLI::Option* option : shown_options(app)) {
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
    if (!option->get_positional()) continue;
    for (const std::string& value : values_of(*option)) words.push_back(value);
  }
  return joined_words(words);
}

// `'parse --dialect') words='...' ;;` for each option of a command whose values are known.
void append_values(std::string& out, const std::string& path, const CLI::App& app) {
  for (const CLI::Option* option : shown_options(app)) {
    const std::string values = joined_words(values_of(*option));
    if (values.empty()) continue;
    for (const std::string& name : option->get_lnames()) {
      out += "    '" + path + " --" + name + "') words='" + values + "' ;;\n";
    }
  }
}

// Calls visit(path, command) for every command, `log tail` after `log`.
template <class Visit>
void visit_commands(const CLI::App& root, Visit visit) {
  for (const CLI::App* command : commands_of(root)) {
    visit(command->get_name(), *command);
    for (const CLI::App* sub : commands_of(*command)) {
      visit(command->get_name() + " " + sub->get_name(), *sub);
    }
  }
}

std::string bash_script(const CLI::App& root) {
  std::string paths;
  std::string values;
  std::string words;
  visit_commands(root, [&](const std::string& path, const CLI::App& command) {
    const bool nested = path.find(' ') != path.npos;
    if (nested) paths += (paths.empty() ? "'" : " | '") + path + "'";
    append_values(values, path, command);
    words +=
        "    " + (nested ? "'" + path + "'" : path) + ") words='" + words_of(command) + "' ;;\n";
  });
  return "_callgate() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  local path=${COMP_WORDS[1]} words=\n"
         "  [ \"$COMP_CWORD\" -gt 2 ] && case \"${COMP_WORDS[1]} ${COMP_WORDS[2]}\" in\n"
         "    " +
         paths +
         ") path=\"$path ${COMP_WORDS[2]}\" ;;\n"
         "  esac\n"
         "  case \"$path $before\" in\n" +
         values +
         "  esac\n"
         "  [ -n \"$words\" ] || case $path in\n" +
         words + "  esac\n  [ \"$COMP_CWORD\" -eq 1 ] && words='" + words_of(root) +
         "'\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "  [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- \"$word\"))\n}\n"
         "complete -o filenames -F _callgate callgate\n";
}

std::string fish_option(const CLI::App& command, const CLI::Option& option,
                        const std::string& name) {
  std::string out =
      "complete -c callgate -n '__fish_seen_subcommand_from " + command.get_name() + "' -l " + name;
  const std::string values = joined_words(values_of(option));
  if (!values.empty()) out += " -x -a '" + values + "'";
  return out + "\n";
}

std::string fish_script(const CLI::App& root) {
  std::string out;
  for (const CLI::App* sub : commands_of(root)) {
    out += "complete -c callgate -n __fish_use_subcommand -f -a " + sub->get_name() + " -d '" +
           sub->get_description() + "'\n";
  }
  visit_commands(root, [&](const std::string&, const CLI::App& command) {
    for (const CLI::Option* option : shown_options(command)) {
      for (const std::string& name : option->get_lnames())
        out += fish_option(command, *option, name);
    }
  });
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
