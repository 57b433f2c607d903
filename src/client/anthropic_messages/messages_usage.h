// The `usage` object and the stop reasons that streamed and whole Messages answers share.
//
//   {"input_tokens":12,"cache_creation_input_tokens":0,"cache_read_input_tokens":90,"output_tokens":7}
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "callgate/event.h"
#include "client/protocol.h"

namespace callgate::client {

// The usage of an answer as the upstream told it.
class MessagesUsage {
 public:
  void set(const UsageReported& event);
  void set_tier(std::string_view json) { tier_ = json; }

  // Whether the size of the prompt was told.
  bool is_known() const { return counts_ && counts_->prompt_stated; }
  // What is known before the answer: nothing was written so far. `prompt` counts where nobody has said it yet.
  void append_start(std::string& out, std::int64_t prompt) const;
  // The totals: what was told or, where some had to be estimated, the estimate, marked with "estimated":true. Other members are
  // the upstream's.
  void append_end(std::string& out, const AnswerEnd& end) const;

 private:
  std::optional<Usage> counts_;
  std::string json_;  // of an upstream that speaks the same; else empty
  std::string tier_;
};

std::string_view messages_stop_word(FinishReason reason);

}  // namespace callgate::client
