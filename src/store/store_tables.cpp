#include "store/store_tables.h"

namespace callgate::store {
namespace {

constexpr StoreTable kTables[] = {
    {"run", "id"},
    {"request", "seq"},
    {"call", "seq,number"},
    {"content", "place"},
    {"request_search", "seq"},
    {"session", "id"},
    {"session_answer", "upstream,chat,answer"},
    {"usage_hour", "hour,model,key_name,upstream"},
    {"usage_tool_hour", "hour,model,key_name,upstream,tool"},
    {"memory", "key_name,conversation"},
    {"memory_message", "key_name,conversation,number"},
    {"response", "key_name,id"},
    {"api_key", "name"},
    {"budget", "key_name,kind,begins"},
};

}  // namespace

std::span<const StoreTable> store_tables() { return kTables; }

Attempt<std::vector<StoreColumn>> store_columns(Database& database, const StoreTable& table) {
  // SQLite keeps this one in a form of its own.
  if (table.name == "request_search") {
    return std::vector<StoreColumn>{{"received_at"}, {"seq"}, {"text"}};
  }
  const Value values[] = {table.name};
  const Attempt<Rows> rows = database.query(
      database.engine() == Engine::sqlite
          ? "SELECT name, type FROM pragma_table_info($1) ORDER BY name"
          : "SELECT column_name::text, data_type::text FROM information_schema.columns WHERE "
            "table_schema = current_schema() AND table_name = $1 ORDER BY column_name::text "
            "COLLATE \"C\"",
      values);
  if (!rows) return tl::unexpected(rows.error());
  std::vector<StoreColumn> columns;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const std::string name = (*rows)[i].text(0);
    if (name == "seen_at" && table.name == "run") continue;
    const std::string type = (*rows)[i].text(1);
    columns.push_back({name, type == "BLOB" || type == "bytea"});
  }
  return columns;
}

std::vector<std::string> split_key(std::string_view key) {
  std::vector<std::string> names;
  while (!key.empty()) {
    const std::size_t comma = std::min(key.find(','), key.size());
    names.emplace_back(key.substr(0, comma));
    key.remove_prefix(std::min(comma + 1, key.size()));
  }
  return names;
}

}  // namespace callgate::store
