// Sessions as the store keeps them: conversations that an upstream keeps, and the answers in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace callgate::store {

// Where an answer is, in the words of its upstream.
struct UpstreamState {
  std::string chat;
  std::string answer;  // what a message that follows it names as its parent
  std::string told;    // digest of the system prompt that the chat was told, in hex
};

struct Session {
  std::string id;
  std::string key_name;
  std::string upstream;
  std::string model;
  std::string name;      // the client's own; empty: it gave none
  std::string parent;    // the session that this one branched off; empty: none
  UpstreamState state;   // of the last answer
  std::string identity;  // digest of everything that was said, in hex
  std::string opening;   // digest of the first question and its answer, in hex
  std::int64_t turns = 0;
  // Unix milliseconds of the database's clock.
  std::int64_t created_at = 0;
  std::int64_t used_at = 0;
  std::int64_t expires_at = 0;
  // Changes with every write. 0: not in the store yet.
  std::int64_t version = 0;
};

enum class AnswerState : std::uint8_t { complete, running, cut };

std::string_view to_string(AnswerState state);

struct SessionAnswer {
  std::string upstream;
  UpstreamState where;  // with `upstream` it names the answer
  std::string session;
  std::string identity;  // of all that was said, with the answer; of one that was cut or is
                         // running, of what was said before it
  AnswerState state = AnswerState::complete;
  bool continued = false;  // a message follows it
  std::string said;        // of a cut one: its text
  std::string called;      // ... and its calls
  std::string request;     // the id of the request in the log
  std::int64_t created_at = 0;
  std::int64_t version = 0;  // of the session, when it was read
  std::string name;          // of the session, likewise
};

// What is not set does not count.
struct SessionFilter {
  std::string model;
  std::string key_name;
  std::string upstream;
  std::string cursor;  // what the page before gave
  std::size_t limit = 50;
};

// The latest begun first.
struct SessionPage {
  std::vector<Session> sessions;
  std::string cursor;  // empty: there are no more
};

}  // namespace callgate::store
