#include "recorder/capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/check.h"

namespace callgate::server::capture_test {
namespace {

namespace fs = std::filesystem;
using Kind = CaptureLine::Kind;
using testing::ElementsAre;
using testing::HasSubstr;

class CaptureTest : public testing::Test {
 protected:
  CaptureTest() {
    std::string pattern = (fs::temp_directory_path() / "callgate_capture_XXXXXX").string();
    CALLGATE_CHECK(mkdtemp(pattern.data()) != nullptr);
    root_ = pattern;
    config_.dir = root_ + "/captures";
    writer_.emplace(log_, metrics_);
  }
  ~CaptureTest() override { fs::remove_all(root_); }

  std::unique_ptr<Capture> make(std::string id) {
    return Capture::make(*writer_, config_,
                         {.request_id = std::move(id),
                          .model = "m",
                          .protocol = "openai_chat",
                          .secrets = std::make_shared<std::vector<std::string>>(
                              std::vector<std::string>{"top-secret"})});
  }
  // Waits for the writer to be done.
  void settle() { writer_.emplace(log_, metrics_); }

  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& file : fs::directory_iterator(config_.dir)) {
      found.push_back(file.path().filename().string());
    }
    std::sort(found.begin(), found.end());
    return found;
  }
  CaptureRecord read(const std::string& id) const {
    std::ifstream in(config_.dir + "/" + id + ".capture.jsonl", std::ios::binary);
    auto record = read_capture(std::string(std::istreambuf_iterator<char>(in), {}));
    EXPECT_TRUE(record) << (record ? "" : record.error().message);
    return record ? *record : CaptureRecord{};
  }
  std::string metrics() const { return metrics_.render(); }

  std::string root_;
  CaptureConfig config_;
  telemetry::Logger log_{{.level = telemetry::LogLevel::off}};
  telemetry::Metrics metrics_;
  std::optional<CaptureWriter> writer_;
};

TEST_F(CaptureTest, writes_what_passed_into_a_file_for_its_owner_alone) {
  {
    const auto capture = make("req_1");
    const net::Headers headers{{"x-request-id", "req_1"}, {"set-cookie", "abc"}};
    PipelineOptions options{.id_seed = 7, .elapsed_ms = [] { return std::int64_t{31}; }};
    capture->made_pipeline(options);
    EXPECT_EQ(options.elapsed_ms(), 31);
    capture->client_got(200, headers, "data: top-");
    capture->client_got("secret\n");
    capture->client_got_comment(": k\n\n");
    capture->cut();
    capture->finish("completed");
    capture->client_got("late");
  }
  settle();
  const CaptureRecord record = read("req_1");
  EXPECT_EQ(record.end, "completed");
  EXPECT_FALSE(record.truncated);
  EXPECT_EQ(record.pipeline->id_seed, 7u);
  EXPECT_EQ(record.pipeline->dialect, "native");
  EXPECT_EQ(record.pipeline->elapsed_ms, std::vector<std::int64_t>{31});
  ASSERT_EQ(record.lines.size(), 5u);
  EXPECT_EQ(record.lines[0].head.headers[1].second, "***");
  EXPECT_EQ(record.lines[1].bytes, "data: ****");
  EXPECT_EQ(record.lines[2].bytes, "******\n");
  EXPECT_EQ(record.lines[4].kind, Kind::cut);
  struct stat status {};
  ASSERT_EQ(::stat((config_.dir + "/req_1.capture.jsonl").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat(config_.dir.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  EXPECT_THAT(metrics(), HasSubstr("callgate_captures_total{result=\"written\"} 1"));
}

TEST_F(CaptureTest, leaves_folders_alone_that_exist) {
  fs::permissions(root_, fs::perms(0755));
  make("req_1")->finish("completed");
  settle();
  EXPECT_EQ(fs::status(root_).permissions(), fs::perms(0755));
  EXPECT_EQ(fs::status(config_.dir).permissions(), fs::perms(0700));
}

TEST_F(CaptureTest, keeps_a_brief_one_in_memory_only) {
  RecentCaptures recent;
  const auto finish = [&](std::string id, RecentCaptures* keep) {
    const auto capture = Capture::make(*writer_, config_,
                                       {.request_id = std::move(id),
                                        .secrets = std::make_shared<std::vector<std::string>>(
                                            std::vector<std::string>{"top-secret"}),
                                        .brief = true});
    capture->client_got("what the client got");
    net::RequestHead head;
    head.method = "POST";
    capture->client_asked(head, "ask with top-secret");
    capture->cut();
    capture->finish("failed", keep);
  };
  config_.recent = 2;
  finish("req_0", nullptr);
  for (const char* id : {"req_1", "req_2", "req_3"}) finish(id, &recent);
  settle();
  EXPECT_FALSE(fs::exists(config_.dir));
  EXPECT_FALSE(recent.find("req_0", ""));
  EXPECT_FALSE(recent.find("req_1", ""));
  EXPECT_TRUE(recent.find("req_2", ""));
  const auto record = read_capture(recent.find("req_3", "").value());
  ASSERT_TRUE(record);
  EXPECT_EQ(record->end, "failed");
  EXPECT_EQ(record->lines.size(), 3u);
  EXPECT_EQ(record->lines[1].bytes, "ask with **********");
}

TEST_F(CaptureTest, keeps_no_more_bytes_in_memory_than_it_may) {
  RecentCaptures recent;
  CaptureConfig config{.recent = 10, .recent_bytes = {100}};
  const auto keep = [&](std::string id, std::uint64_t bytes) {
    CaptureJob job;
    job.record.request_id = std::move(id);
    job.secrets = std::make_shared<std::vector<std::string>>();
    job.reserved = bytes;
    recent.keep(std::move(job), config);
  };
  keep("a", 60);
  keep("b", 60);
  keep("c", 101);
  EXPECT_FALSE(recent.find("a", ""));
  EXPECT_TRUE(recent.find("b", ""));
  EXPECT_FALSE(recent.find("c", ""));
}

TEST_F(CaptureTest, shows_of_captures_with_one_id_that_of_the_key_that_asks) {
  RecentCaptures recent;
  const CaptureConfig config{.recent = 10, .recent_bytes = {100}};
  for (const char* key : {"alice", "bob"}) {
    CaptureJob job;
    job.record.request_id = "dup";
    job.record.model = std::string("of ") + key;
    job.key = key;
    job.secrets = std::make_shared<std::vector<std::string>>();
    recent.keep(std::move(job), config);
  }
  const auto model = [&](const char* key) {
    return read_capture(recent.find("dup", key).value())->model;
  };
  EXPECT_EQ(model("alice"), "of alice");
  EXPECT_EQ(model("bob"), "of bob");
  EXPECT_EQ(model("carol"), "of bob");
}

TEST_F(CaptureTest, stops_at_its_limit_and_says_so) {
  config_.max_bytes = Bytes{200};
  const auto capture = make("req_1");
  capture->client_got(std::string(100, 'a'));
  capture->client_got(std::string(100, 'b'));
  capture->client_got("c");
  capture->finish("completed");
  settle();
  const CaptureRecord record = read("req_1");
  EXPECT_TRUE(record.truncated);
  EXPECT_EQ(record.end, "completed");
  EXPECT_EQ(record.lines.size(), 1u);
  EXPECT_EQ(record.lines[0].bytes.size(), 100u);
  EXPECT_THAT(metrics(), HasSubstr("callgate_captures_total{result=\"truncated\"} 1"));
}

TEST_F(CaptureTest, keeps_the_part_of_a_piece_that_fits) {
  config_.max_bytes = Bytes{100};
  const auto capture = make("req_1");
  capture->client_got(std::string(300, 'a'));
  capture->finish("completed");
  settle();
  EXPECT_EQ(read("req_1").lines.at(0).bytes.size(), 36u);
}

TEST_F(CaptureTest, is_interrupted_unless_it_was_finished) {
  make("req_1").reset();
  settle();
  EXPECT_EQ(read("req_1").end, "interrupted");
}

TEST_F(CaptureTest, is_not_made_when_captures_hold_too_much_memory) {
  config_.max_memory = Bytes{sizeof(Capture) + 8000};
  const auto first = make("req_1");
  ASSERT_NE(first, nullptr);
  first->client_got(std::string(8000 - sizeof(CaptureLine), 'a'));
  EXPECT_EQ(make("req_2"), nullptr);
  EXPECT_THAT(metrics(), HasSubstr("callgate_captures_total{result=\"dropped\"} 1"));
  first->client_got(std::string(7000, 'a'));
  first->finish("completed");
  settle();
  EXPECT_TRUE(read("req_1").truncated);
  EXPECT_NE(make("req_3"), nullptr);
  settle();
}

TEST_F(CaptureTest, gives_its_memory_back_when_it_is_written) {
  config_.max_memory = Bytes{64 * 1024};
  for (int i = 0; i < 20; ++i) {
    std::unique_ptr<Capture> capture;
    while (capture == nullptr) capture = make("req_" + std::to_string(i));
    capture->client_got(std::string(30'000, 'a'));
    capture->finish("completed");
  }
  settle();
  EXPECT_EQ(names().size(), 20u);
}

TEST_F(CaptureTest, deletes_the_oldest_captures_and_nothing_else) {
  config_.max_files = 2;
  fs::create_directories(config_.dir);
  std::ofstream(config_.dir + "/notes.txt") << "mine";
  std::ofstream(config_.dir + "/old.capture.jsonl") << "{}";
  fs::last_write_time(config_.dir + "/old.capture.jsonl",
                      fs::file_time_type::clock::now() - std::chrono::hours(1));
  std::ofstream(config_.dir + "/newer.capture.jsonl") << "{}";
  make("req_1").reset();
  settle();
  EXPECT_THAT(names(), ElementsAre("newer.capture.jsonl", "notes.txt", "req_1.capture.jsonl"));
}

TEST_F(CaptureTest, keeps_both_of_two_requests_with_one_id) {
  make("again").reset();
  make("again").reset();
  settle();
  EXPECT_THAT(names(), ElementsAre("again-2.capture.jsonl", "again.capture.jsonl"));
}

TEST_F(CaptureTest, counts_what_cannot_be_written) {
  std::ofstream(root_ + "/file") << "";
  config_.dir = root_ + "/file/captures";
  make("req_1").reset();
  settle();
  EXPECT_THAT(metrics(), HasSubstr("callgate_captures_total{result=\"failed\"} 1"));
}

TEST(WantsCapture, depends_on_model_header_and_key) {
  Config on;
  on.capture.dir = "captures";
  on.capture.models = {"traced-*"};
  Config off;
  Config exposed = on;
  exposed.listen = {"0.0.0.0:80"};
  const KeyConfig admin{.name = "a", .admin = true};
  const KeyConfig user{.name = "u"};
  struct Row {
    const Config& config;
    std::string_view header;
    const KeyConfig* key;
    std::string_view model;
    std::string_view expected;  // yes, no, or a part of the error
  };
  const Row rows[] = {
      {on, "", &user, "m", "no"},
      {on, "0", &user, "m", "no"},
      {on, "", &user, "traced-m", "yes"},
      {on, "0", &user, "traced-m", "yes"},
      {on, "1", &admin, "m", "yes"},
      {on, "1", nullptr, "m", "yes"},
      {on, "1", &user, "m", "x-callgate-capture"},
      {on, "1", &user, "traced-m", "x-callgate-capture"},
      {on, "yes", &admin, "m", "expected 1 or 0"},
      {exposed, "1", nullptr, "m", "admin"},
      {off, "1", &admin, "m", "capture.dir"},
      {off, "", nullptr, "m", "no"},
  };
  for (const Row& row : rows) {
    const auto wanted = wants_capture(row.config, row.header, row.key, row.model);
    const std::string got = !wanted ? wanted.error().message : *wanted ? "yes" : "no";
    EXPECT_THAT(got, HasSubstr(std::string(row.expected))) << row.header << " " << row.model;
  }
  EXPECT_EQ(wants_capture(on, "1", &user, "m").error().code, ErrorCode::forbidden);
}

}  // namespace
}  // namespace callgate::server::capture_test
