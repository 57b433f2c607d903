// What streamed and whole answers of the Gemini API share.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "callgate/event.h"
#include "chat/field_fold.h"
#include "client/answer_parts.h"
#include "client/protocol.h"
#include "json/writer.h"

namespace callgate::client {

// Signatures of an answer, from `reasoning_details`. Those of the API itself stand on the part that they came with. What
// another issuer has sealed goes out as a signature as well, on a call where there is one: clients send those back.
class GeminiSignatures {
 public:
  // A signature that belongs on a part that was written already, or on none.
  struct Placed {
    std::string place;  // text, thought or end
    std::string data;
  };

  // `json`: the elements of a report. Calls on_placed(Placed) for those that are not of calls.
  void add(std::string_view json, FunctionRef<void(const Placed&)> on_placed);
  // Of a call, once; empty if it has none.
  std::string take(CallIndex call);
  // What another issuer has sealed and no call took; then there is none left.
  std::deque<std::string> take_sealed();

 private:
  std::map<std::int64_t, std::string> of_calls_;
  std::deque<std::string> sealed_;
};

// {"functionCall":{"id":"call_1","name":"find","args":{}},"thoughtSignature":"CiQB"}
void append_gemini_call(std::string& out, const OpenCall& call, std::string_view signature);
// {"text":"Hello"}; `signature` may be empty.
void append_gemini_text(std::string& out, std::string_view text, bool thought,
                        std::string_view signature);

std::string_view gemini_finish_word(FinishReason reason);
// Probabilities as Chat Completions has them -> a logprobsResult.
std::string gemini_logprobs(std::string_view json);

// The usage as the upstream told it.
struct GeminiUsageTold {
  std::optional<Usage> counts;
  std::string json;  // an object of the same API, with members that `counts` does not know
};
// `usageMetadata`; nothing if nobody knows.
void append_gemini_usage(json::ObjectWriter& object, const GeminiUsageTold& told,
                         const AnswerEnd& end);

}  // namespace callgate::client
