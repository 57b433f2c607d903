// What surrounds a delta in the openai_chat wire format, with the faults that it can have:
//   {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,
//    "delta":{"content":"Hi"},"finish_reason":null}]}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "callgate/event.h"
#include "script/fault.h"
#include "script/reply/reply_encoder.h"

namespace callgate::script {

class ChatEnvelope {
 public:
  // REQUIRES: `faults` outlives the envelope.
  ChatEnvelope(ReplyIdentity identity, const Faults& faults)
      : identity_(std::move(identity)), faults_(faults) {}

  const ReplyIdentity& identity() const { return identity_; }
  void set_usage(const Usage& usage) { usage_ = usage; }

  // `finish` is JSON, empty before the finish.
  std::string frame(std::uint32_t choice, std::string_view delta, std::string_view finish);
  std::string empty_choices_frame();
  std::string usage_frame();
  std::string error_in_choice_frame(std::string_view error);
  // A whole answer; `choices` is a JSON array.
  std::string body(std::string_view choices) const;

 private:
  std::string head();
  void append_delta(std::string& out, std::string_view delta, bool finishes) const;
  void append_finish(std::string& out, std::string_view finish) const;
  void append_frame_usage(std::string& out, bool finishes) const;
  std::string usage_json(const Usage& usage) const;

  ReplyIdentity identity_;
  const Faults& faults_;
  Usage usage_;
  std::int64_t frames_ = 0;
};

// {"error":{"message":"...","type":"server_error","param":null,"code":null}}
std::string openai_error_body(int status, std::string_view message);

}  // namespace callgate::script
