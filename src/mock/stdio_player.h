// StdioPlayer: what the child programs of `callgate mock --stdio` share: lines in and out, and a reply of the scripted
// model played line by line.
#pragma once

#include <fstream>
#include <functional>
#include <string>
#include <string_view>

#include "callgate/result.h"
#include "mock/mock_stdio.h"
#include "net/loop.h"
#include "net/pipe.h"
#include "net/task.h"
#include "script/scripted_model.h"

namespace callgate::server {

class StdioPlayer {
 public:
  StdioPlayer(const MockStdioOptions& options, script::Script script);

  // Calls back for each line of the input until it ends, or end() is called.
  Result<void> run(std::function<void(std::string_view)> on_line);
  void say(std::string_view line);
  void spawn(net::Task<> task) { loop_.spawn(std::move(task)); }
  void end(std::string fault);  // empty: in order
  net::Loop& loop() { return loop_; }

  enum class Outcome : std::uint8_t { done, stopped };
  // Plays the reply to `request`. Stops early when `stopped` says so; `stop` is notified then.
  net::Task<Outcome> play(const Request& request, net::Signal& stop, std::function<bool()> stopped,
                          std::function<void(std::string_view)> on_line);

 private:
  net::Task<> read_input(std::function<void(std::string_view)> on_line);
  net::Task<> write_output();

  const std::string wire_;
  script::ScriptedModel model_;
  std::ofstream record_;
  net::Loop loop_;
  net::Pipe input_;
  net::Pipe output_;
  net::Signal news_;
  std::string outbox_;
  std::string fault_;
  bool ending_ = false;
};

Result<void> run_mock_app_server(StdioPlayer& player);
Result<void> run_mock_proto(StdioPlayer& player);

}  // namespace callgate::server
