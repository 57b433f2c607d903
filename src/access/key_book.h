// KeyBook: the keys of the store as this gateway knows them. A thread of the store looks every tick whether they have
// changed; requests read a copy in memory, so that none ever waits for the store.
//
// While the store is away the book stays as it is. Before it was first read, it cannot say whether a key is known:
// find() says `unavailable`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "access/access.h"
#include "store/keys/key_table.h"

namespace callgate::server {

// A stored key as the configuration would have it; without its secret.
KeyConfig to_config(const store::StoredKey& key);

class KeyBook {
 public:
  // Hears of stored keys that cannot be used. On a thread of the store.
  using Warning = std::function<void(std::string_view)>;
  explicit KeyBook(Warning warning = {}) : warning_(std::move(warning)) {}

  // Any thread. The keys of the file: their names and secrets are theirs alone.
  void set_file_keys(const std::vector<KeyConfig>& keys);
  // A thread of the store, one at a time. Reads the table if it has changed.
  store::Attempt<void> refresh(store::KeyTable& table);

  // Any thread. `now_ms` is Unix time.
  Result<KeyRef> find(std::string_view secret, std::int64_t now_ms) const;
  Result<KeyRef> find_by_name(std::string_view name, std::int64_t now_ms) const;
  // Those that are in use: their limits are to be shared.
  std::vector<std::shared_ptr<KeyState>> keys() const;

 private:
  struct Entry {
    Secret hash;  // compared in constant time
    Secret former_hash;
    std::int64_t former_until = 0;
    std::int64_t expires_at = 0;
    bool revoked = false;
    std::shared_ptr<KeyState> key;
  };
  struct Page {
    std::vector<Entry> entries;
    std::unordered_map<std::string, std::size_t> by_hash;  // and by former hash
    std::unordered_map<std::string, std::size_t> by_name;
  };
  struct FileKeys {
    std::unordered_set<std::string> names;
    std::unordered_set<std::string> hashes;
  };

  static Result<KeyRef> use(const Entry& entry, std::int64_t now_ms);
  std::shared_ptr<const Page> page() const;
  // Says why a stored key cannot be used; empty: it can.
  std::string objection(const store::StoredKey& key, const FileKeys& of_file) const;

  const Warning warning_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Page> page_;  // nullptr: it was never read
  std::shared_ptr<const FileKeys> of_file_ = std::make_shared<FileKeys>();
  // Of the store's thread.
  std::int64_t version_ = -1;
  std::shared_ptr<const FileKeys> seen_file_;
};

}  // namespace callgate::server
