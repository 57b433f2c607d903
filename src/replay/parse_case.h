// `callgate parse`: model text in, what it means out. The batch form is a contract that other programs build on:
//
//   {"id":"x","dialect":"kimi_k2","tools":[{"name":"f","parameters":{...}}],"text":"..."}
//   {"id":"x","content":null,"reasoning":null,"tool_calls":[{"index":0,"id":"...","name":"f","arguments":"{...}",
//    "outcome":"complete"}],"finish_reason":"tool_calls","error":null}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/dialect.h"
#include "callgate/request.h"
#include "callgate/result.h"
#include "chat/event_log.h"
#include "dialect/custom/catalog.h"
#include "replay/dialect_survey.h"
#include "replay/explanation.h"

namespace callgate::replay {

// How the text is cut into pushes.
struct Split {
  enum class Mode : std::uint8_t { whole, every, random } mode = Mode::whole;
  std::size_t size = 1;    // mode every
  std::uint64_t seed = 0;  // mode random
};
Result<Split> parse_split(std::string_view text);  // whole | byte | N | random:SEED

enum class Emit : std::uint8_t { message, events, sse };

struct ParseCase {
  std::string id_json = "null";  // as written, so that any JSON value comes back as it was
  std::string dialect;
  std::vector<ToolSpec> tools;
  std::string text;
  std::vector<std::string> chunks;
  bool has_chunks = false;
  Channel channel = Channel::text;
  bool reasoning_open = false;
  std::optional<Commit> commit;
  const dialect::Catalog* dialects = nullptr;  // nullptr: those of this library
};

// One line of the batch form. `id_json` is filled as soon as it is known, also when the rest is wrong.
Result<void> parse_line(std::string_view line, ParseCase& into);

// Runs the case. Fails when the dialect is unknown.
Result<EventLog> run_case(const ParseCase& input, const Split& split, Explainer* explain = nullptr);

// The result object of one case, one line without the line end. Prints the explanation as well, unless it is nullptr.
std::string print_result(const ParseCase& input, const EventLog& log, Emit emit,
                         const Explanation* explanation = nullptr);
std::string print_failure(const ParseCase& input, const Error& error);

// What every dialect makes of the case's text; the one that it names does not matter.
Survey survey_case(ParseCase input, const Split& split);
// {"id":"x","dialects":[{"dialect":"hermes","calls":["f"]}],"close":[...],"error":null}
std::string print_survey(const ParseCase& input, const Survey& survey);

struct BatchOptions {
  Split split;
  Emit emit = Emit::message;
  bool explain = false;
  bool all_dialects = false;  // survey every line, as a line does that names the dialect `all`
  const dialect::Catalog* dialects = nullptr;
};
// The result line of one line of the batch form.
std::string answer_line(std::string_view line, const BatchOptions& options);

}  // namespace callgate::replay
