// Puts the pieces of one choice's calls into the order of the event grammar, whatever the upstream says about index,
// id and name, and however it interleaves calls.
//
// A piece belongs to the call with its id, else to the call on its index, else to the newest one, unless it can only
// be the start of another call. A call that starts while an earlier one is open is held back until the earlier one's
// top-level JSON value has closed; so is prose. CallFinished leaves with whatever follows the call, so that bytes
// after the value, which make it malformed, still belong to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "callgate/event.h"
#include "callgate/pipeline.h"
#include "chat/finish_reason.h"
#include "json/scanner.h"
#include "upstream/openai_answer.h"

namespace callgate::upstream {

enum class Prose : std::uint8_t { text, reasoning, refusal };

class CallTracker {
 public:
  void push_prose(Prose kind, std::string_view text, EventSink& sink);
  // `whole`: the piece is a call of its own, complete as it is.
  void push_call(const CallPiece& piece, bool whole, RepairCounts& repairs, EventSink& sink);
  // Everything held back leaves. `cut`: the turn did not end by itself, so an empty last call was cut.
  void finish(bool cut, EventSink& sink);

  const CallTally& tally() const { return tally_; }
  std::size_t held_back() const { return held_back_; }

 private:
  struct Slot {
    enum class Kind : std::uint8_t { prose, call } kind = Kind::call;
    Prose prose = Prose::text;
    std::optional<std::int64_t> index;
    std::string id;
    std::string name;
    std::string next_id;  // of a header that came again after the value had closed
    std::string held;     // prose, or arguments that have not left yet
    std::vector<std::pair<std::string, std::string>> fields;  // that have not left yet
    json::Scanner scanner;
    std::uint64_t hash = 0xCBF29CE484222325ULL;
    std::uint64_t length = 0;
    bool started = false;
    bool header_again = false;
    bool trailing = false;  // bytes other than white space after the value
    bool counted_repeat = false;
    bool counted_object = false;
  };

  Slot* find(const CallPiece& piece);
  static bool continues(const Slot& slot, const CallPiece& piece);
  static bool continues_closed(const Slot& slot, const CallPiece& piece);
  bool is_summary(const Slot& slot, const CallPiece& piece) const;
  Slot& open(const CallPiece& piece, const Slot* reused, bool whole, RepairCounts& repairs);
  void update(Slot& slot, const CallPiece& piece, RepairCounts& repairs);
  void take_fields(Slot& slot, const CallPiece& piece, EventSink& sink);
  void emit_fields(Slot& slot, EventSink& sink);
  void append(Slot& slot, std::string_view bytes, EventSink& sink);
  void pump(EventSink& sink);
  void start(Slot& slot, EventSink& sink);
  void emit_held(Slot& slot, std::size_t keep, EventSink& sink);
  void close(Slot& slot, bool empty_is_cut, EventSink& sink);
  bool is_live(const Slot& slot) const { return live_ < slots_.size() && &slots_[live_] == &slot; }

  std::deque<Slot> slots_;
  std::unordered_set<std::string> ids_;
  std::size_t live_ = 0;  // the first slot that has not left completely
  std::size_t held_back_ = 0;
  CallIndex next_call_ = 0;
  CallTally tally_;
};

}  // namespace callgate::upstream
