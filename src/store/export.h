// The whole store as JSON lines, and back: what moves a log and its sessions from one engine to the
// other. The first line says what it is; each other line is one row, NULL left out:
//   {"callgate_store":1,"schema":3}
//   {"table":"request","row":{"seq":1099511627777,"id":"req_1","state":"completed",...}}
//   {"table":"content","row":{"place":4398046511108,"received_at":1760011200000,"body":"{...}"}}
// Bodies are not compressed here. Bytes that are not UTF-8 are {"base64":"..."}. Tables come one
// after the other, each in the order of its key, so that two equal stores give equal lines.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/database.h"

namespace callgate::store {

// False ends it.
using LineSink = std::function<bool(std::string_view line)>;
// Nothing at the end. Lines without their line feed.
using LineSource = std::function<std::optional<std::string>()>;
using Progress = std::function<void(std::string_view table, std::int64_t rows)>;

// One consistent state of the store, also while others write. Gives the number of rows.
Attempt<std::int64_t> export_store(Database& database, const LineSink& sink,
                                   const Progress& progress = {});

// REQUIRES: the schema is up to date. bad_row if the store is not empty, or if a line is not from
// export_store(); the message names the line.
Attempt<std::int64_t> import_store(Database& database, const LineSource& source,
                                   const Progress& progress = {});

struct CheckReport {
  int schema = 0;
  int latest = 0;  // that this callgate knows
  std::int64_t requests = 0;
  std::vector<std::string> faults;  // empty: all is well
};

// Reads all rows, which may take long. Changes nothing.
Attempt<CheckReport> check_store(Database& database);

}  // namespace callgate::store
