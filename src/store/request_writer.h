// Writes rows of the request log with what belongs to them: calls, and what was said. The text to search in is indexed
// later, see search/search_index.h.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "store/content_codec.h"
#include "store/database.h"
#include "store/entry_fold.h"

namespace callgate::store {

// How far a journal is replayed when a batch is written.
struct JournalMark {
  std::string journal;
  std::int64_t replayed = 0;
};

class RequestWriter {
 public:
  explicit RequestWriter(Engine engine);

  // One transaction. Writing the same again changes nothing, so a batch whose commit gave a fault
  // is safe to repeat. A row that does not fit is refused alone.
  Attempt<void> write(Database& database, std::span<Write> writes,
                      const JournalMark* mark = nullptr);

 private:
  // The statement that inserts rows of one shape, several at once or one alone.
  struct Insert {
    std::string many;
    std::string one;
    std::size_t columns = 0;
    std::vector<Value> values;  // of the rows that wait
  };
  struct Planned {
    const std::string* sql;
    std::size_t first;  // of values_
    std::size_t count;
    Write* updated;  // whose row must be there
  };

  void plan(Write& write);
  void plan_children(const Write& write);
  void plan_calls(const Write& write);
  void plan_result(const std::optional<CallResult>& result);
  void plan_content(const Write& write);
  void finish_plan();
  void plan_inserts(Insert& insert);
  void plan_mark(const JournalMark& mark, std::span<const Write> writes);
  void forget_plan();
  Attempt<void> perform(Database& database);
  Attempt<void> write_one_by_one(Database& database, std::span<Write> writes,
                                 const JournalMark* mark);
  Attempt<void> perform_within(Database& database);

  Insert begun_;
  Insert whole_;
  Insert call_;
  Insert content_;
  Insert waiting_;
  std::string update_;
  std::string mark_;
  std::string sum_again_;
  ContentEncoder encoder_;

  std::vector<Value> values_;
  std::vector<Planned> planned_;
  std::vector<Planned> updates_;
  std::vector<Command> commands_;
  std::deque<std::string> bodies_;              // joined
  std::unordered_set<std::string_view> names_;  // of the calls of one request
};

}  // namespace callgate::store
