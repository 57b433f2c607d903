#include "store/export.h"

#include <gtest/gtest.h>

#include "store/contract_testing.h"
#include "store/migration.h"

namespace callgate::store {
namespace {

using Lines = std::vector<std::string>;

Lines export_lines(const std::string& url) {
  const auto database = open_database(url, {}).value();
  Lines lines;
  const auto rows = export_store(*database, [&](std::string_view line) {
    lines.emplace_back(line);
    return true;
  });
  EXPECT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows.value_or(0) + 1, static_cast<std::int64_t>(lines.size()));
  return lines;
}

Attempt<std::int64_t> import_lines(const std::string& url, const Lines& lines) {
  const auto database = open_migrated(url, {}).value();
  std::size_t next = 0;
  return import_store(*database, [&]() -> std::optional<std::string> {
    if (next == lines.size()) return std::nullopt;
    return lines[next++];
  });
}

class ExportContract : public StoreContract {
 protected:
  void fill() {
    const auto log = open_log(url());
    for (int i = 0; i < 700; ++i) {
      const std::string id = "r" + std::to_string(i);
      RequestRecord record = sample_record(id, 1'760'000'000'000 + i * 3'600'000ll);
      record.session = i % 2 ? "s" : "";
      record.received = i % 3 ? "{\"é\":\"\\n\"}" : std::string("\xff\0x", 3);
      RequestOutcome outcome = sample_outcome(id);
      outcome.response = std::string(static_cast<std::size_t>(i) * 10, 'y');
      outcome.search = "words \"of\" " + id;
      if (i % 5 == 0) {
        outcome.call_rows = {{"c", "search", CallOutcome::complete},
                             {"", "search", CallOutcome::malformed}};
      }
      log->begin(std::move(record));
      if (i % 7 != 0) log->complete(std::move(outcome));
    }
    ASSERT_TRUE(log->flush(kLong));
  }
  // The other engine's.
  std::string other_url() {
    if (!is_sqlite()) return "sqlite:" + folder() + "/other.db";
    return other_ = shared_postgres().new_store();
  }
  ~ExportContract() override {
    if (!other_.empty()) shared_postgres().give_back(other_);
  }
  std::string other_;
};
CALLGATE_ON_BOTH_ENGINES(ExportContract);

// There and back again, over the other engine.
TEST_P(ExportContract, moves_a_store_without_a_difference) {
  fill();
  const Lines lines = export_lines(url());
  ASSERT_GT(lines.size(), 2000u);
  const std::string other = other_url();
  const auto imported = import_lines(other, lines);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(export_lines(other), lines);
  const std::string back = new_url();
  ASSERT_TRUE(import_lines(back, export_lines(other)));
  EXPECT_EQ(export_lines(back), lines);
  // The moved store works on.
  const auto log = open_log(other);
  log->begin(sample_record("new"));
  ASSERT_TRUE(log->flush(kLong));
  EXPECT_EQ(log->get("new").value()->outcome.state, RequestState::running);
  EXPECT_EQ(log->content("r2").value().received, "{\"é\":\"\\n\"}");
  EXPECT_EQ(log->search({.text = "r13"}).value().rows.size(), 1u);
}

TEST_P(ExportContract, refuses_what_it_cannot_take) {
  fill();
  const Lines lines = export_lines(url());
  EXPECT_EQ(import_lines(url(), lines).error().message,
            "the store is not empty: import into a new one");
  const std::string empty = new_url();
  const auto message = [&](const char* line) {
    return import_lines(empty, {lines[0], "", line}).error().message;
  };
  EXPECT_EQ(import_lines(empty, {"{}"}).error().message,
            "line 1: expected what callgate store export writes");
  EXPECT_EQ(message("{"), "line 3: expected a table and its row");
  EXPECT_EQ(message(R"({"table":"photos","row":{}})"),
            "line 3: table: this store has no such table");
  EXPECT_EQ(message(R"({"table":"request","row":{"size":1}})"),
            "line 3: size: this store has no such column");
  EXPECT_EQ(message(R"({"table":"request","row":{"id":true}})"),
            "line 3: id: expected a text, an integer or base64");
}

TEST_P(ExportContract, a_check_finds_what_belongs_to_nothing) {
  fill();
  const auto database = open_database(url(), {}).value();
  const CheckReport well = check_store(*database).value();
  EXPECT_EQ(well.requests, 700);
  EXPECT_EQ(well.faults, Lines{});
  ASSERT_TRUE(database->run("DELETE FROM request WHERE id = 'r1' OR id = 'r5'"));
  EXPECT_EQ(check_store(*database).value().faults,
            (Lines{"4 bodies belong to no request", "2 calls belong to no request",
                   "2 search texts belong to no request"}));
}

}  // namespace
}  // namespace callgate::store
