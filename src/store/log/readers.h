// Connections to a store for questions. Each is used by one thread at a time; a few are kept for the next question.
//
//   Readers readers(url, options);
//   auto rows = readers.ask([&](Database& database) { return recent(database, 20); });
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "store/database.h"
#include "store/database_options.h"
#include "store/fault.h"

namespace callgate::store {

class Readers {
 public:
  Readers(std::string url, DatabaseOptions options);

  // Any thread. Runs `query` on a connection; fails when none can be opened. A connection whose query failed is closed.
  template <class Query>
  std::invoke_result_t<Query, Database&> ask(Query query) {
    Attempt<Reader> reader = take();
    if (!reader) return tl::unexpected(reader.error());
    auto answer = query(*reader->database);
    if (answer) give_back(std::move(*reader));
    return answer;
  }
  // Any thread. The store was opened again, perhaps as another file: older connections are not used for new questions.
  void renew();

 private:
  struct Reader {
    std::unique_ptr<Database> database;
    std::uint64_t opening = 0;  // the one that it belongs to
  };
  Attempt<Reader> take();
  void give_back(Reader reader);

  const std::string url_;
  const DatabaseOptions options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Database>> idle_;
  std::uint64_t openings_ = 0;
};

}  // namespace callgate::store
