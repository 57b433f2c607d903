#include "response/response_events.h"

#include <algorithm>
#include <limits>

#include "json/member.h"

namespace callgate::server {
namespace {

constexpr std::string_view kEvent = "event: ";
constexpr std::string_view kDataLine = "data: ";
constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

}  // namespace

void each_frame(std::string_view bytes,
                FunctionRef<void(std::string_view type, std::string_view data)> visit) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find("\n\n");
    const std::string_view frame = bytes.substr(0, end);
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 2);
    if (!frame.starts_with(kEvent)) continue;
    const std::size_t line = frame.find('\n');
    if (line == std::string_view::npos) continue;
    const std::string_view data = frame.substr(line + 1);
    if (!data.starts_with(kDataLine)) continue;
    visit(frame.substr(kEvent.size(), line - kEvent.size()), data.substr(kDataLine.size()));
  }
}

std::string final_response(std::string_view bytes) {
  std::size_t at = bytes.rfind("\n\nevent: ");
  at = at == std::string_view::npos ? 0 : at + 2;
  const std::string_view last = bytes.substr(at);
  const bool ends = last.starts_with("event: response.completed\n") ||
                    last.starts_with("event: response.incomplete\n") ||
                    last.starts_with("event: response.failed\n");
  if (!ends) return {};
  std::string response;
  each_frame(last, [&](std::string_view, std::string_view data) {
    if (response.empty()) response = json::given_member(data, "response");
  });
  return response;
}

std::string_view frames_after(std::string_view bytes, std::int64_t after) {
  std::int64_t left = frames_up_to(after);
  return skip_frames(bytes, left);
}

std::int64_t frames_up_to(std::int64_t after) {
  return after < 0 ? 0 : after == kLast ? kLast : after + 1;
}

std::string_view skip_frames(std::string_view bytes, std::int64_t& left) {
  std::size_t at = 0;
  while (left > 0 && at < bytes.size()) {
    if (bytes.substr(at).starts_with(kEvent)) --left;
    const std::size_t end = bytes.find("\n\n", at);
    at = end == std::string_view::npos ? bytes.size() : end + 2;
  }
  return bytes.substr(at);
}

}  // namespace callgate::server
