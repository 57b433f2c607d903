// Pipeline: upstream bytes in, client bytes out, for one response. It does no I/O and reads no clock.
//
//   auto pipeline = Pipeline::make(request, {.created = now, .id_seed = seed});
//   std::string out;
//   pipeline->push(bytes_from_upstream, out);   // as often as bytes arrive, cut anywhere
//   pipeline->finish(out);                      // the upstream closed
//
// Not thread-safe: one pipeline belongs to one thread at a time; different pipelines are independent. It holds back at most
// what PipelineOptions allows, and its output does not depend on how the input is cut.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/dialect.h"
#include "callgate/event.h"
#include "callgate/policy.h"
#include "callgate/request.h"
#include "callgate/result.h"

namespace callgate {

// Faults of upstreams that callgate mends, each counted in metrics.
enum class Repair : std::uint8_t {
  finish_reason_wrong,    // `stop` although calls were made, and the like
  finish_reason_missing,  // closed without any, or with an empty or unknown one
  index_missing,          // a call delta without an index
  index_reused,           // two calls on one index
  id_repeated,            // id or name sent again on later deltas
  id_missing,             // no id, an empty one, or one that another call of the turn has
  arguments_object,       // arguments as an object instead of a string
  markup_in_text,         // a call or reasoning written as text by a model that should not
  frame_invalid,          // a frame that is not a chunk, such as a word, skipped
  utf8_invalid,           // bytes that are not UTF-8, replaced by U+FFFD; each replacement counts
  control_unescaped,      // control characters in a JSON string as they are; each one counts
  name_broken,            // a call's name in pieces, or with a prefix or a marker around it
  arguments_misplaced,    // arguments under another key, or on an index that is not their call's
  arguments_prefilled,    // an empty value such as {} before the arguments
  arguments_surplus,      // closing brackets after the end of the arguments
  arguments_encoded,      // arguments as JSON in a JSON string
  call_repeated,          // a call or its arguments sent again as a whole, dropped
};
inline constexpr std::size_t kRepairCount = 17;
std::string_view to_string(Repair repair);
using RepairCounts = std::array<std::uint32_t, kRepairCount>;

// Sees the life of each call as the client gets it. Called inside push(), finish(), fail() and cut() of a pipeline, which it
// must not use then. Views are valid during the call only: copy what you keep.
class TurnObserver {
 public:
  struct CallStart {
    std::uint32_t choice = 0;
    CallIndex call = 0;
    std::string_view name;
    std::string_view id;
    std::uint64_t position = 0;  // deltas of the turn that went to the client before it
    bool in_text = false;        // the dialect found calls of this turn in its text
  };
  struct CallEnd {
    std::uint32_t choice = 0;
    CallIndex call = 0;
    CallOutcome outcome = CallOutcome::complete;
    std::uint64_t bytes = 0;  // of arguments
    std::uint64_t position = 0;
    bool usage_emitted = false;  // the turn's usage was known before
    bool in_text = false;
  };

  virtual ~TurnObserver() = default;
  virtual void turn_started(std::string_view response_id) = 0;
  virtual void call_started(const CallStart& start) = 0;
  virtual void call_finished(const CallEnd& end) = 0;
};

struct PipelineOptions {
  std::string wire = "openai_chat";              // what the upstream speaks
  std::string protocol = "openai_chat";          // what the client speaks
  const Dialect* dialect = nullptr;              // nullptr: native calls only, text is text
  bool dialect_is_default = false;               // nobody chose it: what it finds is a repair
  bool text_calls = true;                        // false: the dialect finds reasoning, and no call
  std::optional<Commit> commit;                  // default: the dialect's own
  bool reasoning_open = false;                   // the prompt already opened reasoning
  std::string model;                             // what the client is told; default: the request's
  std::string response_id;                       // default: minted from id_seed
  std::int64_t created = 0;                      // seconds since 1970
  std::uint64_t id_seed = 0;                     // ids that callgate mints come from this alone
  std::size_t max_frame = std::size_t{8} << 20;  // bytes of one upstream frame or line
  std::size_t max_body = std::size_t{64} << 20;  // bytes of one whole upstream answer
  std::size_t max_held_back = std::size_t{1} << 20;  // bytes of one call that may be held back
  // Extra policies, applied after callgate's own in this order; one instance per choice.
  std::vector<std::function<std::unique_ptr<Stage>()>> policies;
  PolicyOptions policy;  // callgate's own policies
  // Milliseconds since the request came in. If set, the usage has the time to the first token and that of the whole turn.
  std::function<std::int64_t()> elapsed_ms;
  TurnObserver* observer = nullptr;  // REQUIRES: outlives the pipeline
  std::size_t keep = 0;              // bytes of the answer that are kept for kept(); 0: nothing is
  // Learns why markup stayed text, with offsets in the text of its choice. REQUIRES: outlives the pipeline.
  Explainer* explain = nullptr;
  // Bytes of text that are searched for a missed call when a turn with tools makes none; 0 means no search.
  std::size_t search_missed = 0;
  // If set, the events of choice 0 go here and the client gets no bytes. Text may go on in another turn, so white space
  // at its end is kept. After a failure, which error() has, what was begun is ended for the sink as it is for a client.
  // REQUIRES: outlives the pipeline.
  EventSink* sink = nullptr;
};

// What a log line, a metric or the store wants to know of a turn. Complete once finished() is true.
struct TurnSummary {
  FinishReason reason = FinishReason::stop;  // of the first choice
  std::optional<Usage> usage;                // what the upstream reported
  bool usage_estimated = false;              // some counts were missing: the client got an estimate
  bool error_passed_over = false;            // the upstream failed, the turn ended with its calls
  std::uint32_t calls = 0;                   // over all choices
  std::array<std::uint32_t, 3> outcomes{};   // of those that were finished, by CallOutcome
  std::uint64_t text_bytes = 0;
  std::uint64_t reasoning_bytes = 0;
  std::uint64_t argument_bytes = 0;
  std::uint64_t deltas = 0;       // of text, reasoning, refusal and calls that went to the client
  std::uint64_t frames_in = 0;    // upstream frames
  std::uint32_t text_calls = 0;   // calls that the dialect found in text
  bool structured_calls = false;  // the upstream reported calls as such, beside the dialect's text
  std::string_view settled_on;    // the dialect that `auto` found them in, its own text; empty: none
  std::uint64_t held_back_deltas = 0;  // text of which nothing could leave at once
  std::uint64_t held_back_bytes = 0;   // of those
  RepairCounts repairs{};
  std::uint32_t withheld_calls = 0;     // by policies, over all choices
  std::uint64_t withheld_bytes = 0;     // of text, reasoning and arguments
  std::uint32_t mended_calls = 0;       // whose arguments `invalid_arguments` changed
  std::uint32_t grammar_broken = 0;     // inputs of custom tools that do not match their grammar
  std::uint32_t grammar_unchecked = 0;  // those with a grammar that callgate cannot check
  bool cut = false;                     // by `stop_after_tools`
  std::string_view cut_by;              // the policy that ended or thinned the turn, empty: none
  // How the first choice ended. Before its end: tool_calls while a complete call is its last word.
  std::optional<FinishReason> known_reason;
  std::uint64_t late_frames = 0;  // upstream frames that came after the cut
  // PipelineOptions::search_missed: the dialect whose call the text looks like; static text, empty: none.
  std::string_view missed_in;
  std::string
      dropped;  // what the upstream said and the client's protocol has no place for, by name
};

// A turn for a log, as the client got it: whole, or as far as it came.
struct KeptTurn {
  // What a client that does not stream gets, with its usage. A choice that has not ended has a finish reason of null.
  // Empty when the pipeline itself wrote it.
  std::string response;
  std::string events;  // a JSON array, choice after choice; docs/log.md lists its members
  std::string search;  // the names of calls and the text
  std::optional<FinishReason> reason;  // of the first choice, as far as it is known
  bool too_long = false;  // it was longer than what is kept: `events` says so, the rest is empty
};

// One response. Call push() as bytes arrive, then finish() or fail() once; stop early when finished() is true. `out` is the
// caller's: bytes are only appended to it, and it may be another string at each call.
class Pipeline {
 public:
  // REQUIRES: `request` outlives the pipeline. Fails for an unknown wire format or protocol.
  static Result<Pipeline> make(const Request& request, PipelineOptions options = {});

  Pipeline(Pipeline&&) noexcept;
  Pipeline& operator=(Pipeline&&) noexcept;
  ~Pipeline();

  // What the upstream sent, cut anywhere. Client bytes that are certain are appended to `out`.
  void push(std::string_view upstream_bytes, std::string& out);
  // The upstream closed its answer. Appends the rest of the client's answer, unless error() is set and nothing
  // has started: then the caller answers with that error.
  void finish(std::string& out);
  // The connection failed or ran into a limit: as finish(), with this as the error. A turn that only lacked its usage
  // ends well.
  void fail(const Error& error, std::string& out);

  // stop_after_tools = burst: how many calls were finished, while the grace period after the last of them runs. The
  // period starts anew when the number changes; when it is over the owner calls cut().
  std::optional<std::uint32_t> grace() const;
  // Ends the turn in order and now. Does nothing while grace() has no value.
  void cut(std::string& out);
  // reasoning_coalesce_bytes: which piece of reasoning is held back. It may be released at any time; a new piece has
  // another number.
  std::optional<std::uint32_t> held_reasoning() const;
  void release_reasoning(std::string& out);
  // Grows with whatever an upstream contributes to the answer. Comments, pings, blank lines and frames that say nothing
  // leave it as it is, and so does the usage.
  std::uint64_t progress() const;
  // The upstream has said how the turn ends, and all that it still owes is the end of the stream or its usage: fail()
  // would end the turn well.
  bool complete() const;
  // finished() is true because of a cut: the upstream is still talking and should be stopped.
  bool cut_short() const;

  // The client's answer has begun: its first event was seen or, when it is not streamed, all of it is there. Before
  // that a failure can still be answered with a real status.
  bool started() const;
  // The client's answer is complete, or error() is set and nothing has started. What the upstream still sends is ignored.
  bool finished() const;
  // The failure that the upstream reported, or that was passed to fail().
  const std::optional<Error>& error() const;
  const TurnSummary& summary() const;
  // What was kept so far, at any time. Everything in it is empty without PipelineOptions::keep.
  KeptTurn kept() const;

 private:
  struct Parts;
  explicit Pipeline(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace callgate
