// The contract of a streamed answer in some protocol, rule by rule. Pure: fed the bytes of one answer, it gives a verdict per
// rule. docs/smoke.md lists the rules.
//
//   auto contract = make_contract("gemini", {.tools = tools});
//   contract->accept_head(200, "text/event-stream");  // where there is one
//   contract->push(bytes);                            // cut anywhere
//   contract->finish();
//   for (const RuleVerdict& verdict : contract->verdicts()) ...
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/request.h"

namespace callgate::contract {

enum class Verdict : std::uint8_t { pass, fail, not_applicable };
std::string_view to_string(Verdict verdict);

struct RuleVerdict {
  std::string_view rule;
  Verdict verdict = Verdict::not_applicable;
  std::string seen;  // one line; holds no secret

  bool operator==(const RuleVerdict&) const = default;
};

// What was asked for. Views and spans must outlive the contract.
struct ContractTerms {
  std::span<const ToolSpec> tools;
  std::uint32_t choices = 1;
  bool include_usage = false;
  bool usage_known = true;  // false: the usage is unknown, so its frame may be missing
  bool call_expected = false;
  std::string_view forced_tool;               // tool_choice named it
  std::span<const std::string_view> markers;  // of dialects: they never stand in text
  std::span<const std::string_view> secrets;  // keys that were sent
};

// What has come so far.
struct ContractProgress {
  std::uint64_t frames = 0;
  bool said = false;              // text, reasoning or a call
  std::uint32_t calls_begun = 0;  // over all choices
  std::uint32_t calls_whole = 0;  // whose arguments are a closed JSON value
};

class StreamContract {
 public:
  virtual ~StreamContract() = default;

  // Status and headers. Without it the rules about them do not apply. `other_headers` is searched for secrets.
  virtual void accept_head(int status, std::string_view content_type,
                           std::string_view other_headers = {}) = 0;
  virtual void push(std::string_view bytes) = 0;
  // The answer is over. `cut` says how, when it did not end as HTTP wants it.
  virtual void finish(std::string_view cut = {}) = 0;

  virtual const ContractProgress& progress() const = 0;
  // REQUIRES: finish() was called. One per rule.
  virtual std::vector<RuleVerdict> verdicts() const = 0;
  // The answer as lines that do not depend on how it was cut into deltas, nor on ids and times.
  // REQUIRES: finish() was called.
  virtual std::string transcript() const = 0;
};

// Protocols that have rules: chat, responses, messages, gemini, ollama.
std::span<const std::string_view> contract_protocols();
// REQUIRES: `protocol` is one of those.
std::unique_ptr<StreamContract> make_contract(std::string_view protocol,
                                              const ContractTerms& terms);

}  // namespace callgate::contract
