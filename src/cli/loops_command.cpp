#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "base/url_query.h"
#include "cli/commands.h"
#include "cli/gateway_client.h"
#include "cli/log_text.h"
#include "json/each.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "net/unix_time.h"

namespace callgate::cli {
namespace {

constexpr std::string_view kLoopsCommand = "loops";

struct LoopsArguments {
  GatewayArguments gateway;
  std::string id;
  std::int64_t run = 0;
  std::string reason;
};

// loop_u5mE  m  key dev  12 s  1 round, 2 calls  running lookup_order
//   run 3 waits for approval: refund {"id":"ORD-42"}
std::string print_loop(std::string_view loop, std::int64_t now) {
  const auto text = [&](std::string_view name) { return one_line(json::member_text(loop, name)); };
  const auto number = [&](std::string_view name) {
    return std::string(json::member_json(loop, name));
  };
  std::string line = text("id") + "  " + text("model");
  if (!text("key").empty()) line += "  key " + text("key");
  const std::int64_t started = std::atoll(number("started_at").c_str());
  line += "  " + std::to_string((now - started) / 1000) + " s";
  line += "  rounds " + number("rounds") + "  calls " + number("calls");
  json::each_element(json::member_json(loop, "running"), [&](std::string_view tool) {
    line += "  running " + one_line(json::Reader(tool).string());
  });
  line += '\n';
  json::each_element(json::member_json(loop, "approvals"), [&](std::string_view wait) {
    line += "  run " + std::string(json::member_json(wait, "run")) +
            " waits for approval: " + one_line(json::member_text(wait, "tool")) + " " +
            one_line(json::member_text(wait, "arguments")) + "\n";
  });
  return line;
}

int list_loops(const LoopsArguments& arguments) {
  auto client = GatewayClient::open(arguments.gateway.where(), kLoopsCommand);
  if (!client) return report_refusal(kLoopsCommand, client.error());
  const auto answer = (*client)->get("/v1/loops");
  if (!answer) return report_refusal(kLoopsCommand, answer.error());
  if (arguments.gateway.as_json) {
    std::cout << *answer << '\n';
    return 0;
  }
  const std::int64_t now = net::unix_ms();
  bool any = false;
  json::each_element(json::member_json(*answer, "data"), [&](std::string_view loop) {
    any = true;
    std::cout << print_loop(loop, now);
  });
  if (!any) std::cout << "no tool loop is running\n";
  return 0;
}

int steer_loop(const LoopsArguments& arguments, std::string_view action) {
  auto client = GatewayClient::open(arguments.gateway.where(), kLoopsCommand);
  if (!client) return report_refusal(kLoopsCommand, client.error());
  std::string body;
  json::ObjectWriter object(body);
  object.string("action", action);
  if (action != "cancel") object.integer("run", arguments.run);
  if (!arguments.reason.empty()) object.string("reason", arguments.reason);
  object.close();
  const auto answer = (*client)->post("/v1/loops/" + percent_encoded(arguments.id), body);
  if (!answer) return report_refusal(kLoopsCommand, answer.error());
  if (arguments.gateway.as_json) std::cout << *answer << '\n';
  return 0;
}

}  // namespace

void add_loops(CLI::App& app, int& exit_code) {
  CLI::App* loops =
      app.add_subcommand("loops", "List the tool loops that run on a gateway; steer one");
  auto arguments = std::make_shared<LoopsArguments>();
  add_gateway_options(*loops, arguments->gateway);
  loops->footer(
      "Without a command it lists them, with the calls that wait for approval. A key sees its own "
      "loops, "
      "one with admin = true all.\n"
      "Example: callgate loops approve loop_u5mE 3");
  loops->require_subcommand(0, 1);
  loops->callback([loops, arguments, &exit_code] {
    if (loops->get_subcommands().empty()) exit_code = list_loops(*arguments);
  });
  const auto add = [&](const char* name, const char* help, bool of_run) {
    CLI::App* command = loops->add_subcommand(name, help);
    command->fallthrough();
    command->add_option("loop", arguments->id, "its id")->required();
    if (of_run) command->add_option("run", arguments->run, "number of the call")->required();
    command->callback([arguments, &exit_code, action = std::string(name)] {
      exit_code = steer_loop(*arguments, action);
    });
    return command;
  };
  add("approve", "Let a call that waits for approval run", true);
  add("deny", "Refuse a call that waits for approval", true)
      ->add_option("--reason", arguments->reason, "what the model is told");
  add("cancel", "End a loop at once", false);
}

}  // namespace callgate::cli
