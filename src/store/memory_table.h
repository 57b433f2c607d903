// The tables of what tool loops remember: each call is one transaction on a connection that blocks. A write says which
// step it follows; if the conversation has moved on meanwhile, it changes nothing and says so.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/database.h"

namespace callgate::store {

// Whose conversation, and which.
struct MemoryName {
  std::string key_name;
  std::string conversation;

  auto operator<=>(const MemoryName&) const = default;
};

// What is kept of a conversation beside its messages. `prompt` and `pending` are the owner's; the store only keeps them.
struct MemoryHead {
  std::string step;  // names the last write; empty before the first
  std::int64_t messages = 0;
  std::int64_t bytes = 0;  // of the messages
  std::string prompt;
  std::string pending;
  // Unix milliseconds of the database's clock.
  std::int64_t created_at = 0;
  std::int64_t used_at = 0;
  std::int64_t expires_at = 0;
};

struct Memory {
  MemoryHead head;
  std::vector<std::string> messages;
};

// A conversation in a list: without its messages.
struct ListedMemory {
  MemoryName name;
  MemoryHead head;  // `pending` is empty or not, `prompt` and `step` are not read
};

// One write: messages after those that are there, and a new head.
struct MemoryStep {
  std::string after;  // the step that was seen; empty: there was none
  std::string step;   // a name that no other write has
  std::int64_t from = 0;
  std::vector<std::string> messages;
  std::int64_t bytes = 0;  // of the whole conversation, with this
  std::string prompt;
  std::string pending;
};

class MemoryTable {
 public:
  // REQUIRES: the database, which is migrated, outlives the table.
  explicit MemoryTable(Database& database);

  // nullopt if it does not exist or has expired.
  Attempt<std::optional<Memory>> load(const MemoryName& name);
  // The latest used first; of all keys without `key_name`.
  Attempt<std::vector<ListedMemory>> list(const std::optional<std::string>& key_name,
                                          std::size_t limit);
  // False, and nothing is changed, when the last step is another than `step.after`. Safe to repeat.
  Attempt<bool> append(const MemoryName& name, const MemoryStep& step,
                       std::chrono::milliseconds keep);
  // False if it does not exist.
  Attempt<bool> erase(const MemoryName& name);
  // Removes some of what has expired; gives how many conversations. Fewer than `limit`: that was all.
  Attempt<std::int64_t> sweep(std::size_t limit);

 private:
  // With the engine's clock for {now}.
  std::string sql(std::string_view text) const;

  Database& database_;
  std::string_view now_;
};

}  // namespace callgate::store
