// Puts the pieces of one choice's calls into the order of the event grammar, whatever the upstream says about index,
// id and name, and however it interleaves calls.
//
// A piece belongs to the call with its id, else to the call on its index, else to the newest one, unless it can only
// be the start of another call. A call that starts while an earlier one is open is held back until the earlier one's
// top-level JSON value has closed; so is prose. CallFinished leaves when the wire format says that the call is over, else
// with whatever follows the call, so that bytes after the value, which make it malformed, still belong to it.
//
// Prose and arguments may hold halves of surrogate pairs: each kind of prose, and each call, joins its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/surrogate_joiner.h"
#include "callgate/event.h"
#include "callgate/pipeline.h"
#include "callgate/request.h"
#include "chat/finish_reason.h"
#include "upstream/call_arguments.h"
#include "upstream/openai_chat/openai_answer.h"
#include "upstream/tool_names.h"

namespace callgate::upstream {

enum class Prose : std::uint8_t { text, reasoning, refusal };

class CallTracker {
 public:
  // From here on the pieces of a call are put together by what they can mean: names come in pieces or with something around
  // them, arguments on another index, calls a second time. Without this a name is whole, and an index right.
  // REQUIRES: `tools`, the declared ones, outlive the tracker.
  void expect_disorder(std::span<const ToolSpec> tools);
  // A document of the answer begins. `unescaped`: control characters stood in its strings as they are.
  void next_document(bool unescaped);

  void push_prose(Prose kind, std::string_view text, EventSink& sink);
  // `whole`: the piece is a call of its own, complete as it is.
  void push_call(const CallPiece& piece, bool whole, RepairCounts& repairs, EventSink& sink);
  // Nothing follows the arguments of the newest call on this index: if they are whole, the call is finished.
  void end_call(std::int64_t index, EventSink& sink);
  // The same for the newest call, unless it has no arguments but {}, which others may replace.
  void end_newest(EventSink& sink);
  // Everything held back leaves, up to a call that has no name: the tally then says so. `cut`: the turn did not end by
  // itself, so an empty last call was cut.
  void finish(bool cut, EventSink& sink);

  const CallTally& tally() const { return tally_; }
  std::size_t held_back() const { return held_back_; }
  // Halves of surrogate pairs that stayed alone and became U+FFFD.
  std::size_t replaced() const;
  // A call has arguments that have not ended.
  bool is_open() const;
  // The newest call on this index got arguments.
  bool has_arguments(std::int64_t index) const;
  // The last call has no arguments but {}, which others may replace.
  bool is_prefilled() const;

 private:
  struct Slot {
    enum class Kind : std::uint8_t { prose, call, repetition } kind = Kind::call;
    Prose prose = Prose::text;
    std::string held;  // prose
    std::optional<std::int64_t> index;
    std::optional<std::int64_t> other_index;  // on which its arguments come
    std::string id;
    std::string name;
    std::string next_id;  // of a header that came again after the value had closed
    CallArguments arguments;
    SurrogateJoiner halves;                                   // of the arguments
    std::vector<std::pair<std::string, std::string>> fields;  // that have not left yet
    std::uint64_t document = 0;                               // in which it began
    ToolNames::Growth growth = ToolNames::Growth::over;
    bool started = false;
    bool whole = false;  // it came as a call of its own
    bool over = false;   // nothing follows its arguments
    bool header_again = false;
    bool may_repeat = false;  // an earlier call: known once the arguments are whole
    bool counted_repeat = false;
    bool counted_object = false;
    bool counted_name = false;
    bool counted_place = false;

    bool is_closed() const { return arguments.state() == CallArguments::State::closed; }
  };
  // Slots stay where they are. Without any it takes no memory: most turns make no call.
  class SlotList {
   public:
    std::size_t size() const { return slots_.size(); }
    bool empty() const { return slots_.empty(); }
    Slot& operator[](std::size_t index) { return *slots_[index]; }
    const Slot& operator[](std::size_t index) const { return *slots_[index]; }
    Slot& back() { return *slots_.back(); }
    const Slot& back() const { return *slots_.back(); }
    Slot& emplace_back() { return *slots_.emplace_back(std::make_unique<Slot>()); }

   private:
    std::vector<std::unique_ptr<Slot>> slots_;
  };

  // How far back a piece may reach for its call. Keeps the search linear however many calls a turn has.
  static constexpr std::size_t kReach = 128;
  static std::size_t reach_from(std::size_t size) { return size > kReach ? size - kReach : 0; }

  // call_match.cpp: which call a piece belongs to
  Slot* find(const CallPiece& piece);
  Slot* find_elsewhere(const CallPiece& piece, Slot* usual);
  static bool is_summary(const Slot& slot, const CallPiece& piece);
  bool continues(const Slot& slot, const CallPiece& piece) const;
  bool continues_name(const Slot& slot, const CallPiece& piece) const;
  static bool continues_closed(const Slot& slot, const CallPiece& piece);
  bool same_name(const Slot& slot, std::string_view name) const;
  std::string joined_name(const Slot& slot, const CallPiece& piece) const;
  bool has_earlier(const Slot& slot, bool with_arguments) const;

  void say(Prose kind, std::string_view text, EventSink& sink);
  void end_prose(EventSink& sink);
  Slot& open(const CallPiece& piece, const Slot* reused, bool whole, RepairCounts& repairs);
  void update(Slot& slot, const CallPiece& piece, RepairCounts& repairs);
  void set_name(Slot& slot, std::string_view name, RepairCounts& repairs);
  void take_fields(Slot& slot, const CallPiece& piece, EventSink& sink);
  void emit_fields(Slot& slot, EventSink& sink);
  void append(Slot& slot, std::string_view bytes, RepairCounts& repairs, EventSink& sink);
  void end_arguments(Slot& slot);
  void drop_if_repeated(Slot& slot, RepairCounts& repairs);
  void pump(EventSink& sink);
  static bool has_name(const Slot& slot);
  void start(Slot& slot, EventSink& sink);
  void emit(std::string_view bytes, EventSink& sink);
  void close(Slot& slot, bool empty_is_cut, EventSink& sink);
  bool is_live(const Slot& slot) const { return live_ < slots_.size() && &slots_[live_] == &slot; }

  std::array<SurrogateJoiner, 3> prose_halves_;  // by Prose
  std::string joined_;
  SlotList slots_;
  std::unordered_set<std::string> ids_;
  std::size_t live_ = 0;  // the first slot that has not left completely
  std::size_t held_back_ = 0;
  CallIndex next_call_ = 0;
  CallTally tally_;
  std::optional<ToolNames> names_;
  std::uint64_t document_ = 0;
  bool unescaped_ = false;
};

}  // namespace callgate::upstream
