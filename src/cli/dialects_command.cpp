#include <algorithm>
#include <iostream>
#include <memory>

#include "callgate/dialect.h"
#include "cli/commands.h"
#include "cli/dialect_choice.h"
#include "json/writer.h"

namespace callgate::cli {
namespace {

struct GoldenCount {
  std::string_view dialect;
  int cases;
};
constexpr GoldenCount kGoldenCounts[] = {
#include "golden_counts.inc"
};

int golden_cases(std::string_view dialect) {
  for (const GoldenCount& count : kGoldenCounts) {
    if (count.dialect == dialect) return count.cases;
  }
  return 0;
}

std::string joined(std::span<const std::string_view> words) {
  std::string out;
  for (const std::string_view word : words) {
    if (!out.empty()) out += ", ";
    out += word;
  }
  return out;
}

void print_json() {
  std::string out = "[";
  for (const Dialect* dialect : dialect::all()) {
    if (out.size() > 1) out += ",";
    json::ObjectWriter object(out);
    object.string("name", dialect->name);
    object.string("spec", dialect->spec);
    std::string& list = object.key("models");
    list += '[';
    for (std::size_t i = 0; i < dialect->models.size(); ++i) {
      if (i > 0) list += ',';
      json::append_string(list, dialect->models[i]);
    }
    list += ']';
    object.integer("golden_cases", golden_cases(dialect->name));
    object.string("commit", dialect->commit == Commit::eager ? "eager" : "whole_call");
    object.close();
  }
  std::cout << out << "]\n";
}

void print_table() {
  std::size_t width = 0;
  for (const Dialect* dialect : dialect::all()) width = std::max(width, dialect->name.size());
  for (const Dialect* dialect : dialect::all()) {
    std::cout << dialect->name << std::string(width + 2 - dialect->name.size(), ' ')
              << dialect->spec;
    if (!dialect->models.empty()) std::cout << "  [" << joined(dialect->models) << "]";
    std::cout << "  " << golden_cases(dialect->name) << " golden cases\n";
  }
}

}  // namespace

void add_dialects(CLI::App& app, int& exit_code) {
  struct Arguments {
    bool json = false;
    std::string model;
  };
  CLI::App* command =
      app.add_subcommand("dialects", "List the dialects that models write calls in");
  auto arguments = std::make_shared<Arguments>();
  command->add_flag("--json", arguments->json, "for machines");
  command->add_option("--for", arguments->model,
                      "say which dialect a model of this name is read as, and why");
  command->callback([arguments, &exit_code] {
    if (!arguments->model.empty()) {
      const dialect::ModelChoice choice = dialect::choose_for(arguments->model);
      if (arguments->json) {
        std::cout << print_choice_json(arguments->model, choice) << '\n';
      } else {
        std::cout << print_choice(arguments->model, choice);
      }
    } else if (arguments->json) {
      print_json();
    } else {
      print_table();
    }
    exit_code = 0;
  });
}

}  // namespace callgate::cli
