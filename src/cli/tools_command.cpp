#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "base/url_query.h"
#include "cli/commands.h"
#include "cli/gateway_client.h"
#include "cli/log_text.h"
#include "json/each.h"
#include "json/member.h"
#include "json/writer.h"

namespace callgate::cli {
namespace {

constexpr std::string_view kToolsCommand = "tools";

struct ToolsArguments {
  GatewayArguments gateway;
  std::string name;
  std::string arguments = "{}";
};

struct ToolLine {
  std::string name;
  std::string rest;
};

void print_lines(const std::vector<ToolLine>& lines) {
  std::size_t width = 0;
  for (const ToolLine& line : lines) width = std::max(width, line.name.size());
  for (const ToolLine& line : lines) {
    std::cout << line.name << std::string(width - line.name.size() + 2, ' ') << line.rest << '\n';
  }
}

void print_tools(std::string_view answer) {
  std::vector<ToolLine> lines;
  const auto text = [](std::string_view object, std::string_view name) {
    return one_line(json::member_text(object, name));
  };
  json::each_element(json::member_json(answer, "servers"), [&](std::string_view server) {
    std::string rest = "mcp server  " + text(server, "state") + "  " +
                       std::string(json::member_json(server, "tools")) + " tools";
    if (!text(server, "reason").empty()) rest += "  " + text(server, "reason");
    lines.push_back({text(server, "name"), std::move(rest)});
  });
  json::each_element(json::member_json(answer, "data"), [&](std::string_view tool) {
    std::string rest = text(tool, "kind") + "  " + text(tool, "state");
    const std::string_view error = json::member_json(tool, "last_error");
    if (!text(error, "message").empty()) {
      rest += "  last error " + text(error, "at") + ": " + text(error, "message");
    }
    lines.push_back({text(tool, "name"), std::move(rest)});
  });
  if (lines.empty()) std::cout << "the gateway has no tools\n";
  print_lines(lines);
}

int list_tools(const ToolsArguments& arguments) {
  auto client = GatewayClient::open(arguments.gateway.where(), kToolsCommand);
  if (!client) return report_refusal(kToolsCommand, client.error());
  const auto answer = (*client)->get("/v1/tools");
  if (!answer) return report_refusal(kToolsCommand, answer.error());
  if (arguments.gateway.as_json) {
    std::cout << *answer << '\n';
  } else {
    print_tools(*answer);
  }
  return 0;
}

int show_tool(const ToolsArguments& arguments) {
  auto client = GatewayClient::open(arguments.gateway.where(), kToolsCommand);
  if (!client) return report_refusal(kToolsCommand, client.error());
  const auto answer = (*client)->get("/v1/tools");
  if (!answer) return report_refusal(kToolsCommand, answer.error());
  std::string found;
  json::each_element(json::member_json(*answer, "data"), [&](std::string_view tool) {
    if (json::member_text(tool, "name") == arguments.name) found = tool;
  });
  if (found.empty()) {
    std::cerr << "callgate tools: there is no tool \"" << harmless(arguments.name)
              << "\"; `callgate tools` lists all\n";
    return 1;
  }
  std::cout << (arguments.gateway.as_json ? found : harmless(pretty_json(found))) << '\n';
  return 0;
}

int run_tool(const ToolsArguments& arguments) {
  auto client = GatewayClient::open(arguments.gateway.where(), kToolsCommand);
  if (!client) return report_refusal(kToolsCommand, client.error());
  std::string body;
  json::ObjectWriter object(body);
  object.raw("arguments", arguments.arguments);
  object.close();
  const auto answer = (*client)->post("/v1/tools/" + percent_encoded(arguments.name), body);
  if (!answer) return report_refusal(kToolsCommand, answer.error());
  const bool is_error = json::member_json(*answer, "is_error") == "true";
  if (arguments.gateway.as_json) {
    std::cout << *answer << '\n';
  } else {
    (is_error ? std::cerr : std::cout) << harmless(json::member_text(*answer, "text")) << '\n';
  }
  return is_error ? 1 : 0;
}

}  // namespace

void add_tools(CLI::App& app, int& exit_code) {
  CLI::App* tools = app.add_subcommand(
      "tools", "List the tools that a gateway runs and how they are; run one as a test");
  auto arguments = std::make_shared<ToolsArguments>();
  add_gateway_options(*tools, arguments->gateway);
  tools->footer(
      "Without a command it lists them. Needs a key with admin = true, unless the gateway is open "
      "on this machine.\n"
      "Example: callgate tools run lookup_order '{\"id\": \"ORD-42\"}'");
  tools->require_subcommand(0, 1);
  tools->callback([tools, arguments, &exit_code] {
    if (tools->get_subcommands().empty()) exit_code = list_tools(*arguments);
  });
  CLI::App* show = tools->add_subcommand("show", "Show one tool with its schema");
  show->fallthrough();
  show->add_option("name", arguments->name, "its name")->required();
  show->callback([arguments, &exit_code] { exit_code = show_tool(*arguments); });
  CLI::App* run = tools->add_subcommand("run", "Run one tool, as a test");
  run->fallthrough();
  run->add_option("name", arguments->name, "its name")->required();
  run->add_option("arguments", arguments->arguments, "a JSON object")->capture_default_str();
  run->footer(
      "Prints the text that a model would get. The exit code is 1 if the tool failed. Hooks are "
      "asked as for any call.");
  run->callback([arguments, &exit_code] { exit_code = run_tool(*arguments); });
}

}  // namespace callgate::cli
