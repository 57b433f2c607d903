// Frames of a Messages answer for a client that speaks the same: what has no event reaches it all the same.
//
//   {"type":"content_block_start","content_block":{"type":"text","citations":[]}}     members of a block that is known
//   {"type":"content_block_start","index":2,"content_block":{"type":"web_search_tool_result",...}}     a block that is not
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/event.h"

namespace callgate::upstream {

class AnthropicFrames {
 public:
  void tell(std::string_view frame, EventSink& sink);
  // Members of the message that callgate does not know, if there are any.
  void tell_message(std::string_view message, EventSink& sink);
  // Members of a block of a kind that callgate knows.
  void tell_start(std::string_view block, EventSink& sink);
  // Members of a frame of a type that callgate knows, and of its delta, if there are any.
  void tell_members(std::string_view type, std::string_view frame, EventSink& sink);
  void tell_stop(EventSink& sink);
  // It is of a kind that has no event.
  static bool is_strange_delta(std::string_view frame);

  // A whole message: its members, then its blocks by their place. Does nothing for blocks before begin_whole(). REQUIRES: `message`
  // is a JSON object that outlives the blocks.
  void begin_whole(std::string_view message, EventSink& sink);
  void begin_block(std::size_t position, bool ignored, EventSink& sink);
  void end_block(std::size_t position, bool stops, EventSink& sink);

 private:
  std::vector<std::string_view> whole_;  // blocks
  std::string frame_;
};

}  // namespace callgate::upstream
