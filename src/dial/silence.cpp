#include "dial/silence.h"

#include <algorithm>

namespace callgate::server {
namespace {

// An upstream that goes on after a finish reason has shown that it means little.
constexpr std::int64_t kResumedFactor = 10;

}  // namespace

Silence::Silence(const UpstreamConfig& upstream) : upstream_(upstream) {}

std::optional<net::Millis> Silence::left(std::uint64_t progress, bool complete) {
  if (progress != progress_ || complete != complete_) {
    if (complete && complete_) resumed_ = true;
    progress_ = progress;
    complete_ = complete;
    waited_ = 0;
    noise_ = false;
  }
  // If nothing comes, the call's own limit applies.
  if (upstream_.is_child() || (!complete_ && !noise_)) return std::nullopt;
  const auto most = static_cast<std::uint64_t>(limit(complete_).count());
  if (most == 0 && !complete_) return std::nullopt;
  return net::Millis(most > waited_ ? most - waited_ : 0);
}

Milliseconds Silence::limit(bool complete) const {
  const Milliseconds idle = upstream_.idle_timeout;
  if (!complete) return idle;
  const Milliseconds grace = upstream_.finish_grace * (resumed_ ? kResumedFactor : 1);
  return idle.count() == 0 ? grace : std::min(idle, grace);
}

void Silence::add(std::uint64_t milliseconds, bool brought) {
  waited_ += milliseconds;
  noise_ = noise_ || brought;
}

Error Silence::error() const {
  return {.code = ErrorCode::timed_out,
          .message = "upstream \"" + upstream_.name + "\" sent nothing but comments for " +
                     std::to_string(limit(complete_).count()) + " ms"};
}

}  // namespace callgate::server
