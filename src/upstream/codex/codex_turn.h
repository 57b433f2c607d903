// CodexTurn: what codex reports, in any of its protocols, as events of one answer. An answer ends with the turn of
// codex, or earlier, when a response of the model made calls of the client's tools.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/surrogate_joiner.h"
#include "callgate/error.h"
#include "callgate/event.h"
#include "callgate/pipeline.h"
#include "callgate/request.h"
#include "chat/finish_reason.h"
#include "upstream/call_tracker.h"
#include "upstream/narration.h"
#include "upstream/tool_names.h"

namespace callgate::upstream {

// What a client gets to know of tools that codex runs itself.
enum class OwnTools : std::uint8_t { hidden, text, annotations };

struct OwnTool {
  std::string_view kind;  // exec, patch, mcp or plan
  std::string_view id;
  std::string title;    // the command, the files, the tool's name
  std::string outcome;  // such as `exit status 0`
};

class CodexTurn {
 public:
  explicit CodexTurn(const Request& request);

  void show(OwnTools how) { own_tools_ = how; }
  // A tool of the client, also where something stands around its name.
  bool declares(std::string_view tool) const { return names_.declares(names_.cleaned(tool)); }

  // A line begins. `unescaped`: control characters stood in its strings as they are.
  void next_line(bool unescaped) { calls_.next_document(unescaped); }

  // Pieces of a text may end with half of a surrogate pair.
  void say(std::string_view piece, EventSink& sink);
  void say_whole(std::string_view message, EventSink& sink);
  void think(std::string_view piece, EventSink& sink);
  void think_whole(std::string_view text, EventSink& sink);
  void end_thought() { reasoning_.end_message(); }
  bool in_thought() const { return reasoning_.in_message(); }
  // A call of a client's tool; one with the id of an earlier one is the same, one without a name fails the turn.
  void call(std::string_view id, std::string_view name, std::string_view arguments,
            EventSink& sink);
  void own_tool(const OwnTool& tool, EventSink& sink);
  // Reasoning that only its maker can read, kept for the next request.
  void sealed_thought(std::string_view id, std::string_view data, EventSink& sink);

  // The tokens of one response of the model.
  void add_usage(const Usage& usage, EventSink& sink);
  // All tokens of the thread so far, and those of its last response; sent more than once, and also for turns before.
  void total_usage(const Usage& total, const Usage& last, EventSink& sink);

  // The connection to the model broke and codex asks again: what it said comes once more.
  void retry();
  // A response of the model is complete.
  void settle();
  void fail(Error error);
  // Codex' turn is over.
  void complete() { finished_ = true; }

  // The last event, if it has not left yet. `cut`: nobody said that the turn is over.
  void finish(bool cut, EventSink& sink);

  bool has_calls() const { return has_calls_; }
  bool has_said() const { return said_; }
  bool finished() const { return finished_; }
  const std::optional<Error>& error() const { return error_; }
  // Halves of surrogate pairs that stayed alone and became U+FFFD.
  std::size_t replaced() const {
    return text_halves_.replaced() + reasoning_halves_.replaced() + calls_.replaced();
  }
  // Of the calls.
  const RepairCounts& repairs() const { return repairs_; }

 private:
  void pass(Prose kind, std::string_view text, EventSink& sink);

  ToolNames names_;
  CallTracker calls_;
  CallPiece piece_;
  std::unordered_set<std::string> call_ids_;
  bool has_calls_ = false;
  RepairCounts repairs_{};
  OwnTools own_tools_ = OwnTools::hidden;
  Narration text_;
  Narration reasoning_;
  SurrogateJoiner text_halves_;
  SurrogateJoiner reasoning_halves_;
  std::string joined_;
  FinishReason reason_ = FinishReason::stop;
  std::optional<Error> error_;
  Usage usage_;
  std::optional<Usage> before_;  // the thread's tokens before this answer
  bool usage_by_response_ = false;
  bool said_ = false;  // anything: before it totals are those of earlier turns
  bool finished_ = false;
  bool ended_ = false;
};

}  // namespace callgate::upstream
