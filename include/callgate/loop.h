// ToolLoop: the model calls tools, callgate runs them and asks the model again, until no call is left. It is a state
// machine that does nothing itself: its owner reports what happened and performs the actions that it returns, in order.
//
//   auto loop = ToolLoop::make(request, options, tools, client);
//   loop->start(now);
//   for (Action& action : loop->take_actions()) perform(action);  // CallModel: its events go to loop->accept()
//   ...                                                           // RunTool: its result goes to loop->finish_run()
//
// A tool starts when its call is finished, while the model still writes the next one. The next turn of the model starts
// when this one is over and every call of it has its result. Everything that the client sees is one turn.
//
// Not thread-safe: calls into one loop must not overlap, and the ClientSink is called on the caller's thread. Time is what
// the owner says it is; the loop has no clock and never blocks. callgate/run_to_end.h is an owner for simple programs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "callgate/error.h"
#include "callgate/event.h"
#include "callgate/loop_options.h"
#include "callgate/request.h"
#include "callgate/result.h"

namespace callgate::loop {

using RunId = std::uint32_t;  // from 1, one per run of a tool

// Why a loop ended. Whatever cuts the answer off is reported to the client as FinishReason::length: max_rounds, max_calls, timeout,
// truncated and cancelled, and forced if the model still called tools.
enum class End : std::uint8_t {
  completed,
  max_rounds,
  max_calls,
  timeout,
  truncated,  // the model ran into its token limit
  empty,      // the model said nothing, also when asked again
  forced,     // it repeated itself and had to answer without calls
  cancelled,
  error,
};
std::string_view to_string(End end);

// What a tool gave back.
struct ToolResult {
  std::string text;
  bool is_error = false;
  bool truncated = false;  // the tool wrote more than its limit
};

// A result too long for the model, kept for `read_result`.
struct EvictedResult {
  std::string id;
  std::string text;

  bool operator==(const EvictedResult&) const = default;
};

// What a loop must remember while the client runs its own tools. The owner keeps it, by the ids of those calls, and
// gives it to the loop of the client's next request. It owns all that it holds.
struct State {
  // One answer that ended with calls for the client. The client knows one message of it, with its own calls; these
  // take that message's place.
  struct Leg {
    std::vector<Message> messages;  // the last one has the calls
    std::vector<Message> results;   // of those that callgate ran
  };
  struct Count {
    std::string name;
    std::uint32_t count = 0;
    bool operator==(const Count&) const = default;
  };
  std::vector<Leg> legs;
  std::vector<Message> injected;  // no turn of the model followed yet
  std::uint32_t rounds = 0;
  std::uint32_t calls = 0;
  std::uint32_t advisories = 0;
  std::vector<Count> tool_calls;        // by tool
  std::vector<Count> repeated_calls;    // by digest
  std::vector<Count> repeated_results;  // by digest
  std::uint32_t evictions = 0;
  std::vector<EvictedResult> evicted;
  std::vector<std::string> found_tools;
};
// The state as a JSON text, to be kept outside of the process.
std::string encode_state(const State& state);
// Reads what encode_state() wrote; unknown members are skipped. invalid_request, with the byte, if the text is not a state.
Result<State> decode_state(std::string_view json);

// The model's next turn. With Memory::inside `request.messages` are only what is new since the last one: the owner stores
// the first `remember` of them in one step, then sends all that its memory holds, and after it the rest, which is for this
// turn only.
struct CallModel {
  std::uint32_t turn = 0;   // counts every CallModel from 1
  std::uint32_t round = 0;  // rounds of tools before it
  bool retry = false;       // the turn before failed and nothing of it was sent
  Request request;
  std::size_t remember = 0;
  std::optional<std::string> system_prompt;  // Memory::inside: takes the place of the one in memory
};
struct StopModel {
  std::uint32_t turn = 0;
};
struct RunTool {
  RunId run = 0;
  std::string call_id;
  std::string name;
  std::string arguments;  // a JSON object, checked
  Millis deadline = 0;
};
struct CancelTool {
  RunId run = 0;
};
// Answered by approve() or deny(); at the deadline it counts as denied.
struct WaitForApproval {
  RunId run = 0;
  std::string call_id;
  std::string name;
  std::string arguments;
  Millis deadline = 0;
};
// The answer is over, the loop is not: these calls are the client's.
struct ReturnToClient {
  std::vector<CallRecord> calls;
  State state;
  std::uint32_t rounds = 0;
  std::uint32_t calls_made = 0;  // of callgate's tools, over the whole loop
  Usage usage;                   // of this answer
};
struct Finish {
  End end = End::completed;
  FinishReason reason = FinishReason::stop;  // what the client was told
  std::optional<Error> error;                // End::error
  std::uint32_t rounds = 0;
  std::uint32_t calls_made = 0;
  Usage usage;                    // summed over all turns of the model
  std::vector<Message> remember;  // for the owner's memory; no call in it lacks its result
};
using Action = std::variant<CallModel, StopModel, RunTool, CancelTool, WaitForApproval,
                            ReturnToClient, Finish>;

// What the client may see beside the events. Views are valid during notice() only.
struct ToolCallNotice {  // show_tool_calls: a tool of callgate's was called
  std::uint32_t round = 0;
  std::string_view call_id;
  std::string_view name;
  std::string_view arguments;  // a preview, as all of them may be long
};
struct ToolResultNotice {  // show_tool_calls: it has its result
  std::uint32_t round = 0;
  std::string_view call_id;
  std::string_view name;
  std::string_view preview;
  bool is_error = false;
  std::uint64_t bytes = 0;  // of the whole result
  Millis duration = 0;
};
// A call of callgate's begins, or the model's turn is over: a sink that holds text back should let it go.
struct TextPaused {};
struct LoopEnded {         // right before the client's turn ends, for its last frame
  std::optional<End> end;  // nothing: the loop goes on when the client has run its tools
  std::uint32_t rounds = 0;
  std::uint32_t calls_made = 0;
};
using Notice = std::variant<ToolCallNotice, ToolResultNotice, TextPaused, LoopEnded>;

// The client's side of the loop: one turn in the event grammar, whatever the number of rounds.
class ClientSink : public EventSink {
 public:
  virtual void notice(const Notice& notice) = 0;
};

// Says what is wrong with a call's arguments, in words that the model can act on.
using ArgumentCheck = std::function<Result<void>(const Tool& tool, std::string_view arguments)>;

class ToolLoop final : public EventSink {
 public:
  // REQUIRES: `client` outlives the loop. With Memory::inside, the messages of the request after the first
  // Options::in_memory are those that the memory lacks. `check` may be empty: then any JSON object passes. `state` comes
  // from the ReturnToClient that the request answers. Fails if the request wants more than one choice.
  static Result<ToolLoop> make(Request request, Options options, std::vector<Tool> tools,
                               ClientSink& client, ArgumentCheck check = {},
                               std::optional<State> state = {});
  ToolLoop(ToolLoop&&) noexcept;
  ToolLoop& operator=(ToolLoop&&) noexcept;
  ~ToolLoop() override;

  // REQUIRES: is called once, before everything below.
  void start(Millis now);
  // An event of the model's current turn. It happens at the time of the last call that had a `now`: call on_time() before
  // events. REQUIRES: the turn was neither stopped by StopModel nor reported to fail_turn().
  void accept(const Event& event) override;
  // The turn broke off. Ignored unless `turn` is the current one.
  void fail_turn(std::uint32_t turn, const Error& error, Millis now);
  // A tool is done. False, and nothing happens, if the run is unknown, already done or cancelled. The same goes for the
  // answers to WaitForApproval.
  bool finish_run(RunId run, ToolResult result, Millis now);
  bool approve(RunId run, Millis now);
  bool deny(RunId run, std::string_view reason, Millis now);
  // The client has left: stops what runs and ends the loop.
  void cancel(Millis now);
  // A message of the user, for the model's next turn. An answer that is complete by then is followed by another turn.
  void inject(std::string_view text);
  void set_system_prompt(std::string_view text);  // from the model's next turn on
  // Something beside the loop's own turns cost tokens, such as a summary of the conversation.
  void count(const Usage& usage, std::string_view json);

  // When on_time() must be called at the latest, if nothing else happens.
  std::optional<Millis> deadline() const;
  void on_time(Millis now);

  // What the owner must do now, in this order. Call it after each of the functions above.
  std::vector<Action> take_actions();
  // True once take_actions() has a Finish or a ReturnToClient: everything that comes later is ignored.
  bool finished() const;
  std::uint32_t rounds() const;
  std::uint32_t calls_made() const;
  std::vector<WaitForApproval> approvals() const;  // those without an answer

 private:
  struct Parts;
  explicit ToolLoop(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace callgate::loop
