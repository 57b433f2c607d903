#include "store/sqlite_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace callgate::store {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kPrivate = S_IRUSR | S_IWUSR;

std::string aside_name(const std::string& path, const char* word) {
  using std::chrono::milliseconds;
  using std::chrono::system_clock;
  const auto now = std::chrono::duration_cast<milliseconds>(system_clock::now().time_since_epoch());
  return path + "." + word + "-" + std::to_string(now.count());
}

// A log without its database would be applied to the next one.
void move_log_aside(const std::string& path) {
  const std::string target = aside_name(path, "gone");
  std::error_code ignored;
  for (const char* part : {"-wal", "-shm"}) fs::rename(path + part, target + part, ignored);
}

}  // namespace

Attempt<void> prepare_file(const std::string& path, bool must_exist) {
  struct stat status {};
  if (must_exist) {
    if (::stat(path.c_str(), &status) == 0 && status.st_size > 0) return {};
    return fault(FaultKind::gone, path +
                                      " was deleted or emptied while it was in use: put it back, "
                                      "or restart to begin a new one");
  }
  // Never opened when it exists: closing it again would drop the locks of this process.
  const int made = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kPrivate);
  if (made < 0) return {};  // it is there, or SQLite will say why not
  ::fchmod(made, kPrivate);
  ::close(made);
  move_log_aside(path);
  return {};
}

void make_private(const std::string& path) {
  for (const char* part : {"", "-wal", "-shm"}) {
    const std::string name = path + part;
    struct stat status {};
    if (::stat(name.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if ((status.st_mode & 07777) != kPrivate) ::chmod(name.c_str(), kPrivate);
  }
}

Attempt<std::string> move_aside(const std::string& path, const char* word) {
  const std::string target = aside_name(path, word);
  std::error_code failed;
  for (const char* part : {"-wal", "-shm"}) fs::rename(path + part, target + part, failed);
  fs::rename(path, target, failed);
  if (failed && failed != std::errc::no_such_file_or_directory) {
    return fault(FaultKind::other, "cannot rename " + path + ": " + failed.message());
  }
  return target;
}

FileMark::FileMark(std::string path) : path_(std::move(path)) { look_again(); }

void FileMark::look_again() {
  struct stat status {};
  if (known_ || ::stat(path_.c_str(), &status) != 0) return;
  known_ = true;
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

std::optional<std::string> FileMark::change() const {
  struct stat status {};
  if (!known_) return std::nullopt;
  if (::stat(path_.c_str(), &status) != 0) {
    if (errno != ENOENT && errno != ENOTDIR) return std::nullopt;
    return path_ + " was deleted";
  }
  if (status.st_ino == inode_ && status.st_dev == device_) return std::nullopt;
  return path_ + " was replaced";
}

}  // namespace callgate::store
