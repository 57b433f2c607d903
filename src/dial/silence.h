// Silence: how long a turn goes on waiting for an upstream that says nothing. Comments, pings and blank lines are nothing.
#pragma once

#include <cstdint>
#include <optional>

#include "callgate/error.h"
#include "config/config.h"
#include "net/loop.h"

namespace callgate::server {

class Silence {
 public:
  // A child program reports what it does in messages that say nothing to the client: it has no limit here.
  explicit Silence(const UpstreamConfig& upstream);

  // What is left of it; nothing while no limit applies. Before every read. What the pipeline says of progress() and
  // complete().
  std::optional<net::Millis> left(std::uint64_t progress, bool complete);
  // A read took that long. `brought`: it brought bytes.
  void add(std::uint64_t milliseconds, bool brought);
  // Why the turn ends when nothing is left. A turn whose end is known ends well all the same.
  Error error() const;

 private:
  Milliseconds limit(bool complete) const;

  const UpstreamConfig& upstream_;
  std::uint64_t progress_ = 0;
  std::uint64_t waited_ = 0;  // by reads, since the upstream last said something
  bool noise_ = false;        // since then it sent bytes that say nothing
  bool complete_ = false;     // the upstream has said how the turn ends
  bool resumed_ = false;      // and went on all the same
};

}  // namespace callgate::server
