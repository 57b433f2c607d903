#include "store/export.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "store/contract_testing.h"
#include "store/migration.h"
#include "store/search/search_index.h"

namespace callgate::store::export_test {
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
  EXPECT_EQ(log->content("r3").value().received, std::string("\xff\0x", 3));
  EXPECT_EQ(log->content("r501").value().response, std::string(5010, 'y'));
  // Bodies are shown as they are, whatever the store does to keep them small.
  const std::string_view shown[] = {R"("body":{"base64":"/wB4"})", R"("body":"{\"é\":\"\\n\"}")"};
  for (const std::string_view body : shown) {
    EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.find(body) != std::string::npos;
    })) << body;
  }
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
  ASSERT_TRUE(index_waiting(*database));
  const CheckReport well = check_store(*database).value();
  EXPECT_EQ(well.requests, 700);
  EXPECT_EQ(well.faults, Lines{});
  ASSERT_TRUE(database->run("DELETE FROM request WHERE id = 'r1' OR id = 'r5'"));
  EXPECT_EQ(check_store(*database).value().faults,
            (Lines{"2 bodies belong to no request", "2 calls belong to no request",
                   "2 search texts belong to no request"}));
}

TEST_P(ExportContract, a_check_tells_what_sqlite_finds_wrong_in_its_file) {
  fill();
  const auto database = open_database(url(), {}).value();
  if (database->engine() != Engine::sqlite) GTEST_SKIP() << "PostgreSQL checks its own files";
  ASSERT_TRUE(index_waiting(*database));
  ASSERT_TRUE(database->run("CREATE TABLE odd(n INTEGER CHECK (n > 0))"));
  ASSERT_TRUE(database->run("PRAGMA ignore_check_constraints = ON"));
  ASSERT_TRUE(database->run("INSERT INTO odd VALUES (-1)"));
  ASSERT_TRUE(database->run("PRAGMA ignore_check_constraints = OFF"));
  EXPECT_EQ(check_store(*database).value().faults, Lines{"CHECK constraint failed in odd"});
}

TEST_P(ExportContract, texts_that_are_not_indexed_yet_are_written_as_well) {
  fill();
  const auto database = open_database(url(), {}).value();
  ASSERT_TRUE(database->run(is_sqlite() ? "PRAGMA query_only = ON"
                                        : "SET default_transaction_read_only = on"));
  Lines waiting;
  ASSERT_TRUE(export_store(*database, [&](std::string_view line) {
    if (line.starts_with("{\"table\":\"request_search\"")) waiting.emplace_back(line);
    return true;
  }));
  ASSERT_TRUE(index_waiting(*open_database(url(), {}).value()));
  Lines indexed;
  ASSERT_TRUE(export_store(*database, [&](std::string_view line) {
    if (line.starts_with("{\"table\":\"request_search\"")) indexed.emplace_back(line);
    return true;
  }));
  EXPECT_FALSE(waiting.empty());
  EXPECT_EQ(waiting, indexed);
}

TEST_P(ExportContract, a_store_from_before_texts_waited_is_written) {
  fill();
  const auto database = open_database(url(), {}).value();
  ASSERT_TRUE(index_waiting(*database));
  const Lines lines = export_lines(url());
  ASSERT_TRUE(database->run("DROP TABLE search_waiting"));
  EXPECT_EQ(export_lines(url()), lines);
}

// Stops taking lines after `count` of them.
Attempt<std::int64_t> export_into_room_for(Database& database, int count) {
  return export_store(database, [&](std::string_view) { return count-- > 0; });
}

TEST_P(ExportContract, lines_that_cannot_be_written_end_it) {
  const auto log = open_log(url());
  log->begin(sample_record("a"));
  ASSERT_TRUE(log->flush(kLong));
  const auto database = open_database(url(), {}).value();
  for (const int room : {0, 1, 2}) {
    const auto done = export_into_room_for(*database, room);
    ASSERT_FALSE(done) << room;
    EXPECT_EQ(done.error().kind, FaultKind::full) << room;
    EXPECT_EQ(done.error().message, "the lines cannot be written") << room;
  }
  EXPECT_EQ(export_into_room_for(*database, 3), 2) << "the head, a run, a request";
}

TEST_P(ExportContract, a_row_that_breaks_a_rule_fails_even_in_the_last_batch) {
  const Lines head = {R"({"callgate_store":1,"schema":1})",
                      R"({"table":"run","row":{"id":1,"pid":1,"host":"h","version":"v",)"
                      R"("started_at":5}})"};
  const auto request = [](int number, const char* state) {
    return R"({"table":"request","row":{"seq":)" + std::to_string(1099511627776 + number) +
           R"(,"id":"a","run":1,"state":")" + state +
           R"(","received_at":1760000000000,"stream":0}})";
  };
  // The wrong row alone, as the last of a full batch, and as the first after one.
  for (const int before : {0, 198, 199}) {
    Lines lines = head;
    for (int i = 0; i < before; ++i) lines.push_back(request(i, "completed"));
    const std::string store = new_url();
    lines.push_back(request(before, "nonsense"));
    const auto failed = import_lines(store, lines);
    ASSERT_FALSE(failed) << before;
    EXPECT_EQ(failed.error().kind, FaultKind::bad_row) << failed.error().message;
    EXPECT_EQ(failed.error().message.find("line " + std::to_string(lines.size()) + ": "), 0u)
        << failed.error().message;
    lines.back() = request(before, "completed");
    EXPECT_EQ(import_lines(new_url(), lines), static_cast<std::int64_t>(lines.size() - 1));
  }
}

TEST_P(ExportContract, a_body_that_is_missing_is_refused_like_any_wrong_row) {
  const Lines lines = {R"({"callgate_store":1,"schema":1})",
                       R"({"table":"content","row":{"place":4398046511104,)"
                       R"("received_at":1760000000000,"body":null}})"};
  const auto failed = import_lines(new_url(), lines);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, FaultKind::bad_row) << failed.error().message;
}

TEST_P(ExportContract, says_what_is_wrong_about_a_value) {
  const std::string empty = new_url();
  const auto message = [&](const std::string& value) {
    return import_lines(empty, {R"({"callgate_store":1,"schema":1})",
                                R"({"table":"request","row":{"id":)" + value + "}}"})
        .error()
        .message;
  };
  EXPECT_EQ(message("1.5"), "line 2: id: a number is not an integer");
  EXPECT_EQ(message(R"({"base65":"eA=="})"), "line 2: id: expected base64");
  EXPECT_EQ(message(R"({"base64":"!"})"), "line 2: id: expected base64");
  EXPECT_EQ(message("{}"), "line 2: id: expected base64");
  EXPECT_EQ(message("[]"), "line 2: id: expected a text, an integer or base64");
  EXPECT_EQ(import_lines(empty, {R"({"callgate_store":2})"}).error().message,
            "line 1: expected what callgate store export writes");
  EXPECT_EQ(import_lines(empty, {}).error().message,
            "line 1: expected what callgate store export writes");
}

TEST_P(ExportContract, a_check_names_an_old_schema_and_changes_nothing) {
  const std::span<const Migration> steps = migrations(GetParam());
  const auto database = open_database(new_url(true), {}).value();
  ASSERT_TRUE(migrate(*database, steps.first(steps.size() - 1)));
  const CheckReport report = check_store(*database).value();
  EXPECT_EQ(report.schema, steps[steps.size() - 2].version);
  EXPECT_EQ(report.latest, steps.back().version);
  EXPECT_EQ(report.faults,
            (Lines{"schema version " + std::to_string(report.schema) + ", expected " +
                   std::to_string(report.latest) + ": run callgate store migrate"}));
}

TEST_P(ExportContract, a_check_finds_requests_that_run_without_a_process) {
  fill();
  const auto database = open_database(url(), {}).value();
  ASSERT_TRUE(database->run("UPDATE request SET state = 'running' WHERE id = 'r3'"));
  EXPECT_EQ(check_store(*database).value().faults,
            (Lines{"1 requests run although their process has ended"}));
}

TEST(Export, a_check_tells_what_is_wrong_with_a_damaged_file) {
  const ScratchFolder folder;
  {
    const auto log = open_log(folder.url());
    for (int i = 0; i < 50; ++i) log->begin(sample_record(std::to_string(i)));
    ASSERT_TRUE(log->flush(kLong));
  }
  {
    const auto database = open_database(folder.url(), {}).value();
    EXPECT_EQ(check_store(*database).value().faults, Lines{});
    // An index that is said to be of another column than it was made of.
    ASSERT_TRUE(database->run("CREATE INDEX damaged ON request (id)"));
    ASSERT_TRUE(database->run("PRAGMA writable_schema = ON"));
    ASSERT_TRUE(
        database->run("UPDATE sqlite_schema SET sql = 'CREATE INDEX damaged ON request (model)' "
                      "WHERE name = 'damaged'"));
  }
  const auto database = open_database(folder.url(), {}).value();
  const Lines faults = check_store(*database).value().faults;
  ASSERT_EQ(faults.size(), 20u) << "as many as are asked for";
  EXPECT_NE(faults[0].find("missing from index damaged"), std::string::npos) << faults[0];
}

}  // namespace
}  // namespace callgate::store::export_test
