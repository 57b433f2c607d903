// Where the parts of the contract write down what they saw.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "contract/chat_contract.h"

namespace callgate::contract {

// What must be in an answer for a rule to say anything about it.
enum class Evidence : std::uint8_t { head, stream, frames, choices, text, calls, usage };
inline constexpr std::size_t kEvidenceCount = 7;

Evidence evidence_of(ContractRule rule);

class VerdictSheet {
 public:
  // The first fault of a rule is kept, later ones are counted.
  void fail(ContractRule rule, std::string seen);
  // What a rule that passes has seen, where that is more than how often.
  void note(ContractRule rule, std::string seen);
  // The rule does not apply, whatever there is.
  void waive(ContractRule rule, std::string why);
  void count(Evidence evidence, std::uint64_t more = 1);

  RuleVerdict verdict(ContractRule rule) const;

 private:
  struct Row {
    std::string fault;
    std::string note;
    std::string waiver;
    std::uint32_t faults = 0;
  };
  Row& row(ContractRule rule) { return rows_[static_cast<std::size_t>(rule)]; }

  std::array<Row, kContractRuleCount> rows_;
  std::array<std::uint64_t, kEvidenceCount> counts_{};
};

// Facts of a turn in their order, one line each; neighbours of the same kind are joined.
class Transcript {
 public:
  void add(std::string_view kind, std::string_view text);
  std::string take();

 private:
  void flush();

  std::string lines_;
  std::string kind_;
  std::string text_;
};

}  // namespace callgate::contract
