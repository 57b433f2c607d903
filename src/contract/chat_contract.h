// The contract of a Chat Completions stream, rule by rule: what a stream must look like for all clients to read it alike.
// Pure: fed the bytes of one answer, it gives a verdict per rule. docs/smoke.md lists the rules.
//
//   data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,
//     "delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"ci"}}]},"finish_reason":null}]}
//
//   ChatContract contract({.tools = tools, .include_usage = true});
//   contract.accept_head(200, "text/event-stream");   // where there is one
//   contract.push(bytes);                             // cut anywhere
//   contract.finish();
//   for (const RuleVerdict& verdict : contract.verdicts()) ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/request.h"
#include "contract/stream_contract.h"

namespace callgate::contract {

enum class ContractRule : std::uint8_t {
  // the answer
  status_ok,
  content_type,
  stream_complete,
  frames_closed,
  // its frames
  frames_are_json,
  whole_characters,
  no_error,
  frame_object,
  frame_id,
  frame_created,
  frame_model,
  // their choices
  choices_array,
  choice_index,
  choice_delta,
  finish_reason_present,
  role_first,
  role_once,
  text_is_string,
  deltas_not_empty,
  // calls
  call_made,
  forced_tool,
  no_legacy_call,
  one_call_per_delta,
  call_index,
  calls_in_sequence,
  call_id_first,
  call_id_once,
  call_id_unique,
  call_name_first,
  call_name_once,
  call_type_first,
  call_type_once,
  arguments_are_strings,
  arguments_are_fragments,
  arguments_are_json,
  tool_is_declared,
  arguments_fit_tool,
  // the end
  finish_once,
  finish_reason_known,
  finish_matches_calls,
  nothing_after_finish,
  usage_as_asked,
  usage_form,
  usage_last,
  done_once,
  nothing_after_done,
  // what must not be in it
  no_markup,
  no_secrets,
};
inline constexpr std::size_t kContractRuleCount =
    static_cast<std::size_t>(ContractRule::no_secrets) + 1;

struct ContractRuleText {
  std::string_view name;
  std::string_view asks;  // one sentence
};
// In the order of the enum.
ContractRuleText text_of(ContractRule rule);

class ChatContract final : public StreamContract {
 public:
  explicit ChatContract(const ContractTerms& terms);
  ~ChatContract() override;
  ChatContract(ChatContract&&) noexcept;
  ChatContract& operator=(ChatContract&&) noexcept;

  // Status and headers. Without it the rules about them do not apply. `other_headers` is searched for secrets.
  void accept_head(int status, std::string_view content_type,
                   std::string_view other_headers = {}) override;
  void push(std::string_view bytes) override;
  // The answer is over. `cut` says how, when it did not end as HTTP wants it.
  void finish(std::string_view cut = {}) override;

  const ContractProgress& progress() const override;
  // REQUIRES: finish() was called. One per rule, in the order of the enum.
  std::vector<RuleVerdict> verdicts() const override;
  // The answer as lines that do not depend on how it was cut into deltas, nor on ids and times:
  //   choice 0 content "Let me look."
  //   choice 0 call 0 "get_weather"
  // REQUIRES: finish() was called.
  std::string transcript() const override;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

// Keys in `text`: those given, and what looks like one (`sk-...`, `Bearer ...`). Empty: none; else a description that
// does not repeat it.
std::string find_secret(std::string_view text, std::span<const std::string_view> secrets);
// `text` with all of them replaced by `***`.
std::string mask_secrets(std::string_view text, std::span<const std::string_view> secrets);

}  // namespace callgate::contract
