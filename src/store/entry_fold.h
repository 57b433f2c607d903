// Turns the entries of one batch into rows to write: joins each complete with its begin, by id and key, when both
// are in the batch, and finds the row of an earlier batch when not. Used by the writer thread only.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/entry_queue.h"
#include "store/request_log.h"
#include "store/request_row.h"

namespace callgate::store {

// What one row is to become. At least one of the two is there; both borrow from the batch.
struct Write {
  const RequestRecord* record = nullptr;
  const RequestOutcome* outcome = nullptr;
  RowKey key;            // number 0 when its begin is unknown
  bool refused = false;  // set when it is written: the row does not fit, or is not there
};

class EntryFold {
 public:
  // In the order of the begins. The rows are valid while `entries` is. `run` is that of new rows.
  std::vector<Write> fold(const std::vector<Entry>& entries, std::int64_t run);
  // Requests that were begun in earlier batches and are not complete.
  std::size_t open_count() const { return open_.size(); }
  // For a row that no batch has numbered.
  RowKey next_key(std::int64_t run, std::int64_t received_at) {
    return {run, ++last_number_, received_at};
  }

 private:
  struct Open {
    std::string key_name;
    RowKey row;
  };
  void find_earlier(Write& write);

  std::int64_t last_number_ = 0;
  std::unordered_multimap<std::string, Open> open_;  // by id
};

}  // namespace callgate::store
