// What could not be written to the store, in a local file until it can be. It begins with
//   callgate journal 1 9f86d081884c7d65
// where the number is new each time the file is emptied; then come records: their length and their
// CRC-32, four bytes each, the lowest first, and one row to write. The store remembers under that
// number how far it was replayed, in the transaction of the rows, so that no row is written twice.
// Opening a journal cuts it where its last whole record ends: what is appended must not follow half a record, where no reader
// would find it again. A record that is damaged later ends the journal; what follows is lost and reported.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/entry_fold.h"
#include "store/fault.h"

namespace callgate::store {

// A row as it was read from a journal.
struct SpooledWrite {
  std::optional<RequestRecord> record;
  std::optional<RequestOutcome> outcome;
  RowKey key;
};

class Journal {
 public:
  // Creates the file when it is not there. busy when another process has it.
  static Attempt<Journal> open(const std::string& path, std::uint64_t limit);
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&& other) noexcept;
  ~Journal();

  // Puts the file back where it was, with what it holds, when somebody has deleted, replaced or cut it. Nothing happens when
  // all is well. What was cut off is lost; a fault says so, once.
  Attempt<void> restore(const std::string& path);

  // Gives how many of them there was room for. The last quarter of the room takes no bodies.
  Attempt<std::size_t> append(std::span<const Write> writes);

  struct Page {
    std::vector<SpooledWrite> writes;
    std::uint64_t next = 0;  // where the next page begins
    bool damaged = false;    // nothing after `next` can be read
  };
  Attempt<Page> read(std::uint64_t offset, std::size_t most) const;
  // Everything is replayed.
  Attempt<void> clear();

  const std::string& id() const { return id_; }
  std::uint64_t begin() const;
  std::uint64_t end() const { return end_; }
  bool empty() const { return end_ <= begin(); }
  // How many bytes opening it cut off.
  std::uint64_t cut() const { return cut_; }

 private:
  Journal(int file, std::uint64_t limit) : file_(file), limit_(limit) {}
  Attempt<void> begin_anew();
  Attempt<void> cut_damage();
  // The payload of the record at `offset`; nothing when it is not whole.
  std::optional<std::string> payload_at(std::uint64_t offset) const;

  int file_ = -1;
  std::uint64_t limit_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t cut_ = 0;
  std::string id_;
};

// One row as the payload of a record, and back; nullopt if the payload is invalid.
std::string encode_write(const Write& write, bool with_bodies);
std::optional<SpooledWrite> decode_write(std::string_view payload);

}  // namespace callgate::store
