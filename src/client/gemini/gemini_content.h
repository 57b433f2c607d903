// Contents of a Gemini conversation -> canonical messages.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/request.h"
#include "client/call_ids.h"

namespace callgate::client {

// A part, read.
struct GeminiWirePart {
  std::optional<std::string> text;
  bool thought = false;
  std::string signature;
  std::string_view raw;    // the part
  std::string media_type;  // of inlineData and fileData
  std::string_view data;   // JSON string, of inlineData
  std::string file_uri;    // of fileData
  bool is_call = false;
  bool is_response = false;
  std::string id;  // of a call or a response
  std::string name;
  std::string_view arguments;         // JSON, of a call
  std::string_view response;          // JSON, of a response
  std::vector<GeminiWirePart> media;  // of a response
  std::string kind;                   // the name of a part that callgate does not know
};

class GeminiContents {
 public:
  // Messages are appended to `messages`, which outlives this.
  explicit GeminiContents(std::vector<Message>& messages) : messages_(messages) {}

  void clear();
  // What the user's side said: results of calls become messages of their own, before the rest.
  void add_user(const std::vector<GeminiWirePart>& parts);
  // Contents of the model that follow one another are one message: clients keep the pieces of a stream so.
  void add_model(const std::vector<GeminiWirePart>& parts);

 private:
  void add_result(const GeminiWirePart& part);
  void add_call(const GeminiWirePart& part, Message& message);

  std::vector<Message>& messages_;
  CallIds ids_;
  bool in_model_ = false;
};

// Content as Chat Completions has it: a string for text alone, else parts.
RawJson gemini_content(const std::vector<const GeminiWirePart*>& parts);

}  // namespace callgate::client
