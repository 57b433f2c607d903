// The contract of one choice: role, text, calls, and one finish.
//   {"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "contract/chat_contract_call.h"
#include "contract/chat_contract_sheet.h"

namespace callgate::contract {

class ContractChoice {
 public:
  ContractChoice(std::uint32_t index, const ContractTerms& terms, VerdictSheet& sheet,
                 ContractProgress& progress);

  // `raw` is the choice, a JSON object; `where` names its frame.
  void accept(std::string_view raw, const std::string& where);
  void finish();

  bool is_finished() const { return finishes_ > 0; }
  std::string transcript() { return transcript_.take(); }

 private:
  void accept_delta(std::string_view delta, bool must_carry, const std::string& where);
  void accept_role(std::string_view role, const std::string& where);
  bool accept_text(std::string_view delta, const std::string& where);
  bool accept_calls(std::string_view raw, const std::string& where);
  bool accept_call(std::string_view raw, const std::string& where);
  ContractCall& find_call(const CallDelta& delta, const std::string& where);
  void check_new_index(const CallDelta& delta, const std::string& where);
  void check_id(const ContractCall& call, const std::string& where);
  void accept_finish(std::string_view reason, const std::string& where);
  void check_expected_calls();
  void check_reason();
  void check_text() const;
  void mask();

  const ContractTerms& terms_;
  VerdictSheet& sheet_;
  ContractProgress& progress_;
  std::string label_;  // `choice 0`
  std::vector<ContractCall> calls_;
  std::unordered_map<std::int64_t, std::size_t> places_;  // in calls_, by the index that was sent
  std::unordered_set<std::string> ids_;
  bool last_unplaced_ = false;  // the last call began without an index
  std::string content_;
  std::string reason_;
  std::uint32_t deltas_ = 0;
  std::uint32_t finishes_ = 0;
  bool legacy_call_ = false;
  Transcript transcript_;
};

}  // namespace callgate::contract
