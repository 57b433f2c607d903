// The conversations that callgate has with one codex, each a thread of it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/ids.h"
#include "base/keyed_hash.h"
#include "config/config.h"
#include "dial/answer_lane.h"
#include "dial/child_prompt.h"

namespace callgate::server {

struct Conversation {
  enum class State : std::uint8_t {
    starting,  // its turn is being started
    running,
    parked,  // calls wait for the client's next request
    idle,
  };
  State state = State::starting;
  std::string thread;
  std::string session;  // its id for clients; it ends with the thread
  std::string turn;
  std::shared_ptr<AnswerLane> lane;  // the client that listens
  std::unordered_set<std::string> tools;
  std::uint64_t history = 0;                   // of the request that is or was last answered
  std::string said;                            // the messages of the answer
  std::vector<std::string> called;             // calls of the answer
  std::unordered_set<std::string> announced;   // calls of the turn
  std::map<std::string, std::string> open;     // call -> codex' request
  std::map<std::string, std::string> results;  // for calls that codex has not asked for yet
  std::string kept;                            // lines that came while no request was open
  std::uint64_t since = 0;                     // parked or idle

  // A call of the answer that is being given. False: it is known.
  bool announce(const std::string& call);
};

class ConversationBook {
 public:
  explicit ConversationBook(const HashKey& key)
      : key_(key), mint_(keyed_hash(key, "ids of sessions")) {}

  Conversation& add(std::string thread);
  void remove(const Conversation& conversation);
  void clear() { list_.clear(); }
  std::int64_t size() const { return static_cast<std::int64_t>(list_.size()); }

  // nullptr if there is none.
  Conversation* find(std::string_view thread);
  Conversation* find(const std::shared_ptr<AnswerLane>& listener);
  // The one that this request continues.
  Conversation* find_known(const ChildPrompt& prompt);
  // The one to give up first: idle ones go before parked ones, the oldest first.
  Conversation* find_oldest_quiet();
  // One that was parked or idle for longer than the configuration allows.
  Conversation* find_expired(std::uint64_t now, const UpstreamConfig& limits);

  // Tells every listener that its answer failed.
  void fail_all(const Error& why);

 private:
  bool goes_on(const Conversation& conversation, const ChildPrompt& prompt) const;

  const HashKey key_;
  IdMint mint_;
  std::vector<std::unique_ptr<Conversation>> list_;
};

}  // namespace callgate::server
