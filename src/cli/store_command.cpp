#include <chrono>
#include <iostream>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/store_place.h"
#include "store/export.h"
#include "store/migration.h"

namespace callgate::cli {
namespace {

using store::Attempt;
using store::Database;

// A question may take longer than a gateway would wait.
store::DatabaseOptions patient() {
  store::DatabaseOptions options;
  options.busy_timeout = std::chrono::seconds(30);
  options.statement_timeout = std::chrono::hours(6);
  return options;
}

// A line on stderr each second.
store::Progress make_progress() {
  const auto last =
      std::make_shared<std::chrono::steady_clock::time_point>(std::chrono::steady_clock::now());
  return [last](std::string_view table, std::int64_t rows) {
    const auto now = std::chrono::steady_clock::now();
    if (now - *last < std::chrono::seconds(1)) return;
    *last = now;
    std::cerr << table << ": " << rows << " rows\n";
  };
}

// What an action does to a store.
enum class Access : std::uint8_t {
  look,  // nothing
  read,  // brings its schema up to date
  make,  // creates it if it is missing
};

template <class Work>
int with_store(const StorePlace& place, Access access, Work work) {
  const std::string url = find_store_url(place);
  if (url.empty()) return 1;
  const bool migrate = access != Access::look;
  if (access != Access::make && is_missing_store(url)) {
    std::cerr << "store: " << store::shown_url(url) << ": No such file or directory\n";
    return 1;
  }
  const Attempt<std::unique_ptr<Database>> database =
      migrate ? store::open_migrated(url, patient()) : store::open_database(url, patient());
  const auto report = [&](const store::Fault& fault) {
    std::cerr << "store: " << store::shown_url(url) << ": " << fault.message << '\n';
    return 1;
  };
  if (!database) return report(database.error());
  const Attempt<int> done = work(**database);
  return done ? *done : report(done.error());
}

Attempt<int> migrate(Database& database) {
  const Attempt<int> version = store::schema_version(database);
  if (!version) return tl::unexpected(version.error());
  std::cout << "schema version " << *version << '\n';
  return 0;
}

Attempt<int> check(Database& database) {
  const Attempt<store::CheckReport> report = store::check_store(database);
  if (!report) return tl::unexpected(report.error());
  for (const std::string& fault : report->faults) std::cout << "fault: " << fault << '\n';
  std::cout << store::to_string(database.engine()) << ", schema version " << report->schema << ", "
            << report->requests << " requests, "
            << (report->faults.empty() ? "no faults" : "faults found") << '\n';
  return report->faults.empty() ? 0 : 1;
}

Attempt<int> write_lines(Database& database) {
  const Attempt<std::int64_t> rows = store::export_store(
      database, [](std::string_view line) { return static_cast<bool>(std::cout << line << '\n'); },
      make_progress());
  if (!rows) return tl::unexpected(rows.error());
  std::cout.flush();
  std::cerr << *rows << " rows exported\n";
  return std::cout ? 0 : 1;
}

Attempt<int> read_lines(Database& database) {
  const Attempt<std::int64_t> rows = store::import_store(
      database,
      []() -> std::optional<std::string> {
        std::string line;
        if (!std::getline(std::cin, line)) return std::nullopt;
        return line;
      },
      make_progress());
  if (!rows) return tl::unexpected(rows.error());
  std::cerr << *rows << " rows imported\n";
  return 0;
}

void add_action(CLI::App& command, int& exit_code, const char* name, const char* help,
                Access access, Attempt<int> (*work)(Database&)) {
  CLI::App* action = command.add_subcommand(name, help);
  auto place = std::make_shared<StorePlace>();
  add_store_place(*action, *place);
  action->callback([place, access, work, &exit_code] {
    std::ios::sync_with_stdio(false);
    exit_code = with_store(*place, access, work);
  });
}

}  // namespace

void add_store(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("store", "Work with the store: the request log and the sessions");
  command->require_subcommand(1);
  command->footer(
      "To move a store: callgate store export --url sqlite:callgate.db |\n"
      "                 callgate store import --url postgresql://db.example/callgate");
  add_action(*command, exit_code, "migrate", "Bring the schema up to date", Access::make, migrate);
  add_action(*command, exit_code, "check", "Look for damage and for rows that belong to nothing",
             Access::look, check);
  add_action(*command, exit_code, "export", "Write all rows as JSON lines to standard output",
             Access::read, write_lines);
  add_action(*command, exit_code, "import",
             "Read such lines from standard input into an empty store", Access::make, read_lines);
}

}  // namespace callgate::cli
