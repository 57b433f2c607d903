#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "admin/log_json.h"
#include "base/url_query.h"
#include "cli/commands.h"
#include "cli/log_source.h"
#include "cli/log_view.h"
#include "json/writer.h"

namespace callgate::cli {
namespace {

constexpr std::size_t kPage = 200;
constexpr std::chrono::minutes kLongestRun{10};  // that tail waits for

struct LogArguments {
  LogPlace place;
  std::string key;
  bool as_json = false;
  // Names and values of the API's parameters.
  std::vector<std::pair<std::string, std::string>> filters;
  std::vector<std::string> words;
  std::string id = "last";
  std::string note;
  bool undo = false;
  std::size_t limit = 20;
  double interval = 0.5;
  bool no_follow = false;
};

int give_up(const Error& error) {
  std::cerr << "callgate log: " << error.message << '\n';
  if (error.status == 401 || error.status == 403) {
    std::cerr << "Give a key with admin = true: --key KEY, or CALLGATE_KEY.\n";
  } else if (error.message.find("connect") != std::string::npos) {
    std::cerr << "Start the gateway, correct --url, or read the store itself with --store.\n";
  }
  return 1;
}

std::string query_of(const LogArguments& arguments) {
  std::string query;
  for (const auto& [name, value] : arguments.filters) {
    if (value.empty()) continue;
    query.append(query.empty() ? "" : "&").append(name).append("=");
    query.append(percent_encoded(value));
  }
  std::string words;
  for (const std::string& word : arguments.words) words.append(words.empty() ? "" : " ") += word;
  if (!words.empty()) {
    query.append(query.empty() ? "" : "&").append("text=") += percent_encoded(words);
  }
  return query;
}

bool has_colours() { return isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr; }

// Up to `limit` rows, the latest first, over as many pages as it takes.
Result<std::vector<LogPage::Row>> fetch(LogSource& source, const std::string& query,
                                        std::size_t limit) {
  std::vector<LogPage::Row> rows;
  std::string cursor;
  do {
    std::string asked = "limit=" + std::to_string(std::min(limit - rows.size(), kPage));
    if (!query.empty()) asked += "&" + query;
    if (!cursor.empty()) asked += "&cursor=" + percent_encoded(cursor);
    auto answer = source.ask("/v1/requests", asked);
    if (!answer) return tl::unexpected(std::move(answer.error()));
    auto page = read_log_page(*answer);
    if (!page) return tl::unexpected(std::move(page.error()));
    std::move(page->rows.begin(), page->rows.end(), std::back_inserter(rows));
    cursor = page->cursor;
  } while (!cursor.empty() && rows.size() < limit);
  return rows;
}

void print_row(const LogArguments& arguments, const LogPage::Row& row) {
  std::cout << (arguments.as_json ? row.json + "\n" : print_log_line(row.json, has_colours()));
}

int search(const LogArguments& arguments, LogSource& source) {
  const auto rows = fetch(source, query_of(arguments), arguments.limit);
  if (!rows) return give_up(rows.error());
  for (const LogPage::Row& row : *rows) print_row(arguments, row);
  return 0;
}

int show(const LogArguments& arguments, LogSource& source) {
  std::string id = arguments.id;
  if (id == "last") {
    const auto rows = fetch(source, "", 1);
    if (!rows) return give_up(rows.error());
    if (rows->empty()) return give_up({.message = "the log is empty"});
    id = rows->front().id;
  }
  const auto answer = source.ask("/v1/requests/" + percent_encoded(id), "");
  if (!answer) return give_up(answer.error());
  std::cout << (arguments.as_json ? *answer + "\n" : print_log_turn(*answer, has_colours()));
  return 0;
}

int resolve(const LogArguments& arguments, LogSource& source) {
  std::string body;
  json::ObjectWriter object(body);
  object.boolean("resolved", !arguments.undo);
  if (!arguments.note.empty()) object.string("note", arguments.note);
  object.close();
  const auto answer = source.resolve("/v1/requests/" + percent_encoded(arguments.id), body);
  if (!answer) return give_up(answer.error());
  std::cout << (arguments.as_json ? *answer + "\n" : print_log_line(*answer, has_colours()));
  return 0;
}

int capture(const LogArguments& arguments, LogSource& source) {
  const auto answer = source.ask("/v1/requests/" + percent_encoded(arguments.id) + "/capture", "");
  if (!answer) return give_up(answer.error());
  std::cout << *answer << std::flush;
  return 0;
}

std::string some_time_ago(std::chrono::milliseconds span) {
  const auto now = std::chrono::system_clock::now().time_since_epoch() - span;
  return server::print_time(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

// Prints requests when they have ended, each once.
class Tail {
 public:
  Tail(const LogArguments& arguments, LogSource& source)
      : arguments_(arguments), source_(source), query_(query_of(arguments)) {}

  Result<void> begin() {
    since_ = some_time_ago(std::chrono::milliseconds(0));
    auto rows = fetch(source_, query_, arguments_.limit);
    if (!rows) return tl::unexpected(std::move(rows.error()));
    accept(*rows);
    return {};
  }

  Result<void> poll() {
    const std::string since = "since=" + percent_encoded(since_);
    auto rows = fetch(source_, query_.empty() ? since : query_ + "&" + since, 100'000);
    if (!rows) return tl::unexpected(std::move(rows.error()));
    accept(*rows);
    return {};
  }

 private:
  // Next time is asked for what is not older than the oldest that still runs.
  void accept(const std::vector<LogPage::Row>& rows) {
    std::string oldest;
    for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
      if (row->running) {
        if (oldest.empty()) oldest = row->received_at;
      } else if (printed_.emplace(row->received_at, row->id).second) {
        print_row(arguments_, *row);
      }
    }
    std::cout << std::flush;
    if (!rows.empty()) since_ = oldest.empty() ? rows.front().received_at : oldest;
    since_ = std::max(since_, some_time_ago(kLongestRun));
    std::erase_if(printed_, [this](const auto& entry) { return entry.first < since_; });
  }

  const LogArguments& arguments_;
  LogSource& source_;
  const std::string query_;
  std::string since_;  // as the API writes times: they compare as texts
  std::set<std::pair<std::string, std::string>> printed_;
};

int tail(const LogArguments& arguments, LogSource& source) {
  Tail tail(arguments, source);
  if (const auto begun = tail.begin(); !begun) return give_up(begun.error());
  while (!arguments.no_follow && std::cout) {
    std::this_thread::sleep_for(std::chrono::duration<double>(arguments.interval));
    if (const auto polled = tail.poll(); !polled) return give_up(polled.error());
  }
  return 0;
}

void add_place(CLI::App& command, LogArguments& arguments) {
  command.add_option("--url", arguments.place.url, "the gateway")
      ->envname("CALLGATE_URL")
      ->capture_default_str();
  command.add_option("--key", arguments.key, "a key with admin = true, never printed")
      ->envname("CALLGATE_KEY");
  command.add_option("--store", arguments.place.store,
                     "read a store instead of a gateway: sqlite:PATH or postgresql://...");
  command.add_flag("--insecure", arguments.place.insecure, "accept any certificate");
  command.add_flag("--json", arguments.as_json, "for machines: what the API answers, a row a line");
}

void add_filters(CLI::App& command, LogArguments& arguments) {
  constexpr std::pair<const char*, const char*> kFilters[] = {
      {"since", "received at or after: 2026-11-16T03:00:00Z, or so long ago: 90s, 15m, 2h, 7d"},
      {"until", "received before"},
      {"model", "as the client asked for it"},
      {"key-name", "name of the client's key"},
      {"session", "its session"},
      {"upstream", "which upstream answered"},
      {"tool", "a call of that tool was made"},
      {"state", "running, completed, failed, disconnected or interrupted"},
      {"finish-reason", "stop, tool_calls, length, content_filter or upstream_error"},
      {"has-tool-calls", "true or false"},
      {"error", "true, false, or a code such as upstream_failed"},
      {"missed-call", "the text looks like a call: true, false, or a dialect such as hermes"}};
  for (const auto& [name, help] : kFilters) {
    std::string parameter = name;
    std::replace(parameter.begin(), parameter.end(), '-', '_');
    if (parameter == "key_name") parameter = "key";
    command.add_option_function<std::string>(
        std::string("--") + name,
        [&arguments, parameter](const std::string& value) {
          arguments.filters.emplace_back(parameter, value);
        },
        help);
  }
  command.add_flag_callback(
      "--unresolved",
      [&arguments] {
        arguments.filters.emplace_back("error", "true");
        arguments.filters.emplace_back("resolved", "false");
      },
      "errors that are not marked as resolved");
}

using Run = int (*)(const LogArguments&, LogSource&);

void add_callback(CLI::App& command, std::shared_ptr<LogArguments> arguments, int& exit_code,
                  Run run) {
  command.callback([arguments, &exit_code, run] {
    arguments->place.key = Secret(arguments->key);
    const auto source = open_log_source(arguments->place);
    exit_code = source ? run(*arguments, **source) : give_up(source.error());
  });
}

}  // namespace

void add_log(CLI::App& app, int& exit_code) {
  CLI::App* log = app.add_subcommand("log", "Read the request log");
  log->require_subcommand(1);
  log->footer(
      "Needs a key with admin = true, unless the gateway is open on this machine. docs/log.md "
      "tells "
      "what is kept.\n"
      "Example: callgate log search --since 2h --error true");
  auto arguments = std::make_shared<LogArguments>();

  CLI::App* tail_command = log->add_subcommand("tail", "Show the latest requests, then follow");
  add_place(*tail_command, *arguments);
  add_filters(*tail_command, *arguments);
  tail_command->add_option("-n,--lines", arguments->limit, "requests to begin with")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  tail_command->add_option("--interval", arguments->interval, "seconds between two looks")
      ->check(CLI::Range(0.05, 3600.0))
      ->capture_default_str();
  tail_command->add_flag("--no-follow", arguments->no_follow, "end after the latest");
  tail_command->footer(
      "A request is shown when it has ended. One that runs for more than ten minutes is not; "
      "search "
      "finds it.");
  add_callback(*tail_command, arguments, exit_code, tail);

  CLI::App* show_command =
      log->add_subcommand("show", "Show one turn: what was asked and answered");
  add_place(*show_command, *arguments);
  show_command->add_option("id", arguments->id, "the request's id, or last")->capture_default_str();
  show_command->footer("The id is in the answer's header x-request-id.");
  add_callback(*show_command, arguments, exit_code, show);

  CLI::App* capture_command = log->add_subcommand(
      "capture", "Print what the upstream sent in a recent turn, for `callgate replay`");
  add_place(*capture_command, *arguments);
  capture_command->add_option("id", arguments->id, "the request's id")->required();
  capture_command->footer(
      "The gateway keeps the latest turns that failed, lost data or look like a missed call, see "
      "docs/capture.md.\n"
      "Example: callgate log capture req_1 > req_1.capture.jsonl");
  add_callback(*capture_command, arguments, exit_code, capture);

  CLI::App* resolve_command =
      log->add_subcommand("resolve", "Mark a request as resolved, with a note");
  add_place(*resolve_command, *arguments);
  resolve_command->add_option("id", arguments->id, "the request's id")->required();
  resolve_command->add_option("--note", arguments->note, "what came of it, up to 2048 bytes");
  resolve_command->add_flag("--undo", arguments->undo, "it is not resolved after all");
  resolve_command->footer(
      "Example: callgate log search --unresolved; callgate log resolve req_1 --note \"quota "
      "raised\"");
  add_callback(*resolve_command, arguments, exit_code, resolve);

  CLI::App* search_command = log->add_subcommand("search", "Find requests, the latest first");
  add_place(*search_command, *arguments);
  add_filters(*search_command, *arguments);
  search_command->add_option("words", arguments->words,
                             "words that question or answer have, all of them");
  search_command->add_option("-n,--limit", arguments->limit, "the most requests")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  add_callback(*search_command, arguments, exit_code, search);
}

}  // namespace callgate::cli
