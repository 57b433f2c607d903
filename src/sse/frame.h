// One SSE event on the wire.
#pragma once

#include <string_view>

namespace callgate {

struct SseFrame {
  std::string_view event;  // empty: "message"
  std::string_view data;
  std::string_view id;  // the last one that the stream has set
};

}  // namespace callgate
