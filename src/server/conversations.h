// The answers that upstreams keep, so that a client's next request can follow the last one. One interface; this is the one
// that forgets when the process ends.
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

#include "net/task.h"
#include "server/conversation_identity.h"

namespace callgate::server {

// Where an answer is, in the upstream's words.
struct KeptAnswer {
  std::string chat;
  std::string parent;  // what a message that follows it names as its parent
  Identity told{};     // the system prompt that the chat was told
};

// Any thread.
class Conversations {
 public:
  struct Found {
    KeptAnswer answer;
    bool continued = false;  // a message follows it already: another one is a branch
    bool running = false;    // it is not over: what it says is not known yet
  };

  virtual ~Conversations() = default;
  // The last answer of that conversation; nothing when it is not known. Of several with the same words one that nothing
  // follows comes first, so that two conversations that began alike stay apart.
  virtual net::Task<std::optional<Found>> find(const ConversationIdentity& who) = 0;
  // An answer to all messages of `who` has begun. Until remember() or drop() it is known by whatever a client says it was:
  // one that left may be back before its answer has been ended.
  virtual void begin(const ConversationIdentity& who, KeptAnswer kept) = 0;
  virtual void drop(const KeptAnswer& kept) = 0;
  // An answer to all messages of `who`. One that was `cut` is known by each of its beginnings.
  virtual void remember(const ConversationIdentity& who, CanonicalAnswer answer, bool cut,
                        KeptAnswer kept) = 0;
  // A message follows that answer now.
  virtual void mark_continued(const KeptAnswer& kept) = 0;
  // The upstream does not know that chat any more.
  virtual void forget(std::string_view chat) = 0;
};

struct ConversationLimits {
  std::size_t answers = 100'000;
  std::size_t bytes = std::size_t{64} << 20;  // of answers that were cut
  std::uint64_t ttl_ms = 24 * 3'600'000;
};

class MemoryConversations final : public Conversations {
 public:
  using Clock = std::function<std::uint64_t()>;
  // Default: a steady clock.
  explicit MemoryConversations(ConversationLimits limits = {}, Clock now_ms = {});

  void set_limits(ConversationLimits limits);

  net::Task<std::optional<Found>> find(const ConversationIdentity& who) override;
  void begin(const ConversationIdentity& who, KeptAnswer kept) override;
  void drop(const KeptAnswer& kept) override;
  void remember(const ConversationIdentity& who, CanonicalAnswer answer, bool cut,
                KeptAnswer kept) override;
  void mark_continued(const KeptAnswer& kept) override;
  void forget(std::string_view chat) override;

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
    std::uint64_t used_ms = 0;
  };
  using Entries = std::list<Entry>;

  std::optional<Found> find_now(const ConversationIdentity& who);
  void add(Entry entry);
  void touch(Entries::iterator entry);
  void erase(Entries::iterator entry);
  void trim();

  mutable std::mutex mutex_;
  ConversationLimits limits_;
  Clock now_ms_;
  Entries entries_;  // the last used one first
  std::unordered_map<Identity, std::vector<Entries::iterator>, IdentityHash> by_key_;
  std::unordered_map<std::string, Entries::iterator> by_place_;  // chat and parent
  std::size_t cut_bytes_ = 0;
};

}  // namespace callgate::server
