#include <cstdio>
#include <iostream>
#include <memory>

#include "chat/tool_json.h"
#include "cli/commands.h"
#include "cli/input_file.h"
#include "cli/own_dialects.h"
#include "replay/dialect_survey.h"
#include "replay/parse_case.h"

namespace callgate::cli {
namespace {

using replay::BatchOptions;
using replay::Emit;
using replay::Explanation;
using replay::kAllDialects;
using replay::parse_split;
using replay::ParseCase;
using replay::Split;

struct ParseArguments {
  std::string dialect = "auto";
  std::string tools;
  std::string split = "whole";
  std::string emit = "message";
  std::string file;
  bool jsonl = false;
  bool reasoning_open = false;
  bool explain = false;
  std::string config;
  std::string commit;
};

int refuse_input(const Error& error) {
  std::cerr << "callgate parse: " << error.message << '\n';
  return 2;
}

Emit emit_of(std::string_view word) {
  if (word == "events") return Emit::events;
  return word == "sse" ? Emit::sse : Emit::message;
}

int run_batch(const BatchOptions& options) {
  std::string line;
  std::string out;
  while (std::getline(std::cin, line)) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    out += answer_line(line, options) + '\n';
    // One write per full buffer: a program on the other end of a pipe still gets lines in order.
    if (out.size() > (std::size_t{1} << 16) || std::cin.rdbuf()->in_avail() == 0) {
      std::fwrite(out.data(), 1, out.size(), stdout);
      std::fflush(stdout);
      out.clear();
    }
  }
  std::fwrite(out.data(), 1, out.size(), stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
}

int run_single(const ParseArguments& arguments, const Split& split,
               const dialect::Catalog& dialects) {
  ParseCase input;
  input.dialects = &dialects;
  input.dialect = arguments.dialect;
  input.reasoning_open = arguments.reasoning_open;
  if (!arguments.commit.empty()) {
    input.commit = arguments.commit == "eager" ? Commit::eager : Commit::whole_call;
  }
  if (!arguments.tools.empty()) {
    const auto text = read_input(arguments.tools);
    if (!text) return refuse_input(text.error());
    auto tools = read_tools(*text);
    if (!tools) return refuse_input(tools.error());
    input.tools = std::move(*tools);
  }
  auto text = read_input(arguments.file);
  if (!text) return refuse_input(text.error());
  input.text = std::move(*text);
  if (arguments.dialect == kAllDialects) {
    std::cout << to_text(survey_case(std::move(input), split));
    return 0;
  }
  Explanation explanation(input.dialect);
  const auto log = run_case(input, split, arguments.explain ? &explanation : nullptr);
  if (!log) return refuse_input(log.error());
  std::cout << print_result(input, *log, emit_of(arguments.emit),
                            arguments.explain ? &explanation : nullptr)
            << std::endl;
  if (arguments.explain) std::cerr << explanation.lines(log->calls().size());
  return 0;
}

int run(const ParseArguments& arguments) {
  const auto split = parse_split(arguments.split);
  if (!split) return refuse_input(split.error());
  const auto dialects = dialects_of(arguments.config);
  if (!dialects) return refuse_input(dialects.error());
  if (arguments.jsonl) {
    return run_batch({.split = *split,
                      .emit = emit_of(arguments.emit),
                      .explain = arguments.explain,
                      .all_dialects = arguments.dialect == kAllDialects,
                      .dialects = &*dialects});
  }
  return run_single(arguments, *split, *dialects);
}

}  // namespace

void add_parse(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("parse", "Turn model text into calls, text and reasoning");
  auto arguments = std::make_shared<ParseArguments>();
  command
      ->add_option("--dialect", arguments->dialect,
                   "a name from `callgate dialects`, or all: which of them find a call?")
      ->capture_default_str();
  command->add_option("--config", arguments->config, kDialectConfigHelp);
  command->add_option("--tools", arguments->tools, "JSON file: list of declared tools");
  command->add_option("--split", arguments->split, "cut the text: whole, byte, N, or random:SEED")
      ->capture_default_str();
  command->add_option("--emit", arguments->emit, "message, events or sse")
      ->check(CLI::IsMember({"message", "events", "sse"}))
      ->capture_default_str();
  command->add_option("--commit", arguments->commit, "eager or whole_call")
      ->check(CLI::IsMember({"eager", "whole_call"}));
  command->add_flag("--reasoning-open", arguments->reasoning_open,
                    "the prompt already opened reasoning");
  command->add_flag("--explain", arguments->explain,
                    "say on standard error, and in the result, why markup stayed text");
  command->add_flag("--jsonl", arguments->jsonl,
                    "one JSON case per line on stdin, one result per line on stdout");
  command->add_option("file", arguments->file, "model text; standard input when absent");
  command->footer(
      "Example: printf '<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>' | callgate parse "
      "--dialect hermes");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace callgate::cli
