#include "net/pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace callgate::net {
namespace {

int without_blocking(int fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  return fd;
}

Error broken(std::string_view what) {
  return {.code = ErrorCode::upstream_failed, .message = "the pipe " + std::string(what)};
}

Error silent(std::string_view what) {
  return {.code = ErrorCode::timed_out, .message = "the pipe " + std::string(what)};
}

}  // namespace

Pipe::Pipe(Loop& loop, int fd) : loop_(loop), descriptor_(loop, without_blocking(fd)) {}

std::ptrdiff_t Pipe::read_now(char* buffer, std::size_t size) {
  for (;;) {
    const ssize_t got = ::read(descriptor_.fd(), buffer, size);
    if (got >= 0) return got;
    if (errno == EINTR) continue;
    if (!is_again(errno)) return 0;
    descriptor_.drained();
    return -1;
  }
}

Task<Result<std::string_view>> Pipe::read(Millis timeout) {
  for (;;) {
    if (closed()) co_return tl::unexpected(broken("is closed"));
    const std::span<char> buffer = loop_.read_buffer();
    const std::ptrdiff_t got = read_now(buffer.data(), buffer.size());
    if (got >= 0) co_return std::string_view(buffer.data(), static_cast<std::size_t>(got));
    const Ready ready = co_await descriptor_.wait(Direction::read, timeout);
    if (ready == Ready::timed_out) co_return tl::unexpected(silent("said nothing in time"));
  }
}

Task<Result<void>> Pipe::write(std::string_view bytes, Millis timeout) {
  while (!bytes.empty()) {
    if (closed()) co_return tl::unexpected(broken("is closed"));
    const ssize_t sent = ::write(descriptor_.fd(), bytes.data(), bytes.size());
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
      continue;
    }
    if (errno == EINTR) continue;
    if (!is_again(errno)) co_return tl::unexpected(broken("has no reader"));
    const Ready ready = co_await descriptor_.wait(Direction::write, timeout);
    if (ready == Ready::timed_out) co_return tl::unexpected(silent("was not read in time"));
  }
  co_return Result<void>();
}

}  // namespace callgate::net
