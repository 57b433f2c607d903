// One turn of the model as the loop keeps it: its text, its calls, and what became of each call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/loop.h"
#include "chat/field_fold.h"

namespace callgate::loop {

struct Call {
  enum class Status : std::uint8_t {
    writing,   // the model has not finished it
    client,    // the client's to answer
    approval,  // waits for a person
    ready,     // waits for a place to run
    running,
    settled,  // has its result
  };
  Status status = Status::writing;
  std::string id;
  std::string name;
  std::string arguments;
  bool for_client = false;
  bool exclusive = false;
  bool direct = false;  // ran well, and its result may be the answer
  RunId run = 0;
  Millis started = 0;
  Millis deadline = 0;
  std::string result;
  FieldFold fields;  // that the upstream wants back with the call

  bool waits() const {
    return status == Status::approval || status == Status::ready || status == Status::running;
  }
};

struct Round {
  std::string text;
  std::string reasoning;
  std::string details;  // elements of reasoning_details
  std::vector<Call> calls;
  Usage usage;
  std::string usage_json;
  std::uint32_t server_calls = 0;
  bool refused = false;
  bool return_reasoning = true;
  bool sent = false;     // something of it went to the client, or a call was decided
  bool over = false;     // the model has finished
  bool limited = false;  // a limit that stops was met

  // The message that history keeps. Calls that were not finished are left out.
  Message message() const;
  // The results of callgate's calls, in their order. REQUIRES: all are settled.
  std::vector<Message> results() const;
  bool has_client_calls() const;
  bool has_server_calls() const;
  bool waits() const;  // for a result of callgate's
  bool all_direct() const;
  bool empty() const;  // no word and no call
};

}  // namespace callgate::loop
