// A PostgreSQL server for tests, started by the first test that asks for one and shared by all
// tests of the program. It listens on a Unix socket in a folder of its own and dies with the
// program.
#pragma once

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/check.h"
#include "store/database.h"
#include "store/scratch_testing.h"

namespace callgate::store {

class PostgresServer {
 public:
  // `durable` waits for the disk as a real server does.
  explicit PostgresServer(bool durable = false) : durable_(durable) {
    const passwd* user = geteuid() == 0 ? getpwnam("postgres") : nullptr;
    if (user) {
      user_ = user->pw_uid;
      group_ = user->pw_gid;
      CALLGATE_CHECK(chown(folder_.path().c_str(), user_, group_) == 0);
    }
    CALLGATE_CHECK(chmod(folder_.path().c_str(), 0700) == 0);
    CALLGATE_CHECK(wait_for(
        launch({binary("initdb"), "-D", data(), "-U", "callgate", "-A", "trust", "-E", "UTF8",
                "--locale=C", "--no-sync", "--no-instructions", "--wal-segsize=1"})));
    start();
  }
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;
  ~PostgresServer() { stop(); }

  void start() {
    const std::string sync = durable_ ? "on" : "off";
    server_ =
        launch({binary("postgres"), "-D", data(), "-k", folder_.path(), "-h", "", "-p", "5432",
                "-c", "fsync=" + sync, "-c", "full_page_writes=" + sync, "-c", "max_connections=50",
                "-c", "shared_buffers=32MB", "-c", "log_min_messages=fatal"});
    DatabaseOptions options;
    CALLGATE_CHECK(eventually([&] { return open_database(url("postgres"), options).has_value(); }));
  }
  // As a crash of the server: what was committed survives, connections break.
  void stop() {
    if (server_ <= 0) return;
    kill(server_, SIGQUIT);
    wait_for(server_);
    server_ = 0;
  }

  std::string url(const std::string& database) const {
    return "postgresql:///" + database + "?host=" + folder_.path() + "&user=callgate";
  }
  // The URL of an empty store: a schema of its own. One that was given back is emptied and given
  // again, because making its tables is slow.
  std::string new_store(bool without_tables = false) {
    if (!returned_.empty() && !without_tables) {
      const std::string url = returned_.back();
      returned_.pop_back();
      empty(url);
      return url;
    }
    const std::string name = "t" + std::to_string(++stores_);
    CALLGATE_CHECK(open_database(url("postgres"), {}).value()->run("CREATE SCHEMA " + name));
    return url("postgres") + "&options=-csearch_path%3D" + name;
  }
  void give_back(const std::string& url) { returned_.push_back(url); }
  std::string data() const { return folder_.path() + "/data"; }

 private:
  static void empty(const std::string& url) {
    const auto database = open_database(url, {}).value();
    const Rows tables =
        database
            ->query(
                "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT "
                "relispartition AND relnamespace = current_schema()::regnamespace AND relname "
                "<> 'callgate_schema'")
            .value();
    for (std::size_t i = 0; i < tables.size(); ++i) {
      CALLGATE_CHECK(database->run("DELETE FROM " + tables[i].text(0)));
    }
  }
  // The newest that is installed, as Debian installs it.
  static std::string binary(const std::string& name) {
    namespace fs = std::filesystem;
    std::string found = name;
    std::error_code missing;
    for (const auto& version : fs::directory_iterator("/usr/lib/postgresql", missing)) {
      const std::string path = version.path().string() + "/bin/" + name;
      if (fs::exists(path) && (found == name || path > found)) found = path;
    }
    return found;
  }
  pid_t launch(const std::vector<std::string>& command) {
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const std::string log = folder_.path() + "/log";
    const pid_t parent = getpid();
    const pid_t child = fork();
    CALLGATE_CHECK(child >= 0);
    if (child > 0) return child;
    const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
    dup2(output, 1);
    dup2(output, 2);
    // The server refuses to run as root.
    if (group_ != 0 && (setgroups(0, nullptr) != 0 || setgid(group_) != 0)) _exit(126);
    if (user_ != 0 && setuid(user_) != 0) _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGQUIT);
    if (getppid() != parent || chdir("/") != 0) _exit(126);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  static bool wait_for(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  const bool durable_;
  ScratchFolder folder_;
  uid_t user_ = 0;
  gid_t group_ = 0;
  pid_t server_ = 0;
  int stores_ = 0;
  std::vector<std::string> returned_;
};

inline PostgresServer& shared_postgres() {
  static PostgresServer server;
  return server;
}

}  // namespace callgate::store
