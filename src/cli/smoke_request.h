// What `callgate smoke` asks for: one streamed call of one tool.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/secret.h"
#include "callgate/request.h"

namespace callgate::cli {

struct SmokeOptions {
  std::string url;  // https://host/v1
  std::string model;
  std::string protocol = "chat";  // one of contract::contract_protocols()
  Secret key;
  bool include_usage = false;
  bool force_tool = false;
  bool insecure = false;
  std::string temperature = "0";              // empty: not sent
  std::chrono::milliseconds timeout{60'000};  // of one answer
  std::uint32_t repeat = 1;
  // Leave the server in the middle of an answer first.
  enum class Leave : std::uint8_t { never, call_begun, call_whole } leave = Leave::never;
};

const ToolSpec& smoke_tool();
// The body of the request.
std::string smoke_request(const SmokeOptions& options);
// Its path behind the base of the server.
std::string smoke_path(const SmokeOptions& options);
// The wire format that reads its answer.
std::string_view smoke_wire(const SmokeOptions& options);
// Markers of dialects: text that has one is a call that the server did not read.
std::span<const std::string_view> smoke_markers();

}  // namespace callgate::cli
