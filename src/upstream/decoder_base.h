// What the decoders share: the failure of an answer, what was mended in it, and how it ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "upstream/call_tracker.h"
#include "upstream/openai_chat/openai_error.h"
#include "upstream/repaired_read.h"
#include "upstream/turn_end.h"
#include "upstream/unread.h"
#include "upstream/wire_format.h"

namespace callgate::upstream {

// Chat's last frame, also as a JSON string or without its brackets. Servers and proxies add it to streams of other formats.
inline bool is_end_mark(std::string_view data) {
  if (data.starts_with('{')) return false;
  return data == "[DONE]" || data == "\"[DONE]\"" || data == "[done]" || data == "DONE";
}

class DecoderBase : public ResponseDecoder {
 public:
  void finish(ChoiceSinks& sinks) override { end(Ending::closed, sinks); }
  void abort(ChoiceSinks& sinks) override { end(Ending::failure, sinks); }
  bool finished() const override { return finished_; }
  const std::optional<Error>& error() const override { return error_; }
  const RepairCounts& repairs() const override { return repairs_; }

 protected:
  virtual void end(Ending ending, ChoiceSinks& sinks) = 0;
  // A chunk that cannot be read. `rest` begins with what there is of it.
  virtual void lose_chunk(std::string_view) { fail_with(lost_chunk()); }

  // The first failure counts. Nothing of the answer is read after it.
  void fail_with(Error error) {
    if (!error_) error_ = std::move(error);
    finished_ = true;
  }
  void fail_with(std::string_view message) {
    fail_with(Error{.code = ErrorCode::upstream_failed, .message = std::string(message)});
  }
  // The word for the end says that the turn failed.
  void fail_at_end(std::string_view word) {
    fail_with(Error{.code = ErrorCode::upstream_failed,
                    .message = "upstream ended the turn with an error",
                    .upstream_code = std::string(word)});
  }
  void count(Repair repair, std::size_t times = 1) {
    repairs_[static_cast<std::size_t>(repair)] += static_cast<std::uint32_t>(times);
  }
  // True once: the turn ends now.
  bool begin_end() {
    finished_ = true;
    return !std::exchange(ended_, true);
  }
  // Why the turn ended. `expected`: what the wire format says of turns with calls as well, which needs no repair.
  FinishReason reason_of(const TurnWord& word, Ending ending, bool answered, const CallTally& calls,
                         std::optional<FinishReason> expected = {}) {
    TurnEnd end = end_of_turn(word, ending, answered, calls);
    if (end.repair && !(expected && word.known == expected)) count(*end.repair);
    if (end.error) fail_with(std::move(*end.error));
    return end.reason;
  }
  // Fails if an open call holds back more than the limit.
  bool holds_too_much(const CallTracker& tracker) {
    if (tracker.held_back() <= kMaxHeldBack) return false;
    fail_with("upstream wrote too much after a call that it did not end");
    return true;
  }
  // Reads a frame that is not one JSON object.
  void push_unread(const SseFrame& frame, std::string_view data, ChoiceSinks& sinks) {
    take_unread(
        data, repairs_,
        [&](std::string_view chunk) {
          push({.event = frame.event, .data = chunk, .id = {}}, sinks);
        },
        [&](std::string_view rest) { lose_chunk(rest); },
        [&](std::string_view line) { lose_words(line); });
  }
  // The words of a failure are lost like a chunk, and say why.
  void lose_words(std::string_view line) {
    const bool failed = error_.has_value();
    lose_chunk(line);
    if (!failed && error_) error_ = decode_openai_error(0, line);
  }

  static constexpr std::size_t kMaxHeldBack = std::size_t{8} << 20;
  RepairCounts repairs_{};
  std::optional<Error> error_;
  bool finished_ = false;

 private:
  bool ended_ = false;
};

}  // namespace callgate::upstream
