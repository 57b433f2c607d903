// The writer's use of a journal: rows go in while the store cannot be written, and come out in the
// same order when it can. Used by the writer thread only.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/entry_fold.h"
#include "store/journal.h"
#include "store/request_writer.h"
#include "store/run_database.h"

namespace callgate::store {

class Spool {
 public:
  // Without a path nothing is ever spooled.
  Spool(std::string path, std::uint64_t limit) : path_(std::move(path)), limit_(limit) {}

  // Opens what an earlier process left. A fault says, once, that its end was damaged; what is whole can be used.
  Attempt<void> open_existing();
  // Whether rows wait to be replayed. As long as they do, all others must follow them.
  bool pending() const { return journal_ && !journal_->empty(); }
  // Gives how many there was room for.
  Attempt<std::size_t> append(std::span<const Write> writes);

  struct Replayed {
    std::vector<SpooledWrite> spooled;
    std::vector<Write> writes;  // borrow from `spooled`
    bool damaged = false;       // the rest could not be read and is lost
  };
  // Writes some of the rows to the store. REQUIRES: pending(), and the database is open.
  Attempt<Replayed> replay(RunDatabase& database, RequestWriter& writer, EntryFold& fold);

  // From any thread.
  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  Attempt<void> open();
  Attempt<void> find_position(Database& database);
  Attempt<void> resolve(Write& write, RunDatabase& database, EntryFold& fold);
  Attempt<void> finish(Database& database);
  void count_bytes();

  const std::string path_;
  const std::uint64_t limit_;
  std::optional<Journal> journal_;
  std::uint64_t position_ = 0;  // 0: the store must be asked
  std::atomic<std::uint64_t> bytes_ = 0;
};

}  // namespace callgate::store
