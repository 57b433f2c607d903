// Which conversation a request belongs to, by what was said: a digest over every message up to the last answer. It is
// taken from what the client itself wrote, before anything was rendered into it, and forgives what clients change without
// meaning it: white space at the ends of a text, a text as a list of parts, white space in arguments, reasoning.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sha256.h"
#include "callgate/event.h"
#include "callgate/request.h"

namespace callgate::server {

using Identity = Sha256::Digest;

// Nothing is shared between scopes.
struct ConversationScope {
  std::string_view key_name;  // of the client's key
  std::string_view upstream;
  std::string_view model;    // as the upstream calls it
  std::string_view session;  // empty: the client names none
};

// An answer as its client sends it back.
struct CanonicalAnswer {
  std::string text;   // without reasoning and white space in front
  std::string calls;  // each one complete, so that fewer calls are a beginning of it

  bool empty() const { return text.empty() && calls.empty(); }
  // This answer, or one that was cut before its end.
  bool begins_with(const CanonicalAnswer& other) const;
};

struct ConversationIdentity {
  std::size_t answered = 0;  // messages up to and with the last answer; 0 in a new conversation
  Identity before{};         // the messages in front of the last answer
  Identity answer{};         // ... with it
  Identity whole{};          // all messages
  CanonicalAnswer last;      // the last answer
  bool with_ids = true;      // calls have ids: the client does not use `functions`
  Identity question{};       // the first message of the user
  Identity opening{};        // ... with the text of the first answer; zero when it has none
};

// With a session system prompts do not count: the client says which conversation it is.
ConversationIdentity identify(const Request& asked, const ConversationScope& scope);

// The identity of the messages in `whole` together with that answer.
Identity follow(const Identity& whole, const CanonicalAnswer& answer);

// The first message of the user and the text of the first answer, which is `answer` in a new conversation. Zero when it
// has no text. Clients that leave out old messages keep these two.
Identity opening_of(const ConversationIdentity& who, const CanonicalAnswer& answer);

std::string to_hex(const Identity& identity);
// Zero when it is not one.
Identity from_hex(std::string_view hex);

// The system prompt, which stands in front of all other messages.
std::size_t count_leading_system(std::span<const Message> messages);
Identity identify_prompt(std::span<const Message> messages);

// What the client got of an answer.
class AnswerRecord final : public EventSink {
 public:
  explicit AnswerRecord(std::size_t limit) : limit_(limit) {}

  void accept(const Event& event) override;
  bool overflowed() const { return text_.size() + arguments_ > limit_; }
  CanonicalAnswer to_canonical(bool with_ids) const;

 private:
  struct Call {
    CallRecord record;
    bool complete = false;
  };
  std::size_t limit_;
  std::string text_;
  std::vector<Call> calls_;
  std::size_t arguments_ = 0;
};

}  // namespace callgate::server
