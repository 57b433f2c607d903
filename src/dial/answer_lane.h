// AnswerLane: the way of one answer from the thread of a child program to the loop of the client that waits for it.
// Shared by both ends; either may leave first.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "callgate/result.h"
#include "dial/upstream_call.h"
#include "net/loop.h"
#include "net/task.h"

namespace callgate::server {

class AnswerLane : public std::enable_shared_from_this<AnswerLane> {
 public:
  // `limit`: bytes that may wait for the reader. The writer cannot wait, because it also serves others.
  AnswerLane(net::Loop& reader, std::size_t limit);

  // The writer's end, any thread.
  void accept(std::string session);   // the request was taken, as part of that session
  bool push(std::string_view bytes);  // false: the reader left or is too slow
  void end();
  void fail(Error error);
  bool left() const;  // the reader has gone

  // The reader's end, on its loop.
  net::Task<Result<void>> accepted(net::Millis timeout);
  // As UpstreamCall::read().
  net::Task<Result<UpstreamCall::Piece>> read(net::Millis patience, net::Millis timeout);
  void leave();
  // Once it was accepted.
  const std::string& session() const { return session_; }

 private:
  void wake();  // REQUIRES: mutex_ is held

  mutable std::mutex mutex_;
  net::Loop* reader_;  // nullptr once the reader has left
  const std::size_t limit_;
  bool accepted_ = false;
  std::string session_;  // not changed once it was accepted
  bool ended_ = false;
  std::optional<Error> error_;
  std::string waiting_;

  net::Signal news_;   // reader's loop only
  std::string given_;  // what the reader looks at
};

}  // namespace callgate::server
