#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

#include "callgate/version.h"
#include "chat/tool_json.h"
#include "cli/commands.h"
#include "cli/input_file.h"
#include "cli/own_dialects.h"
#include "replay/dialect_survey.h"
#include "replay/replay_case.h"
#include "replay/replay_golden.h"

namespace callgate::cli {
namespace {

using replay::Explanation;
using replay::GoldenFile;
using replay::kAllDialects;
using replay::parse_split;
using replay::Reading;
using replay::ReplayCase;
using replay::Replayed;
using replay::Split;
using replay::survey_dialects;
using replay::to_replay_case;

namespace fs = std::filesystem;

constexpr std::size_t kLargeCase = 32 * 1024;

struct ReplayArguments {
  std::string file;
  std::size_t round = 0;
  std::string wire = "openai_chat";
  std::string request;
  std::string tools;
  std::string protocol;
  std::string dialect;
  std::vector<std::string> sets;
  std::string split = "original";
  std::string emit = "client";
  std::string name;
  bool check = false;
  bool explain = false;
  std::string config;
  bool golden = false;
  std::string golden_folder;
};

int refuse_replay(const Error& error) {
  std::cerr << "callgate replay: " << error.message << '\n';
  return 2;
}

Result<ReplayCase> load(const ReplayArguments& arguments, const dialect::Catalog& dialects) {
  auto text = read_input(arguments.file);
  if (!text) return tl::unexpected(text.error());
  if (server::looks_like_capture(*text)) {
    auto record = server::read_capture(*text);
    if (record) return to_replay_case(*record, arguments.round, &dialects);
    record.error().message = arguments.file + ": " + record.error().message;
    return tl::unexpected(record.error());
  }
  Result<std::string> request = std::string();
  if (!arguments.request.empty()) request = read_input(arguments.request);
  if (!request) return tl::unexpected(request.error());
  auto made = to_replay_case(*text, arguments.wire, *request);
  if (made) made->name = fs::path(arguments.file).stem().string();
  return made;
}

// What the command line changes about the turn.
Result<void> change(const ReplayArguments& arguments, const dialect::Catalog& dialects,
                    ReplayCase& input) {
  if (!arguments.tools.empty()) {
    auto text = read_input(arguments.tools);
    if (!text) return tl::unexpected(text.error());
    auto tools = read_tools(*text);
    if (!tools) return tl::unexpected(tools.error());
    input.request.tools = std::move(*tools);
  }
  if (!arguments.dialect.empty() && arguments.dialect != kAllDialects) {
    if (auto done = set_dialect(input, arguments.dialect, &dialects); !done) return done;
  }
  if (!arguments.protocol.empty()) {
    if (auto done = set_protocol(input, arguments.protocol); !done) return done;
  }
  for (const std::string& set : arguments.sets) {
    if (auto done = set_option(input, set); !done) return done;
  }
  return {};
}

int check(const ReplayCase& input, const Replayed& replayed, bool original_cuts) {
  if (input.version.empty()) return refuse_replay({.message = "--check needs a capture"});
  if (input.rounds > 0) {
    return refuse_replay({.message = "--check: the client of a tool loop got an answer of " +
                                     std::to_string(input.rounds) +
                                     " rounds and of tools, which are not run again"});
  }
  const auto difference = first_difference(input, replayed, original_cuts);
  if (!difference) {
    std::cout << "the same " << input.captured.size() << " bytes\n";
    return 0;
  }
  std::cout << *difference << '\n';
  if (input.version != kVersion) {
    std::cout << "captured by callgate " << input.version << ", this is " << kVersion << '\n';
  }
  return 1;
}

int write_golden(const ReplayArguments& arguments, const ReplayCase& input) {
  const auto files = to_golden(input);
  if (!files) return refuse_replay(files.error());
  std::string name = arguments.name.empty() ? input.name : arguments.name;
  // Names of cases are names of tests: a dot would make it an expectation of another case.
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  const fs::path folder = arguments.golden_folder.empty()
                              ? fs::path("golden") / "wire" / input.options.wire
                              : fs::path(arguments.golden_folder);
  std::error_code code;
  fs::create_directories(folder, code);
  for (const GoldenFile& file : *files) {
    const fs::path path = folder / (name + file.suffix);
    std::ofstream out(path, std::ios::binary);
    out << file.text;
    out.close();
    if (!out) return refuse_replay({.message = "cannot write " + path.string()});
    std::cout << path.string() << '\n';
  }
  if (const std::size_t size = files->front().text.size(); size > kLargeCase) {
    std::cerr << "callgate replay: the case has " << size
              << " bytes; its test cuts it at every one of them, a shorter turn is a better case\n";
  }
  return 0;
}

int survey(ReplayCase input, const std::optional<Split>& split) {
  input.options.dialect_is_default = false;
  input.options.dialect = nullptr;
  const std::string said = run_replay(input, split).text;
  std::cout << to_text(survey_dialects(said, [&](const Dialect& dialect, Explainer& explain) {
    input.options.dialect = &dialect;
    Replayed replayed = run_replay(input, split, &explain);
    return Reading{.calls = std::move(replayed.text_calls), .text_bytes = replayed.text.size()};
  }));
  return 0;
}

int run(const ReplayArguments& arguments) {
  std::optional<Split> split;
  if (arguments.split != "original") {
    const auto parsed = parse_split(arguments.split);
    if (!parsed) return refuse_replay(parsed.error());
    split = *parsed;
  }
  const auto dialects = dialects_of(arguments.config);
  if (!dialects) return refuse_replay(dialects.error());
  auto input = load(arguments, *dialects);
  if (!input) return refuse_replay(input.error());
  if (auto changed = change(arguments, *dialects, *input); !changed) {
    return refuse_replay(changed.error());
  }
  if (arguments.golden) return write_golden(arguments, *input);
  if (arguments.dialect == kAllDialects) return survey(std::move(*input), split);
  Explanation explanation(input->options.dialect == nullptr ? "native"
                                                            : input->options.dialect->name);
  const Replayed replayed = run_replay(*input, split, arguments.explain ? &explanation : nullptr);
  if (arguments.check) return check(*input, replayed, !split);
  const std::string& text = arguments.emit == "events"    ? replayed.events
                            : arguments.emit == "summary" ? replayed.summary
                                                          : replayed.client;
  std::fwrite(text.data(), 1, text.size(), stdout);
  const bool written = std::fflush(stdout) == 0;
  if (arguments.explain) std::cerr << explanation.lines(replayed.text_calls.size());
  return written ? 0 : 2;
}

}  // namespace

void add_replay(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("replay", "Send captured upstream bytes through again");
  auto arguments = std::make_shared<ReplayArguments>();
  command
      ->add_option(
          "file", arguments->file,
          "a capture, or a plain file of upstream bytes (.sse, .body); - is standard input")
      ->required();
  command->add_flag(
      "--check", arguments->check,
      "compare with what the client got; exit code 1 and the first difference if not");
  CLI::Option* golden = command->add_option(
      "--golden", arguments->golden_folder,
      "write a golden case into this folder; golden/wire/WIRE when no folder is given");
  golden->expected(0, 1)->type_name("[FOLDER]");
  command->add_option("--name", arguments->name,
                      "name of the golden case; else the request's id or the file's name");
  command->add_option("--emit", arguments->emit, "client, events or summary")
      ->check(CLI::IsMember({"client", "events", "summary"}))
      ->capture_default_str();
  command
      ->add_option("--split", arguments->split,
                   "cut the upstream's bytes: original, whole, byte, N, or random:SEED")
      ->capture_default_str();
  command->add_option("--round", arguments->round,
                      "capture of a tool loop: which turn of the model, from 1; else the last");
  command->add_option("--protocol", arguments->protocol, "answer in this protocol instead");
  command->add_option(
      "--dialect", arguments->dialect,
      "read the text in this dialect instead, a name from `callgate dialects`, or all: "
      "which of them find a call?");
  command->add_option("--config", arguments->config, kDialectConfigHelp);
  command->add_flag("--explain", arguments->explain,
                    "say on standard error why markup stayed text");
  command->add_option("--set", arguments->sets, "change a policy: name=value (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--tools", arguments->tools, "JSON file: list of declared tools instead");
  command
      ->add_option("--request", arguments->request,
                   "plain file: the client's request as Chat Completions JSON")
      ->check(CLI::ExistingFile);
  command->add_option("--wire", arguments->wire, "plain file: what the upstream speaks")
      ->capture_default_str();
  command->footer(
      "Example: callgate replay req_1.capture.jsonl --check\n"
      "See docs/capture.md.");
  command->callback([arguments, golden, &exit_code] {
    arguments->golden = golden->count() > 0;
    exit_code = run(*arguments);
  });
}

}  // namespace callgate::cli
