// LineChild: a child program that reads and writes lines, from its start to its end.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "callgate/result.h"
#include "net/loop.h"
#include "net/process.h"
#include "net/task.h"

namespace callgate::server {

// Shared by its owner and by the tasks that move its bytes. Loop thread only.
class LineChild : public std::enable_shared_from_this<LineChild> {
 public:
  struct Events {
    std::function<void(std::string_view line)> line;
    std::function<void(const Error& why, std::string_view last_words)> end;  // once, the last one
  };
  static Result<std::shared_ptr<LineChild>> start(net::Loop& loop,
                                                  const net::ProcessOptions& options,
                                                  Events events);
  LineChild(net::Loop& loop, std::unique_ptr<net::Process> process, Events events);

  // Queues a line; false when the child takes none any more, or too slowly.
  bool tell(std::string_view line);
  // Kills the child; its end is reported.
  void kill();
  // Kills the child; nothing is reported any more.
  void drop();
  pid_t pid() const { return process_->pid(); }

 private:
  net::Task<> read_lines(std::shared_ptr<LineChild> self);
  net::Task<> write_lines(std::shared_ptr<LineChild> self);
  void break_off();

  net::Loop& loop_;
  std::unique_ptr<net::Process> process_;
  Events events_;
  net::Signal news_;    // there is something in outbox_, or it is over
  std::string outbox_;  // lines that wait to be written
  bool over_ = false;
  bool muted_ = false;  // nothing is reported any more
};

}  // namespace callgate::server
