// The family that writes the name of a call before its arguments:
//
//   [TOOL_CALLS]get_weather[CALL_ID]a1b2c3d4e[ARGS]{"city": "Paris"}
//   <|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Paris"}<|tool_call_end|>
//   <｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{"city": "Paris"}\n```<｜tool▁call▁end｜>
//
// The call starts where its arguments do; one whose id names none of several tools, where they end. A header that does not
// read as a name leaves as prose. An opener of declared names is the name itself and a colon, of a call whose own opener
// the server has dropped.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "callgate/dialect.h"
#include "dialect/turn_parser.h"

namespace callgate::dialect {

// What the text up to the next marker is.
enum class Slot : std::uint8_t {
  name,
  id,
  kimi_id,         // functions.NAME:INDEX, which holds the name
  kind_or_name,    // a word such as `function`, unless no name follows
  arguments,       // the brace, perhaps in a code fence
  name_and_fence,  // the name of what was a kind, perhaps with a code fence
};

struct Field {
  std::string_view marker;
  Slot slot;  // what follows the marker
};

// Data only; spans must have static storage, or outlive all readers if the grammar says that it is dynamic.
struct NamedJson {
  enum class Storage : std::uint8_t { fixed, dynamic };
  Slot first = Slot::name;
  std::span<const Field> fields;
  Storage storage = Storage::fixed;
};

// REQUIRES: `grammar` has the storage that it says and goes with one prose, which has too; a request's own copy of that prose, which
// outlives the reader, may have more openers of declared names.
std::unique_ptr<CallReader> make_named_json(const Prose& prose, const NamedJson& grammar,
                                            const DialectOptions& options);

}  // namespace callgate::dialect
