#include "recorder/capture_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <vector>

#include "capture/capture_format.h"

namespace callgate::server {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPart = ".part";  // of a file that is not whole yet

tl::unexpected<Error> failed(std::string_view what, const std::string& path, int code) {
  return fail(ErrorCode::unavailable, "cannot " + std::string(what) + " " + path + ": " +
                                          std::generic_category().message(code));
}

bool is_capture(std::string_view name) {
  if (name.ends_with(kPart)) name.remove_suffix(kPart.size());
  return name.ends_with(kCaptureSuffix);
}

int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

Result<void> write_file(const std::string& path, std::string_view text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                          S_IRUSR | S_IWUSR);
  if (file < 0) return failed("write", path, errno);
  ::fchmod(file, S_IRUSR | S_IWUSR);
  int code = write_all(file, text);
  if (::close(file) != 0 && code == 0) code = errno;
  if (code == 0) return {};
  ::unlink(path.c_str());
  return failed("write", path, code);
}

// Every folder that is made is for its owner alone.
void make_private_folders(const fs::path& path, std::error_code& code) {
  code.clear();
  fs::path so_far;
  for (const fs::path& part : path) {
    so_far /= part;
    if (part.empty() || ::mkdir(so_far.c_str(), S_IRWXU) != 0) continue;
    fs::permissions(so_far, fs::perms::owner_all, code);  // whatever the umask says
  }
  if (!fs::is_directory(path, code) && !code)
    code = std::make_error_code(std::errc::not_a_directory);
}

}  // namespace

Result<CaptureFolder> CaptureFolder::open(const std::string& path) {
  std::error_code code;
  make_private_folders(path, code);
  if (code) return failed("make", path, code.value());
  CaptureFolder folder(path);
  folder.look();
  return folder;
}

void CaptureFolder::look() {
  std::error_code code;
  std::vector<std::tuple<fs::file_time_type, std::string>> found;
  for (fs::directory_iterator at(path_, code), end; !code && at != end; at.increment(code)) {
    const std::string name = at->path().filename().string();
    std::error_code ignored;
    if (is_capture(name) && at->is_regular_file(ignored)) {
      found.emplace_back(at->last_write_time(ignored), name);
    }
  }
  std::sort(found.begin(), found.end());
  for (auto& [time, name] : found) files_.push_back(std::move(name));
}

Result<void> CaptureFolder::write(std::string_view name, std::string_view text,
                                  std::size_t max_files) {
  std::string file = std::string(name) + std::string(kCaptureSuffix);
  for (int count = 2; ::access((path_ + "/" + file).c_str(), F_OK) == 0; ++count) {
    file = std::string(name) + "-" + std::to_string(count) + std::string(kCaptureSuffix);
  }
  const std::string path = path_ + "/" + file;
  const std::string part = path + std::string(kPart);
  if (auto written = write_file(part, text); !written) return written;
  if (::rename(part.c_str(), path.c_str()) != 0) return failed("rename", part, errno);
  files_.push_back(std::move(file));
  for (; max_files > 0 && files_.size() > max_files; files_.pop_front()) {
    ::unlink((path_ + "/" + files_.front()).c_str());
  }
  return {};
}

}  // namespace callgate::server
