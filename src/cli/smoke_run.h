// Asks a server for one streamed call of `get_weather`, as often as wanted, and holds each answer to the contract.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/result.h"
#include "cli/smoke_request.h"
#include "contract/chat_contract.h"

namespace callgate::cli {

// In milliseconds since the request was sent.
struct SmokeTimes {
  double first_byte = 0;
  std::optional<double> first_token;  // text, reasoning or a call
  std::optional<double> first_call;
  double total = 0;
};

struct SmokeAnswer {
  int status = 0;
  std::string bytes;  // the body as received, but keys masked
  std::vector<contract::RuleVerdict> verdicts;
  std::string transcript;
  SmokeTimes times;
  bool left = false;  // by us, before its end
  contract::ContractProgress progress;
};

struct SmokeRun {
  std::vector<SmokeAnswer> answers;                    // at least one
  std::optional<contract::RuleVerdict> after_leaving;  // of `survives_disconnect`
};

inline constexpr std::string_view kSurvivesDisconnect = "survives_disconnect";

// Fails when the server could not be asked.
Result<SmokeRun> run_smoke(const SmokeOptions& options);

}  // namespace callgate::cli
