#include <algorithm>
#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/smoke_advice.h"
#include "cli/smoke_report.h"
#include "json/writer.h"
#include "net/digest.h"

namespace callgate::cli {
namespace {

constexpr int kPassed = 0;
constexpr int kFailed = 1;
constexpr int kCannotRun = 2;

struct SmokeArguments {
  SmokeOptions options;
  SmokeRecord record;
  std::string key;
  std::string leave;
  double seconds = 60;
  bool as_json = false;
};

int give_up(const SmokeArguments& arguments, const std::string& message,
            const std::string& direction) {
  const std::string sentence = direction.empty() ? message : message + "\n" + direction;
  std::cerr << "callgate smoke: " << sentence << '\n';
  if (arguments.as_json) {
    std::string out;
    json::ObjectWriter object(out);
    object.boolean("passed", false);
    object.string("error", message);
    object.string("advice", direction);
    object.close();
    std::cout << out << '\n';
  }
  return kCannotRun;
}

// What to do about a server that could not be asked.
std::string direction_of(const Error& error) {
  const auto says = [&error](std::string_view words) {
    return error.message.find(words) != std::string::npos;
  };
  if (says("connect: ") || says("(connect)")) {
    return "Nothing listens there. Start the server, or correct --url. `callgate serve --demo` "
           "starts "
           "one to try.";
  }
  if (says("resolve")) return "The name is not known. Correct --url.";
  if (says("TLS")) {
    return "Correct --url (http:// or https://?), or accept any certificate with --insecure.";
  }
  if (error.code == ErrorCode::timed_out) return "Wait longer with --timeout SECONDS.";
  if (error.code == ErrorCode::invalid_request) return "";
  return "Something listens there that does not speak HTTP as a model server does. Correct --url.";
}

// Answers that say nothing about streams.
std::string direction_of_refusal(const SmokeAnswer& answer, const std::string& model) {
  const int status = answer.status;
  if (status == 401 || status == 403) return "Give a valid key: --key KEY, or OPENAI_API_KEY.";
  if (status == 404) return "Correct --url (it usually ends with /v1) or --model.";
  return advice_on_refusal(status, answer.bytes, model);
}

bool has_failed(const std::vector<contract::RuleVerdict>& verdicts, std::string_view rule) {
  return std::any_of(verdicts.begin(), verdicts.end(), [&](const contract::RuleVerdict& verdict) {
    return verdict.rule == rule && verdict.verdict == contract::Verdict::fail;
  });
}

// A call that stayed text, if there is one.
void recognise(SmokeReport& report, const std::vector<SmokeAnswer>& answers,
               std::string_view wire) {
  for (const SmokeAnswer& answer : answers) {
    if (!has_failed(answer.verdicts, "call_made") && !has_failed(answer.verdicts, "no_markup")) {
      continue;
    }
    report.dialects = recognise_calls(answer.bytes, report.model, wire);
    report.advice = advice_on_text(report.dialects);
    if (!report.advice.empty()) return;
  }
}

std::string check_arguments(const SmokeArguments& arguments) {
  if (arguments.options.url.empty()) return "--url is missing, such as http://127.0.0.1:8080/v1";
  if (arguments.options.question.model.empty()) return "--model is missing";
  return "";
}

std::vector<std::string> hashes_of(const std::vector<SmokeAnswer>& answers) {
  std::vector<std::string> hashes;
  for (const SmokeAnswer& answer : answers) hashes.push_back(net::sha256_hex(answer.transcript));
  return hashes;
}

int report_run(const SmokeArguments& arguments, const SmokeRun& run) {
  const SmokeAnswer& first = run.answers.front();
  const std::string direction = direction_of_refusal(first, arguments.options.question.model);
  if (!direction.empty()) return give_up(arguments, first.verdicts.front().seen, direction);
  const std::vector<std::string> hashes = hashes_of(run.answers);
  SmokeReport report{.url = arguments.options.url,
                     .model = arguments.options.question.model,
                     .hash = hashes.front(),
                     .raw_hash = net::sha256_hex(first.bytes),
                     .verdicts = merge_verdicts(run.answers)};
  if (run.after_leaving) report.verdicts.push_back(*run.after_leaving);
  Result<SmokeKept> kept = keep_record(arguments.record, first.bytes, hashes, report.passed());
  if (!kept) return give_up(arguments, kept.error().message, "Choose another folder with --out.");
  report.file = std::move(kept->file);
  report.verdicts.push_back(std::move(kept->verdict));
  recognise(report, run.answers, contract::smoke_wire(arguments.options.question));
  for (const SmokeAnswer& answer : run.answers) report.times.push_back(answer.times);
  std::cout << (arguments.as_json ? print_json(report) : print_text(report)) << std::flush;
  return report.passed() ? kPassed : kFailed;
}

int run(SmokeArguments& arguments) {
  using Leave = SmokeOptions::Leave;
  if (const std::string fault = check_arguments(arguments); !fault.empty()) {
    return give_up(arguments, fault, "`callgate smoke --help` lists the options.");
  }
  SmokeOptions& options = arguments.options;
  options.key = Secret(arguments.key);
  options.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(arguments.seconds * 1000));
  if (options.question.temperature == "none") options.question.temperature.clear();
  if (!arguments.leave.empty()) {
    options.leave = arguments.leave == "end" ? Leave::call_whole : Leave::call_begun;
  }
  const bool keeps = arguments.record.update || !arguments.record.name.empty();
  if (arguments.record.folder.empty() && keeps) arguments.record.folder = "smoke";
  arguments.record.name =
      to_file_name(arguments.record.name.empty() ? options.question.model : arguments.record.name);
  const Result<SmokeRun> result = run_smoke(options);
  if (!result) return give_up(arguments, result.error().message, direction_of(result.error()));
  return report_run(arguments, *result);
}

void add_request_options(CLI::App& command, SmokeArguments& arguments) {
  SmokeOptions& options = arguments.options;
  command.add_option("--url", options.url, "base of the server: http://127.0.0.1:8080/v1");
  command.add_option("--model", options.question.model, "model to ask");
  const auto protocols = contract::contract_protocols();
  command.add_option("--protocol", options.question.protocol, "what the server speaks")
      ->check(CLI::IsMember(std::vector<std::string>(protocols.begin(), protocols.end())))
      ->option_text("chat|responses|messages|gemini|ollama [chat]");
  command.add_option("--key", arguments.key, "sent as a bearer token, never printed")
      ->envname("OPENAI_API_KEY");
  command.add_flag("--include-usage", options.question.include_usage, "ask for a usage frame");
  command.add_flag("--force-tool", options.question.force_tool,
                   "name the tool in tool_choice, not auto");
  command
      .add_option("--temperature", options.question.temperature, "a number, or none to send none")
      ->check(CLI::Number | CLI::IsMember({"none"}))
      ->option_text("NUMBER [0]");
  command.add_option("--timeout", arguments.seconds, "what one answer may take")
      ->check(CLI::Range(0.1, 86'400.0))
      ->option_text("SECONDS [60]");
  command.add_flag("--insecure", options.insecure, "accept any certificate");
}

void add_run_options(CLI::App& command, SmokeArguments& arguments) {
  command.add_option("--repeat", arguments.options.repeat, "answers; more than one prints times")
      ->check(CLI::Range(1, 100'000))
      ->option_text("N [1]");
  command
      .add_flag("--disconnect-after-first-tool{begin}", arguments.leave,
                "first leave one answer when its first call begins, or ends")
      ->check(CLI::IsMember({"begin", "end"}))
      ->option_text("[=begin|end]");
  command
      .add_option(
          "--out", arguments.record.folder,
          "keep the answer in this folder, as NAME.sse and NAME.sha256, and compare it with "
          "the last accepted one")
      ->option_text("FOLDER");
  command.add_option("--name", arguments.record.name, "name of these files; the model's if absent");
  command.add_flag("--update", arguments.record.update, "accept an answer that changed");
  command.add_flag("--json", arguments.as_json, "for machines");
}

}  // namespace

void add_smoke(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("smoke", "Check how a server streams a tool call, rule by rule");
  auto arguments = std::make_shared<SmokeArguments>();
  add_request_options(*command, *arguments);
  add_run_options(*command, *arguments);
  command->footer(
      "Exit codes: 0 every rule passed, 1 a rule failed, 2 the server could not be asked.\n"
      "docs/smoke.md lists the rules.\n"
      "Example: callgate smoke --url http://127.0.0.1:8080/v1 --model demo-tools --include-usage");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace callgate::cli
