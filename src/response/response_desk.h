// What the routes of responses share on one event loop: a request body becomes a turn, with what it goes on from; its answer is
// kept for who may ask for it again.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/memory_budget.h"
#include "callgate/result.h"
#include "front/admission.h"
#include "front/desk.h"
#include "net/task.h"
#include "response/response_body.h"
#include "store/response_table.h"
#include "turn/ask.h"
#include "turn/audience.h"
#include "turn/turn_job.h"

namespace callgate::server {

// Decodes a body for a turn: the gateway's.
using ReadTurn = std::function<Result<std::unique_ptr<LoopWork>>(Ask& ask, std::string_view body)>;

struct ResponseDesk {
  const Desk& desk;
  ReadTurn read_turn;
};

inline std::string key_name_of(const Ask& ask) {
  return ask.key == nullptr ? std::string() : ask.key->config.name;
}

// What was said before, of a connection that remembers. Nothing: it does not know that response.
using Remembered = std::function<const std::string*(std::string_view response_id)>;

struct ExpandedBody {
  std::string body;    // what the protocol decodes
  std::string before;  // items of the responses before it
  std::string items;   // its own
  Reservation memory;  // what these hold

  // Once it is decoded.
  void forget_body() {
    std::string().swap(body);
    memory.resize(before.size() + items.size());
  }
};
// Puts in front of the input what it goes on from, and other items in place of references to them. Fails with
// previous_response_not_found, or names the item that is not there; also where all of it is longer than a body may be, or there is
// no memory for it.
net::Task<Result<ExpandedBody>> expand_body(const ResponseDesk& desk, std::string key_name,
                                            std::string_view body, const ResponseFields& fields,
                                            const Remembered& remembered);

// One turn, with a tool loop where it has one.
net::Task<> run_response(const Desk& desk, std::unique_ptr<LoopWork> work,
                         const net::Headers& asked, Audience& audience);

// What is kept of a response, once its object is known.
store::StoredResponse to_stored(const Desk& desk, std::string_view object, std::string previous,
                                std::string_view items);
// A store that is away is logged: the answer leaves in any case.
net::Task<> save_response(const Desk& desk, store::ResponseName name,
                          store::StoredResponse response);

// The stored response, or nothing. One that a dead gateway left running counts as failed.
net::Task<Result<std::optional<store::StoredResponse>>> load_response(const Desk& desk,
                                                                      store::ResponseName name);

// A response object without output, for a request that has not begun or that ended before it did.
std::string bare_response(const TurnJob& job, std::string_view status, std::string_view error);

}  // namespace callgate::server
