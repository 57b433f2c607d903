#include "cli/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "net/owned_fd.h"

namespace callgate::cli {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> cannot_write(const std::string& path, int fault) {
  return fail(ErrorCode::unavailable, path + ": " + std::strerror(fault));
}

Result<void> make_folders(const fs::path& folder) {
  if (folder.empty() || fs::is_directory(folder)) return {};
  if (auto made = make_folders(folder.parent_path()); !made) return made;
  if (::mkdir(folder.c_str(), 0700) != 0) return cannot_write(folder, errno);
  return {};
}

}  // namespace

Result<void> write_private_file(const std::string& path, std::string_view text) {
  if (auto made = make_folders(fs::path(path).parent_path()); !made) return made;
  std::string part = path + ".XXXXXX";
  const net::OwnedFd file(::mkostemp(part.data(), O_CLOEXEC));  // with the mode 0600
  if (file.get() < 0) return cannot_write(path, errno);
  while (!text.empty()) {
    const ssize_t count = ::write(file.get(), text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) break;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  if (text.empty() && ::fsync(file.get()) == 0 && ::rename(part.c_str(), path.c_str()) == 0) {
    return {};
  }
  const int fault = errno;
  ::unlink(part.c_str());
  return cannot_write(path, fault);
}

}  // namespace callgate::cli
