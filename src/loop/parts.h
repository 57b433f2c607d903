// The inside of a ToolLoop. Its functions are in four files: tool_loop.cpp (what the owner calls), events.cpp (the model's
// turn as it streams), calls.cpp (what becomes of a call), rounds.cpp (the end of a turn, the next one, the end of all).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/ids.h"
#include "callgate/loop.h"
#include "loop/client_turn.h"
#include "loop/evicted_results.h"
#include "loop/repeats.h"
#include "loop/round.h"
#include "loop/tool_set.h"

namespace callgate::loop {

struct ToolLoop::Parts {
  Parts(Request request_in, Options options_in, std::vector<Tool> tools_in, ClientSink& client_in,
        ArgumentCheck check_in, std::optional<State> state);

  // events.cpp
  void accept(const Event& event);
  void start_call(const CallStarted& event);
  bool pass_over();
  void add_arguments(const ArgumentsDelta& event);
  void finish_call(CallOutcome outcome);
  void report_field(const FieldReported& field, const Event& event);
  void end_turn(FinishReason reason);

  // calls.cpp
  void admit(Call& call, CallOutcome outcome);
  std::optional<std::string> refusal_of(Call& call, CallOutcome outcome, ToolOwner owner);
  std::optional<std::string> breach_of(const Call& call, ToolOwner owner);
  void enqueue(Call& call, const Tool& tool);
  void schedule();
  void run(Call& call);
  void refuse(Call& call, std::string text);  // it never runs
  void finish_run(Call& call, ToolResult result);
  void expire_runs();
  Call* find_run(RunId run, Call::Status status);
  void notice_call(const Call& call);
  void notice_result(const Call& call, std::uint64_t bytes, bool is_error);

  // rounds.cpp
  void call_model(bool retry);
  Request next_request();
  void conclude_if_over();
  void conclude();
  void answer_without_calls();
  void answer_directly();
  void next_round();
  void return_to_client();
  void fail_turn(const Error& error);
  void finish(End end, FinishReason reason = FinishReason::stop, std::optional<Error> error = {});
  void cut(End end);  // the answer is not whole, and says so
  void run_out();     // of time
  void add_usage();
  void stop_everything(std::string_view why);
  void keep_round();  // moves the round into history
  std::vector<Message> to_remember() const;
  State save() const;
  bool last_turn() const;  // whose calls are not run

  Request request;  // without messages
  Options options;
  ToolSet tools;
  ClientTurn client;
  ArgumentCheck check;
  Repeats repeats;
  EvictedResults evicted;
  IdMint mint;

  std::vector<Message> history;
  std::size_t own_from = 0;    // where this answer's messages begin in it
  std::size_t remembered = 0;  // Memory::inside: how many were given to the owner
  std::vector<State::Leg> legs;
  std::vector<Message> injected;
  std::vector<Message> user_messages;  // that the answer is for
  std::string answer;
  std::optional<std::string> system_prompt;
  std::string nudge;  // for the next turn only
  std::unordered_set<std::string> ids;
  std::unordered_map<std::string, std::uint32_t> tool_calls;

  Round round;
  std::uint32_t turn = 0;
  std::uint32_t rounds = 0;
  std::uint32_t calls_made = 0;
  std::uint32_t advisories = 0;
  std::uint32_t empty_answers = 0;
  std::uint32_t failures = 0;  // of this turn
  RunId runs = 0;
  Usage usage;
  std::string usage_json;   // what upstreams reported for all turns, added up
  bool force_next = false;  // the model repeats itself: the next turn may not call tools
  bool forced = false;      // this turn may not
  bool finished = false;

  Millis now = 0;
  Millis deadline = 0;
  std::vector<Action> actions;
};

}  // namespace callgate::loop
