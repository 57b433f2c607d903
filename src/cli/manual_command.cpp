#include <iostream>
#include <memory>
#include <string>
#include <string_view>

#include "callgate/version.h"
#include "cli/commands.h"
#include "cli/option_values.h"

namespace callgate::cli {
namespace {

// `--listen TEXT`, or `file` for an argument without a dash.
std::string shown_name(const CLI::Option& option) {
  std::string name = option.get_name(option.get_positional(), true);
  const std::string type = option.get_type_name();
  const bool takes_value = option.get_items_expected_max() > 0 && !option.get_positional();
  if (takes_value) name += " " + type.substr(0, type.find(':'));
  return name;
}

// What an option means, with its default and its values.
std::string shown_meaning(const CLI::Option& option) {
  std::string text = option.get_description();
  const std::vector<std::string> values = values_of(option);
  if (!values.empty() && values.size() <= 8) {
    text += text.empty() ? "one of " : "; one of ";
    for (std::size_t i = 0; i < values.size(); ++i) text += (i == 0 ? "" : ", ") + values[i];
  }
  if (!option.get_default_str().empty()) text += " (default: " + option.get_default_str() + ")";
  if (option.get_required()) text += " (required)";
  return text;
}

// What stands below a command's options. Commands without words of their own have their parent's.
std::string own_footer(const CLI::App& command) {
  const std::string& footer = command.get_footer();
  return footer == command.get_parent()->get_footer() ? "" : footer;
}

// Text of a manual page: a line must not begin with a dot, a backslash must be doubled, a dash is a minus sign.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      if (c == '.' && (out.empty() || out.back() == '\n')) out += "\\&";
      out += c;
    }
  }
  return out;
}

void append_man_command(std::string& out, const CLI::App& command, const std::string& path) {
  out += ".SS callgate " + roff(path) + "\n" + roff(command.get_description()) + ".\n";
  for (const CLI::Option* option : shown_options(command)) {
    if (option->check_lname("help")) continue;
    out += ".TP\n\\fB" + roff(shown_name(*option)) + "\\fR\n" + roff(shown_meaning(*option)) + "\n";
  }
  const std::string footer = own_footer(command);
  if (!footer.empty()) out += ".PP\n" + roff(footer) + "\n";
  for (const CLI::App* sub : commands_of(command)) {
    append_man_command(out, *sub, path + " " + sub->get_name());
  }
}

std::string man_page(const CLI::App& root) {
  std::string out =
      std::string(".TH CALLGATE 1 \"\" \"callgate ") + kVersion +
      "\" \"User Commands\"\n.SH NAME\ncallgate \\- streaming tool\\-call gateway\n"
      ".SH SYNOPSIS\n.B callgate\n\\fICOMMAND\\fR [\\fIOPTION\\fR...]\n"
      ".SH DESCRIPTION\n"
      "Whatever way a model writes its tool calls, clients get clean calls in their own "
      "protocol, as they stream.\n"
      ".SH COMMANDS\n";
  for (const CLI::App* command : commands_of(root)) {
    append_man_command(out, *command, command->get_name());
  }
  return out +
         ".SH FILES\n.TP\n.I /etc/callgate/callgate.toml\nThe configuration of the system's "
         "gateway, "
         "see \\fBcallgate.toml\\fR(5).\n"
         ".SH SEE ALSO\n\\fBcallgate.toml\\fR(5)\n";
}

// A cell of a table: a bar would end it.
std::string table_cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

void append_markdown_command(std::string& out, const CLI::App& command, const std::string& path) {
  out += "\n## callgate " + path + "\n\n" + command.get_description() + ".\n";
  bool first = true;
  for (const CLI::Option* option : shown_options(command)) {
    if (option->check_lname("help")) continue;
    if (first) out += "\n| option | meaning |\n|---|---|\n";
    first = false;
    out += "| `" + table_cell(shown_name(*option)) + "` | " + table_cell(shown_meaning(*option)) +
           " |\n";
  }
  const std::string footer = own_footer(command);
  if (!footer.empty()) out += "\n" + footer + "\n";
  for (const CLI::App* sub : commands_of(command)) {
    append_markdown_command(out, *sub, path + " " + sub->get_name());
  }
}

std::string markdown_page(const CLI::App& root) {
  std::string out =
      "# Commands\n\nYou want to know what a command does and which options it has. This page is "
      "what "
      "`callgate manual --format markdown` prints.\n";
  for (const CLI::App* command : commands_of(root)) {
    append_markdown_command(out, *command, command->get_name());
  }
  return out;
}

}  // namespace

void add_manual(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("manual", "Print the reference of all commands");
  auto format = std::make_shared<std::string>("man");
  command->add_option("--format", *format, "man for a manual page, markdown for docs/cli.md")
      ->check(CLI::IsMember({"man", "markdown"}))
      ->capture_default_str();
  command->callback([&app, format, &exit_code] {
    std::cout << (*format == "man" ? man_page(app) : markdown_page(app));
    exit_code = 0;
  });
}

}  // namespace callgate::cli
