// Thinking as a client can send it back: a block that is signed, or redacted, is reported as a whole.
//
//   [{"type":"reasoning.text","text":"Look it up.","signature":"EqQB","format":"anthropic-claude-v1","index":0}]
//   [{"type":"reasoning.encrypted","data":"EmwK","format":"anthropic-claude-v1","index":1}]
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/surrogate_joiner.h"
#include "callgate/event.h"

namespace callgate::upstream {

class SignedThinking {
 public:
  // Text of the block at that position, perhaps with halves of surrogate pairs; another block that is open is closed first.
  void add(std::size_t position, std::string_view text, EventSink& sink);
  // The signature of the block, if that is the open one; the last counts.
  void sign(std::size_t position, std::string_view signature);
  bool is_open(std::size_t position) const { return block_ == position; }
  // The open block is over: it is reported if it is signed. What is not signed cannot be sent back.
  void close(EventSink& sink);
  void report_redacted(std::size_t position, std::string_view data, EventSink& sink);

 private:
  std::optional<std::size_t> block_;  // the one that is open
  SurrogateJoiner halves_;
  std::string joined_;
  std::string text_;
  std::string signature_;
  bool too_long_ = false;
  std::string detail_;
};

}  // namespace callgate::upstream
