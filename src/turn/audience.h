// Audience: who gets an answer, a connection or a room. On the event loop's thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "callgate/error.h"
#include "callgate/event.h"
#include "callgate/loop.h"
#include "callgate/result.h"
#include "net/http.h"
#include "net/loop.h"
#include "net/task.h"

namespace callgate::server {

class Audience {
 public:
  virtual ~Audience() = default;

  // Nobody is left: the turn ends.
  virtual bool is_gone() const { return false; }
  // Called once, on the loop, when it is so; an empty function removes the callback.
  virtual void on_gone(std::function<void()>) {}
  // Something of the answer has reached it, so that no status can be given any more.
  virtual bool has_started() const = 0;

  // Of the answer's head, while there is one to come.
  virtual net::Headers& headers() = 0;
  // Bytes of a stream. The first of them follow the head of a 200, with these headers; none: only the head leaves. Fails
  // when the audience is gone.
  virtual net::Task<Result<void>> write(std::string_view bytes) = 0;
  virtual net::Task<Result<void>> end(std::string_view bytes) = 0;
  // All of an answer that is not streamed, or of an error.
  virtual net::Task<Result<void>> respond(int status, std::string_view body) = 0;

  // For those that make an answer of their own from what is said.
  virtual void hear(const Event&) {}
  virtual void hear(const loop::Notice&) {}
  // A call waits for a person.
  virtual void wait_for_approval(const loop::WaitForApproval&) {}
  // A tool loop can be steered from now on.
  virtual void begin_loop() {}
  // The turn failed with this, before respond() or end().
  virtual void fail(const Error&) {}
  // When on_time() is wanted at the latest, if nothing else happens; zero: now, nothing: not at all.
  virtual std::optional<net::Millis> patience(std::uint64_t /*now*/) const { return std::nullopt; }
  virtual void on_time(std::uint64_t /*now*/) {}
  // What it got, where that is not the bytes above.
  virtual std::optional<std::uint64_t> bytes_out() const { return std::nullopt; }
};

}  // namespace callgate::server
