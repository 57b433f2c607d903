// The answers that upstreams keep, as this process knows them, so that a client's next request can follow the last one.
// It forgets when the process ends; StoredConversations adds a store to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "session/conversation_identity.h"

namespace callgate::server {

// Where an answer is, in the upstream's words.
struct KeptAnswer {
  std::string chat;
  std::string parent;        // what a message that follows it names as its parent
  Identity told{};           // the system prompt that the chat was told
  std::string session{};     // the id of the session that it belongs to
  std::int64_t version = 0;  // of that session in the store; 0: it is not there
  std::string name{};        // the session's name
};

struct FoundAnswer {
  KeptAnswer answer;
  bool continued = false;  // a message follows it already: another one is a branch
  bool running = false;    // it is not over: what it says is not known yet
};

// An answer that was cut is kept with its words, unless they are more than this.
inline constexpr std::size_t kMaxCutBytes = 256 * 1024;

struct ConversationLimits {
  std::size_t answers = 100'000;
  std::size_t bytes = std::size_t{64} << 20;  // of answers that were cut
  std::uint64_t ttl_ms = 24 * 3'600'000;
};

// Any thread.
class MemoryConversations {
 public:
  using Clock = std::function<std::uint64_t()>;
  // Default: a steady clock.
  explicit MemoryConversations(ConversationLimits limits = {}, Clock now_ms = {});

  void set_limits(ConversationLimits limits);

  // The last answer of that conversation; nothing when it is not known. Of several with the same words one of that
  // session comes first, then one that nothing follows, so that two conversations that began alike stay apart.
  std::optional<FoundAnswer> find(const ConversationIdentity& who, std::string_view session = {});
  // The last answer of the conversation that was used last of those that began so.
  std::optional<FoundAnswer> find_opening(const Identity& opening);
  // The name of a session; nothing when it is not known.
  std::optional<std::string> find_name(std::string_view session);

  // An answer to all messages of `who` has begun. Until remember() or drop() it is known by whatever a client says it was:
  // one that left may be back before its answer has been ended.
  void begin(const ConversationIdentity& who, KeptAnswer kept);
  void drop(const KeptAnswer& kept);
  // An answer to all messages of `who`. One that was `cut` is known by each of its beginnings.
  void remember(const ConversationIdentity& who, CanonicalAnswer answer, bool cut, KeptAnswer kept);
  // The same as the store told it. `key` is as in the store.
  void load(const Identity& key, CanonicalAnswer answer, bool cut, FoundAnswer found);
  // A message follows that answer now, or does not after all. The version becomes that of `kept`.
  void mark_continued(const KeptAnswer& kept, bool continued = true);
  // The upstream does not know that chat any more.
  void forget(std::string_view chat);
  void forget_session(std::string_view session);

  std::size_t size() const;

 private:
  struct IdentityHash {
    std::size_t operator()(const Identity& identity) const;
  };
  struct Entry {
    Identity
        key;  // the answer's; for one that was cut or is running, that of the messages before it
    bool cut = false;
    bool running = false;
    bool continued = false;
    CanonicalAnswer answer;  // of a cut one
    KeptAnswer kept;
    Identity opening{};
    std::uint64_t used_ms = 0;
  };
  using Entries = std::list<Entry>;

  void add(Entry entry);
  void touch(Entries::iterator entry);
  void erase(Entries::iterator entry);
  template <class Condition>
  void erase_if(Condition condition);
  void trim();

  mutable std::mutex mutex_;
  ConversationLimits limits_;
  Clock now_ms_;
  Entries entries_;  // the last used one first
  std::unordered_map<Identity, std::vector<Entries::iterator>, IdentityHash> by_key_;
  std::unordered_map<std::string, Entries::iterator> by_place_;  // chat and parent
  std::unordered_map<Identity, Entries::iterator, IdentityHash> by_opening_;
  std::unordered_map<std::string, std::vector<Entries::iterator>> by_session_;
  std::size_t cut_bytes_ = 0;
};

}  // namespace callgate::server
