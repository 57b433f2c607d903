// Questions about the request log, in SQL. Both engines get the same statements, save for the search
// in texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/database.h"
#include "store/request_log.h"
#include "store/request_row.h"

namespace callgate::store {

struct RequestQuery {
  std::string sql;
  std::vector<Value> values;  // borrow from the filter and from `texts`
  std::vector<std::string> texts;
};

// Whether SQLite begins with the rows that have the words, or looks for them in row after row. The
// other engine knows by itself.
enum class Words : std::uint8_t { rare, common };

// Asks for one row more than the limit, which shows whether there is another page. bad_row when the
// cursor is not one that a search returned.
Attempt<RequestQuery> search_query(Engine engine, const RequestFilter& filter,
                                   Words words = Words::rare);

Attempt<RequestPage> search(Database& database, const RequestFilter& filter);
Attempt<std::vector<RequestRow>> recent(Database& database, std::size_t limit);
Attempt<std::optional<RequestRow>> get(Database& database, RequestName name);
// Of the request that get() gives.
// False if there is no such request.
Attempt<bool> resolve(Database& database, RequestName name, std::optional<std::int64_t> at,
                      std::string_view note);
Attempt<std::vector<CallRow>> calls(Database& database, RequestName name);
Attempt<RequestContent> content(Database& database, RequestName name);
Attempt<StoreStats> stats(Database& database);
// The latest row with this id and key that has no outcome; number 0 if there is none.
Attempt<RowKey> find_unfinished(Database& database, const RequestOutcome& outcome);

}  // namespace callgate::store
