#include "store/spool.h"

#include <algorithm>
#include <filesystem>

#include "store/request_query.h"

namespace callgate::store {
namespace {

constexpr std::size_t kJournalPage = 256;

}  // namespace

Attempt<void> Spool::open_existing() {
  std::error_code missing;
  if (path_.empty() || !std::filesystem::exists(path_, missing)) return {};
  return open();
}

Attempt<void> Spool::open() {
  if (journal_) return {};
  Attempt<Journal> opened = Journal::open(path_, limit_);
  if (!opened) return tl::unexpected(opened.error());
  journal_ = std::move(*opened);
  position_ = 0;
  count_bytes();
  if (journal_->cut() > 0) {
    return fault(FaultKind::truncated, "journal: " + path_ + " ended inside a record: " +
                                           std::to_string(journal_->cut()) + " bytes were cut off");
  }
  return {};
}

void Spool::count_bytes() { bytes_ = pending() ? journal_->end() - journal_->begin() : 0; }

Attempt<std::size_t> Spool::append(std::span<const Write> writes) {
  if (path_.empty()) return 0;
  const Attempt<void> opened = open();
  if (!opened) return tl::unexpected(opened.error());
  const Attempt<void> restored = journal_->restore(path_);
  if (!restored) {
    position_ = 0;
    count_bytes();
    return tl::unexpected(restored.error());
  }
  const Attempt<std::size_t> count = journal_->append(writes);
  count_bytes();
  return count;
}

Attempt<Spool::Replayed> Spool::replay(RunDatabase& database, RequestWriter& writer,
                                       EntryFold& fold) {
  Attempt<void> done = find_position(database.database());
  if (!done) return tl::unexpected(done.error());
  Attempt<Journal::Page> page = journal_->read(position_, kJournalPage);
  if (!page) return tl::unexpected(page.error());
  Replayed replayed{.spooled = std::move(page->writes)};
  for (const SpooledWrite& spooled : replayed.spooled) {
    Write& write = replayed.writes.emplace_back();
    write.record = spooled.record ? &*spooled.record : nullptr;
    write.outcome = spooled.outcome ? &*spooled.outcome : nullptr;
    write.key = spooled.key;
    done = resolve(write, database, fold);
    if (!done) return tl::unexpected(done.error());
  }
  if (!replayed.writes.empty()) {
    const JournalMark mark{journal_->id(), static_cast<std::int64_t>(page->next)};
    done = writer.write(database.database(), replayed.writes, &mark);
    // Whether it was written is not known for sure.
    position_ = done ? page->next : 0;
  }
  if (done && (page->damaged || position_ >= journal_->end())) {
    replayed.damaged = page->damaged;
    done = finish(database.database());
  }
  if (!done) return tl::unexpected(done.error());
  return replayed;
}

Attempt<void> Spool::find_position(Database& database) {
  if (position_ != 0) return {};
  const Value values[] = {std::string_view(journal_->id())};
  const Attempt<std::int64_t> replayed =
      database.integer("SELECT replayed FROM journal WHERE id = $1", values);
  if (!replayed) return tl::unexpected(replayed.error());
  position_ = std::max(journal_->begin(), static_cast<std::uint64_t>(*replayed));
  return {};
}

// A row that was spooled before the store was ever open has no run yet.
Attempt<void> Spool::resolve(Write& write, RunDatabase& database, EntryFold& fold) {
  if (write.key.run != 0) return {};
  if (write.record) {
    write.key = fold.next_key(database.run(), write.record->received_at);
    return {};
  }
  const Attempt<RowKey> key = find_unfinished(database.database(), *write.outcome);
  if (!key) return tl::unexpected(key.error());
  write.key = *key;
  return {};
}

// What an earlier process began and cannot complete is interrupted.
Attempt<void> Spool::finish(Database& database) {
  const std::string id = journal_->id();
  const Attempt<void> cleared = journal_->clear();
  position_ = 0;
  count_bytes();
  if (!cleared) return cleared;
  const Value values[] = {std::string_view(id)};
  const Command commands[] = {
      {"DELETE FROM journal WHERE id = $1", values},
      {"UPDATE request SET state = 'interrupted' WHERE state <> 'completed' AND state = 'running' "
       "AND run IN (SELECT id FROM run WHERE ended_at IS NOT NULL)",
       {}}};
  const Attempt<std::vector<std::int64_t>> done = database.batch(commands);
  if (!done) return tl::unexpected(done.error());
  return {};
}

}  // namespace callgate::store
