// What leaves a dialect parser: prose by channel, calls, and what is held back in between. Every byte of the input
// is handed over once, as prose, as structure or as arguments; Audit counts where each one went.
//
// White space at the start of a stretch of prose is held back until it is known what follows: between calls, between
// reasoning and a call, and after the last call it is structure; before text it is text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "callgate/dialect.h"
#include "json/string_run.h"

namespace callgate::dialect {

struct Audit {
  std::uint64_t text = 0;
  std::uint64_t reasoning = 0;
  std::uint64_t arguments = 0;
  std::uint64_t marker = 0;
  std::uint64_t call_begin = 0;  // where the markup of the last call that left begins in the input

  std::uint64_t sum() const { return text + reasoning + arguments + marker; }
};

// What a stretch of prose follows; says which newlines at its start are structure.
enum class Lead : std::uint8_t {
  turn,    // none
  opener,  // of reasoning or an answer: one, and one before the closer
  closer,  // of reasoning or an answer: all
  call,    // one
};

// What a reader found instead of what it expected.
struct Found {
  enum class Extent : std::uint8_t {
    unknown,  // nothing is said of it
    rest,     // whatever follows, not read yet: its first character counts
    word,     // it counts as a whole
    end,      // the end of the turn
  };
  std::string_view text;
  Extent extent = Extent::unknown;

  static Found rest(std::string_view text) { return {text, Extent::rest}; }
  static Found word(std::string_view text) { return {text, Extent::word}; }
};

// Why a reader gave up.
struct Doubt {
  std::uint64_t at = 0;  // position
  std::string reason;    // empty: it did not
};

class Output {
 public:
  Output(Commit commit, std::size_t max_held_back, const Explainer* explain = nullptr)
      : whole_call_(commit == Commit::whole_call),
        max_held_back_(max_held_back),
        doubt_(explain == nullptr ? nullptr : std::make_unique<Doubt>()) {}

  // REQUIRES: `tools` outlives this. A call is named as its tool is declared.
  void set_tools(std::span<const ToolSpec> tools) { tools_ = tools; }
  // REQUIRES: called before anything below in each push.
  void bind(EventSink& sink) { sink_ = &sink; }

  void begin_stretch(Channel channel, Lead lead);
  // The closer of the envelope came: the newline before it is structure. Then begin_stretch().
  void close_stretch();
  void prose(std::string_view bytes);
  // Prose of which no white space is structure.
  void verbatim(Channel channel, std::string_view bytes);
  Channel channel() const { return channel_; }
  Lead lead() const { return lead_; }
  // Only white space since begin_stretch().
  bool fresh() const { return fresh_; }

  // While no call is open, it is held back; inside a call it is a marker.
  void hold(std::string_view bytes);
  // Prose between a section's opener and its first call: held back, leaves as prose ahead of the call.
  void hold_prose(std::string_view bytes);
  std::size_t held_size() const { return held_.size(); }
  std::string_view held_prose() const {
    return std::string_view(held_).substr(prose_from_, prose_to_ - prose_from_);
  }
  // The last `count` bytes that were held are not the reader's after all. REQUIRES: no call is open.
  void unhold(std::size_t count);
  void drop_held();     // it was structure
  void drop_markers();  // ... but for the prose among it, which leaves
  void release_held();  // it was not a call: leaves as prose
  std::string_view held() const { return held_; }

  // What is held back becomes structure when the call starts.
  // `least`: whole_call where only a call that turns out well is one.
  void start_call(std::string_view name, std::string_view native_id = {},
                  Commit least = Commit::eager);
  // Bytes of the input that belong to the arguments ...
  void argument_bytes(std::string_view raw);
  // (the last `count` of which were not)
  void unread_arguments(std::size_t count);
  // ... and the JSON that they are. Before start_call() it is held back too.
  void arguments(std::string_view json);
  // If the next push holds only ASCII that JSON strings need not escape, it is arguments as it is written: the parser need
  // not look at it. Said at the end of a push.
  void expect_plain();
  void expect_anything() { plain_ = false; }
  // True: the push was of that kind and has left. Called first in each push.
  bool pass_plain(std::string_view bytes);
  // False: the call was not well-formed in whole_call mode and left as prose.
  bool finish_call(CallOutcome outcome);
  bool call_open() const { return call_open_; }
  CallIndex calls() const { return next_call_; }  // that have left

  // The reader is about to give up. The first doubt counts. Costs a test where nobody asks.
  void expected(std::string_view what, const Found& found) {
    if (doubt_ != nullptr) [[unlikely]]
      note(what, found);
  }
  // That the name is one of a declared tool was expected.
  void expected_declared(std::string_view found) {
    if (doubt_ != nullptr) [[unlikely]]
      note_undeclared(found);
  }
  // nullptr: nobody asks.
  Doubt* doubt() { return doubt_.get(); }
  // Bytes of the input that were handed over so far.
  std::uint64_t position() const {
    return audit_.sum() + white_.size() + (newline_held_ ? 1 : 0) + held_.size();
  }
  // The turn was cut off: what looks whole may lack its rest.
  void cut_off() { cut_off_ = true; }
  bool is_cut_off() const { return cut_off_; }

  // The turn is over. REQUIRES: no call is open.
  void finish();
  const Audit& audit() const { return audit_; }

 private:
  enum class Kind : std::uint8_t { text, reasoning, arguments };

  void note(std::string_view what, const Found& found);
  void note_undeclared(std::string_view name);
  void leave_stretch();
  void emit_prose(std::string_view bytes);
  std::size_t structural_lead() const;
  void commit_call();
  void forget_held();
  void send(Kind kind, std::string_view bytes);
  void send_mixed(Kind kind, std::string_view bytes);
  void flush_carry();
  void accept(Kind kind, std::string_view bytes);

  EventSink* sink_ = nullptr;
  std::span<const ToolSpec> tools_;
  bool whole_call_;
  std::size_t max_held_back_;
  Audit audit_;

  Channel channel_ = Channel::text;
  Lead lead_ = Lead::turn;
  bool fresh_ = true;
  bool in_answer_ = false;
  bool cut_off_ = false;
  bool newline_held_ = false;  // may be the one before a closer
  std::string white_;          // white space of a fresh stretch

  bool plain_ = false;      // expect_plain()
  bool call_open_ = false;  // between start_call and finish_call
  bool committed_ = false;  // CallStarted has left
  CallIndex next_call_ = 0;
  std::string held_;            // of the input, since the last thing that left
  std::size_t prose_from_ = 0;  // hold_prose(): a range of held_
  std::size_t prose_to_ = 0;
  std::string held_arguments_;
  std::string name_;  // whole_call: until the call leaves
  std::string native_id_;
  std::uint64_t held_argument_bytes_ = 0;

  Kind carry_kind_ = Kind::text;
  std::string carry_;  // an incomplete UTF-8 sequence
  std::string scratch_;
  std::string scratch_held_;
  std::unique_ptr<Doubt> doubt_;
};

inline void Output::argument_bytes(std::string_view raw) {
  if (committed_) [[likely]] {
    audit_.arguments += raw.size();
    return;
  }
  held_.append(raw);
  held_argument_bytes_ += raw.size();
  if (call_open_ && held_.size() > max_held_back_) commit_call();
}

inline void Output::arguments(std::string_view json) {
  if (json.empty()) return;
  if (committed_) [[likely]] {
    send(Kind::arguments, json);
    return;
  }
  held_arguments_.append(json);
  if (call_open_ && held_.size() > max_held_back_) commit_call();
}

inline void Output::expect_plain() { plain_ = committed_ && carry_.empty(); }

inline bool Output::pass_plain(std::string_view bytes) {
  if (!plain_) return false;
  plain_ = !bytes.empty() && json::is_plain_string(bytes.data(), bytes.size());
  if (!plain_) return false;
  audit_.arguments += bytes.size();
  accept(Kind::arguments, bytes);
  return true;
}

inline void Output::send(Kind kind, std::string_view bytes) {
  if (carry_.empty() && is_ascii(bytes)) [[likely]] {
    accept(kind, bytes);
    return;
  }
  send_mixed(kind, bytes);
}

// A parser that can say where each byte of its input went.
class AuditedParser : public DialectParser {
 public:
  virtual const Audit& audit() const = 0;
  virtual std::size_t held_size() const = 0;  // bytes of a call that are held back now
};

}  // namespace callgate::dialect
