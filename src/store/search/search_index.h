// The index of the text search, which is made after the fact. A row that is written only leaves its number in `search_waiting`; the
// text is part of its content. The sweeper indexes what waits, and a search that comes before it does so itself, so that what was
// acknowledged is found. Indexing many texts at once costs half of what it costs beside each row, and no request waits for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/database.h"

namespace callgate::store {

struct WaitingText {
  std::int64_t seq = 0;
  std::int64_t received_at = 0;
  std::string text;  // empty: the request was deleted
};

// The first `limit` after `after`, in the order of seq.
Attempt<std::vector<WaitingText>> waiting_texts(Database& database, std::int64_t after,
                                                std::int64_t limit);

// One step, a transaction of some milliseconds. True when there may be more. Two that index the same do no harm.
Attempt<bool> index_some(Database& database);
// All that waits.
Attempt<void> index_waiting(Database& database);

}  // namespace callgate::store
