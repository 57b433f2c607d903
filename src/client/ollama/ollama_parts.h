// What streamed and whole answers of Ollama's API share.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "callgate/event.h"
#include "callgate/request.h"
#include "chat/field_fold.h"
#include "client/answer_parts.h"
#include "client/protocol.h"
#include "json/writer.h"

namespace callgate::client {

// {"id":"call_1","function":{"index":0,"name":"find","arguments":{"q":"tea"}}}
void append_ollama_call(std::string& out, const OpenCall& call);

// Probabilities as Chat Completions has them, appended to the elements of Ollama's list, which stand without brackets.
void append_ollama_logprobs(std::string& elements, std::string_view json);

// What the last line of an answer says beside the message.
struct OllamaEnd {
  std::optional<FinishReason> reason;
  std::optional<Usage> usage;
  FieldFold fields;  // of the turn and the choice

  // `object` is a line that has its message.
  void append_to(json::ObjectWriter& object, const AnswerEnd& end) const;
};

}  // namespace callgate::client
