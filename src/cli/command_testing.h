// For tests of commands: runs one in this process, keeps what it prints, and plays the server that it asks.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/app.h"
#include "net/net_testing.h"

namespace callgate::cli {

struct Ran {
  int exit_code = 0;
  std::string out;
  std::string err;
};

// `words` without the program's name; `input` is its standard input.
inline Ran run_command(const std::vector<std::string>& words, const std::string& input = "") {
  for (const char* name : {"CALLGATE_URL", "CALLGATE_KEY", "OPENAI_API_KEY"}) ::unsetenv(name);
  std::ios::sync_with_stdio(false);  // a command that does so itself would lose the input below
  std::vector<const char*> argv{"callgate"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  std::istringstream in(input);
  std::streambuf* const before = std::cin.rdbuf(in.rdbuf());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Ran ran;
  ran.exit_code = run(static_cast<int>(argv.size()), argv.data());
  std::cout.flush();
  ran.out = testing::internal::GetCapturedStdout();
  ran.err = testing::internal::GetCapturedStderr();
  std::cin.rdbuf(before);
  std::cin.clear();
  return ran;
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// A folder for the files of one test.
class CommandTest : public testing::Test {
 protected:
  CommandTest() {
    const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("callgate_" + std::to_string(::getpid()) + "_" + test->test_suite_name() + "_" +
               test->name());
    std::filesystem::create_directories(folder_);
  }
  ~CommandTest() override { std::filesystem::remove_all(folder_); }

  std::string path_of(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, std::string_view text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return path_of(name);
  }

  std::filesystem::path folder_;
};

// An HTTP server that gives one answer per connection and keeps what it was asked.
class CannedServer {
 public:
  // Writes the whole response: status line, headers, body. The connection is closed after it.
  using Answer = std::function<void(net::RawSocket&)>;

  explicit CannedServer(std::vector<Answer> answers) : upstream_(scripts(std::move(answers))) {}

  std::string url() const { return "http://127.0.0.1:" + std::to_string(upstream_.target().port); }
  // The heads and bodies of the requests so far.
  std::vector<std::string> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  // The first lines of them.
  std::vector<std::string> targets() const {
    std::vector<std::string> lines;
    for (const std::string& request : requests()) {
      lines.push_back(request.substr(0, request.find(" HTTP/")));
    }
    return lines;
  }

 private:
  std::vector<net::RawUpstream::Script> scripts(std::vector<Answer> answers) {
    std::vector<net::RawUpstream::Script> made;
    for (Answer& answer : answers) {
      made.push_back([this, answer = std::move(answer)](net::RawSocket& socket) {
        std::string request = socket.receive_until("\r\n\r\n");
        if (const std::size_t at = request.find("content-length: "); at != std::string::npos) {
          const std::size_t size = std::stoul(request.substr(at + 16));
          for (std::size_t got = 0; got < size;) {
            const std::string more = socket.receive(size - got);
            if (more.empty()) break;
            request += more;
            got += more.size();
          }
        }
        {
          const std::lock_guard lock(mutex_);
          requests_.push_back(std::move(request));
        }
        answer(socket);
      });
    }
    return made;
  }

  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  net::RawUpstream upstream_;
};

inline CannedServer::Answer reply(int status, std::string body,
                                  std::string type = "application/json") {
  return [=](net::RawSocket& socket) {
    socket.send("HTTP/1.1 " + std::to_string(status) + " X\r\ncontent-type: " + type +
                "\r\nconnection: close\r\ncontent-length: " + std::to_string(body.size()) +
                "\r\n\r\n" + body);
  };
}

}  // namespace callgate::cli
