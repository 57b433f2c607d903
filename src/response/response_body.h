// What the service of responses reads and changes in a request body before a protocol decodes it: which response it goes on
// from, and the items that it refers to.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"

namespace callgate::server {

// Views into the body. A body that cannot be read has no members: its decoder says what is wrong.
struct ResponseFields {
  std::string_view input;  // JSON; empty: not given
  std::string previous;    // previous_response_id
  std::string stream_id;   // of a message on a socket
  std::string type;        // likewise
  bool store = true;
  bool background = false;
  bool stream = false;
  bool generate = true;
  // What was said before is with somebody else: results may answer calls that are not here.
  bool history_elsewhere = false;
};
ResponseFields read_response_fields(std::string_view body);

// The items of an `input`, with commas between them; a string is a message of the user.
std::string input_items(std::string_view input);
// Calls visit(item) for each of some items with commas between them.
void each_item(std::string_view items, FunctionRef<void(std::string_view item)> visit);
std::string join_items(std::string first, std::string_view second);
// Each item with an id of its own: those that have none get PREFIX0, PREFIX1, ...
std::string with_item_ids(std::string_view items, std::string_view prefix);

// The same body with these items as its input.
std::string with_input(std::string_view body, std::string_view items);

// Whether a response of this status goes on.
inline bool is_running(std::string_view status) {
  return status == "queued" || status == "in_progress";
}
// The object of a response whose gateway died, as it is from then on.
std::string abandoned_object(std::string_view object);

// An item that only names another: {"type":"item_reference","id":"msg_1"}. Gives the id; empty: it is something else.
std::string reference_id(std::string_view item);
// The response that an item belongs to, by the item's id: msg_abc_0 -> resp_abc. Empty: callgate did not mint it.
std::string response_of_item(std::string_view item_id);
// The first call that is answered in `items` without having been made before, there or in `before`. Empty: there is none, or a
// compaction hides which calls were made.
std::string unmatched_output(std::string_view before, std::string_view items);

}  // namespace callgate::server
