// Reasoning in Messages: thinking blocks with a signature. What another issuer sealed travels in the signature of a block, or as
// redacted thinking, and becomes itself again when the client sends it back.
//
//   {"type":"thinking","thinking":"Look it up.","signature":"EqQB"}                  Anthropic's own
//   {"type":"thinking","thinking":"Look it up.","signature":"callgate.1.eyJ0..."}    another issuer's
//   {"type":"redacted_thinking","data":"callgate.1.eyJ0..."}                         what another issuer wants back with a call
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "callgate/request.h"

namespace callgate::client {

// `format` of a reasoning_details element of Anthropic's.
inline constexpr std::string_view kAnthropicIssuer = "anthropic-claude-v1";
// Of a seal around several elements: {"format":...,"details":[...]}
inline constexpr std::string_view kSealedList = "callgate-list-v1";
// Of a seal that says nothing but that the text beside it is plain reasoning.
inline constexpr std::string_view kSealedText = "callgate-text-v1";
// Of a seal around fields of a call: {"format":...,"call":"toolu_1","fields":{"extra_content":{...}}}
inline constexpr std::string_view kSealedCall = "callgate-call-v1";

// What the thinking blocks of one assistant message say.
class ReturnedReasoning {
 public:
  // JSON strings, empty where they are missing; `index` is the place of the block.
  void add_thinking(std::string_view text, std::string_view signature, std::size_t index);
  void add_redacted(std::string_view data, std::size_t index);
  // One of them is callgate's own form.
  bool has_sealed() const { return sealed_; }
  // Sets `reasoning_details` or `reasoning_content` of the message, and fields of its calls.
  void apply_to(Message& message) const;

 private:
  bool unseal(std::string_view text, std::string_view thinking);
  void add_detail(std::string_view json);

  bool sealed_ = false;
  std::string details_;                                     // elements
  std::string text_;                                        // plain reasoning
  std::vector<std::pair<std::string, std::string>> calls_;  // id, fields
};

// The parts of a reasoning_details element that matter here.
struct ReasoningDetail {
  std::string type;
  std::string format;
  std::string_view text;       // JSON
  std::string_view signature;  // JSON
  std::string_view data;       // JSON
};
ReasoningDetail read_detail(std::string_view json);

}  // namespace callgate::client
