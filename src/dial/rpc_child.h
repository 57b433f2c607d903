// RpcChild: a supervised child program that speaks JSON-RPC in lines, both ways. It is started when it is first needed,
// and again after it ended: at once the first time, later with growing pauses; when it ended too often in a row it is
// left alone for a while. Loop thread only.
//
//   -> {"method":"initialize","id":0,"params":{...}}     <- {"id":0,"result":{...}}     -> {"method":"initialized"}
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "callgate/result.h"
#include "dial/line_child.h"
#include "upstream/codex/codex_line.h"

namespace callgate::server {

struct RpcChildOptions {
  net::ProcessOptions process;
  net::Millis start_timeout{15'000};
  net::Millis backoff{250};
  std::int64_t restart_limit = 10;
};

// The pause after that many failures in a row: `backoff`, then twice that, and so on, at most 10 s.
net::Millis restart_pause(net::Millis backoff, std::int64_t failures);

// What others see of a child's health. Any thread.
struct ChildHealth {
  std::function<void(bool up)> up;
  std::function<void()> restarted;
  std::function<void(std::string_view)> log;
};

class RpcChild {
 public:
  struct Events {
    // A request or a notification of the child; `text` is the whole line.
    std::function<void(const upstream::CodexLine& line, std::string_view text)> line;
    std::function<void(const Error& why)> end;
  };
  RpcChild(net::Loop& loop, RpcChildOptions options, Events events, ChildHealth health);

  // Completes when the child runs and has shaken hands.
  net::Task<Result<void>> ready();
  // A request; the JSON of its result.
  net::Task<Result<std::string>> ask(std::string_view method, std::string_view params);
  // The same, if the answer does not matter.
  void tell(std::string_view method, std::string_view params);
  void reply(std::string_view id, std::string_view result);
  void refuse(std::string_view id, std::string_view message);
  // Lets go of the child, which its loop then ends.
  void release() { child_.reset(); }
  // Something worked: earlier failures are forgiven.
  void forgive() { failures_ = 0; }

 private:
  struct Waiting;  // somebody waits for an answer, or for the child to be ready
  net::Task<> start();
  void break_start();
  net::Task<Result<void>> shake_hands();
  net::Millis pause() const;
  void take_line(std::string_view text);
  void take_end(const Error& why, std::string_view last_words);
  void failed();
  void open_gate();
  std::int64_t send(std::string_view method, std::string_view params);

  net::Loop& loop_;
  const RpcChildOptions options_;
  const Events events_;
  const ChildHealth health_;
  std::shared_ptr<LineChild> child_;
  bool up_ = false;
  bool starting_ = false;
  bool started_before_ = false;
  std::optional<Error> start_error_;
  std::int64_t failures_ = 0;  // in a row
  std::uint64_t failed_at_ = 0;
  std::int64_t next_id_ = 0;
  std::unordered_map<std::string, Waiting*> answers_;  // by the request's id
  std::vector<Waiting*> gate_;
  json::Reader reader_;
  upstream::CodexLine line_;
};

}  // namespace callgate::server
