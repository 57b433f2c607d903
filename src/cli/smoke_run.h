// Asks a server for one streamed call of `get_weather`, as often as wanted, and holds each answer to the contract.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/secret.h"
#include "callgate/result.h"
#include "contract/chat_contract.h"
#include "contract/smoke_request.h"

namespace callgate::cli {

struct SmokeOptions {
  std::string url;  // https://host/v1
  contract::SmokeQuestion question;
  Secret key;
  bool insecure = false;
  std::chrono::milliseconds timeout{60'000};  // of one answer
  std::uint32_t repeat = 1;
  // Leave the server in the middle of an answer first.
  enum class Leave : std::uint8_t { never, call_begun, call_whole } leave = Leave::never;
};

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
