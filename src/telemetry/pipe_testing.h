// A pipe whose reader decides when the writer goes on.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "base/check.h"

namespace callgate::telemetry {

class TestPipe {
 public:
  TestPipe() {
    CALLGATE_CHECK(pipe2(ends_, O_CLOEXEC) == 0);
    ::signal(SIGPIPE, SIG_IGN);
  }
  TestPipe(const TestPipe&) = delete;
  TestPipe& operator=(const TestPipe&) = delete;
  ~TestPipe() {
    close_reader();
    close_writer();
  }

  int writer() const { return ends_[1]; }
  void close_reader() { close_end(0); }
  void close_writer() { close_end(1); }

  // Whatever is written now waits until somebody reads.
  void fill() {
    set_blocking(false);
    for (const std::size_t size : {std::size_t{4096}, std::size_t{1}}) {
      const std::string ballast(size, '#');
      while (write(ends_[1], ballast.data(), size) > 0) filled_ += size;
    }
    set_blocking(true);
  }
  void set_blocking(bool blocking) {
    CALLGATE_CHECK(fcntl(ends_[1], F_SETFL, blocking ? 0 : O_NONBLOCK) == 0);
  }

  // What was written, without the ballast, up to `size` bytes of it or the end.
  std::string read(std::size_t size) {
    std::string all;
    char bytes[4096];
    while (all.size() < filled_ + size) {
      const ssize_t count = ::read(ends_[0], bytes, sizeof bytes);
      if (count <= 0) break;
      all.append(bytes, static_cast<std::size_t>(count));
    }
    all.erase(0, filled_);
    filled_ = 0;
    return all;
  }
  std::string read_to_end() {
    close_writer();
    return read(std::string::npos / 2);
  }

 private:
  void close_end(int end) {
    if (ends_[end] >= 0) close(ends_[end]);
    ends_[end] = -1;
  }

  int ends_[2] = {-1, -1};
  std::size_t filled_ = 0;
};

}  // namespace callgate::telemetry
