// The tables of the store as export and import see them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/database.h"

namespace callgate::store {

struct StoreTable {
  std::string_view name;
  // What its rows are known and ordered by, parted by commas; the same on both engines.
  std::string_view key;
};

// In the order in which they are written.
std::span<const StoreTable> store_tables();

struct StoreColumn {
  std::string name;
  bool is_blob = false;
};

// In alphabetical order; none when the table is not there. Without those that one engine alone has.
Attempt<std::vector<StoreColumn>> store_columns(Database& database, const StoreTable& table);

std::vector<std::string> split_key(std::string_view key);

}  // namespace callgate::store
