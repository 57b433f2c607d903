// What a smoke run asks a server for: one streamed call of one tool. `callgate smoke` and the inspector send it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "callgate/request.h"
#include "contract/stream_contract.h"

namespace callgate::contract {

struct SmokeQuestion {
  std::string model;
  std::string protocol = "chat";  // one of contract_protocols()
  bool include_usage = false;
  bool force_tool = false;
  std::string temperature = "0";  // empty: not sent
};

const ToolSpec& smoke_tool();
// The body of the request.
std::string smoke_request(const SmokeQuestion& question);
// Its path behind the base of the server.
std::string smoke_path(const SmokeQuestion& question);
// The wire format that reads its answer.
std::string_view smoke_wire(const SmokeQuestion& question);
// What an answer is held to. Views point into the question.
ContractTerms smoke_terms(const SmokeQuestion& question);
// Markers of dialects: text that has one is a call that the server did not read.
std::span<const std::string_view> smoke_markers();

}  // namespace callgate::contract
