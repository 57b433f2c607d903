#include <algorithm>
#include <array>
#include <iomanip>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "base/url_query.h"
#include "cli/commands.h"
#include "cli/log_source.h"
#include "json/reader.h"

namespace callgate::cli {
namespace {

struct UsageArguments {
  LogPlace place;
  std::string key;
  std::string group = "day";
  std::string since;
  std::string until;
  std::string key_name;
  bool as_json = false;
};

int give_up_usage(const Error& error) {
  std::cerr << "callgate usage: " << error.message << '\n';
  if (error.status == 401) std::cerr << "Give a key: --key KEY, or CALLGATE_KEY.\n";
  return 1;
}

std::string usage_query(const UsageArguments& arguments) {
  std::string query = "group=" + percent_encoded(arguments.group);
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) query.append("&").append(name).append("=") += percent_encoded(value);
  };
  add("since", arguments.since);
  add("until", arguments.until);
  add("key", arguments.key_name);
  return query;
}

// The members of each row in their order; `group` says again what others say.
std::vector<std::vector<std::string>> read_usage_rows(std::string_view json) {
  std::vector<std::vector<std::string>> lines;
  json::Reader in(json);
  for (std::string_view name; in.next_member(name);) {
    if (name != "data") {
      in.skip();
      continue;
    }
    while (in.next_element()) {
      std::vector<std::string> names;
      std::vector<std::string> line;
      for (std::string_view member; in.next_member(member);) {
        const bool shown = member != "group";
        if (shown) names.emplace_back(member);
        std::string value(in.peek() == json::Kind::string ? in.string() : in.number());
        if (shown) line.push_back(std::move(value));
      }
      if (lines.empty()) lines.push_back(std::move(names));
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

void print_columns(const std::vector<std::vector<std::string>>& lines) {
  std::vector<std::size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      std::cout << (i == 0 ? "" : "  ") << std::left << std::setw(static_cast<int>(widths[i]))
                << line[i];
    }
    std::cout << '\n';
  }
}

int show_usage(const UsageArguments& arguments) {
  const auto source = open_log_source(arguments.place);
  if (!source) return give_up_usage(source.error());
  const auto answer = (*source)->ask("/v1/usage", usage_query(arguments));
  if (!answer) return give_up_usage(answer.error());
  if (arguments.as_json) {
    std::cout << *answer << '\n';
    return 0;
  }
  const auto lines = read_usage_rows(*answer);
  if (lines.empty()) std::cerr << "nothing was used in that time\n";
  print_columns(lines);
  return 0;
}

}  // namespace

void add_usage(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("usage", "Sum up requests, tokens and cost");
  auto arguments = std::make_shared<UsageArguments>();
  command
      ->add_option("--group", arguments->group,
                   "hour, day, model, key, upstream or tool, or two of them: key,model")
      ->capture_default_str();
  command->add_option("--since", arguments->since,
                      "from then on: 2026-11-16, or so long ago: 2h, 7d; 30 days when absent");
  command->add_option("--until", arguments->until, "before then");
  command->add_option("--key-name", arguments->key_name, "of that key alone");
  command->add_option("--url", arguments->place.url, "the gateway")
      ->envname("CALLGATE_URL")
      ->capture_default_str();
  command->add_option("--key", arguments->key, "a key, never printed; without admin: its own usage")
      ->envname("CALLGATE_KEY");
  command->add_option("--store", arguments->place.store,
                      "read a store instead of a gateway: sqlite:PATH or postgresql://...");
  command->add_flag("--insecure", arguments->place.insecure, "accept any certificate");
  command->add_flag("--json", arguments->as_json, "for machines: what the API answers");
  command->footer(
      "The cost is that of requests whose model has a [[price]]; `unpriced_requests` counts the "
      "others.\n"
      "Example: callgate usage --group key,model --since 7d");
  command->callback([arguments, &exit_code] {
    arguments->place.key = Secret(arguments->key);
    exit_code = show_usage(*arguments);
  });
}

}  // namespace callgate::cli
