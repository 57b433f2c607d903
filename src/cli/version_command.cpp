#include <algorithm>
#include <iostream>
#include <memory>
#include <vector>

#include "build_commit.inc"
#include "callgate/version.h"
#include "cli/commands.h"
#include "compress/library_versions.h"
#include "json/writer.h"
#include "net/library_versions.h"
#include "policy/library_versions.h"
#include "store/postgres.h"
#include "store/sqlite.h"

namespace callgate::cli {
namespace {

#if defined(__clang__)
constexpr char kCompiler[] = "clang " __clang_version__;
#else
constexpr char kCompiler[] = "g++ " __VERSION__;
#endif

std::vector<LibraryVersion> all_libraries() {
  std::vector<LibraryVersion> all = {
      {"cli11", CLI11_VERSION}, store::libpq_version(), store::sqlite_version()};
  for (const auto& some :
       {compress::library_versions(), net::library_versions(), policy::library_versions()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  std::sort(all.begin(), all.end(),
            [](const LibraryVersion& a, const LibraryVersion& b) { return a.name < b.name; });
  return all;
}

std::string print_version_json() {
  std::string out;
  json::ObjectWriter object(out);
  object.string("version", kVersion);
  object.string("commit", kCommit);
  object.string("compiler", kCompiler);
  json::ObjectWriter libraries(object.key("libraries"));
  for (const LibraryVersion& library : all_libraries()) {
    libraries.string(library.name, library.version);
  }
  libraries.close();
  object.close();
  return out + "\n";
}

std::string print_version() {
  std::string out = std::string("callgate ") + kVersion + "\ncommit " + kCommit + "\n" + kCompiler;
  for (const LibraryVersion& library : all_libraries()) {
    out.append("\n").append(library.name).append(" ").append(library.version);
  }
  return out + "\n";
}

}  // namespace

void add_version(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("version", "Print the version, commit and libraries");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "as one JSON object");
  command->callback([json, &exit_code] {
    std::cout << (*json ? print_version_json() : print_version());
    exit_code = 0;
  });
}

}  // namespace callgate::cli
