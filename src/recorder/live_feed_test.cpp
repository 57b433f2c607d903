#include "recorder/live_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callgate::server::live_feed_test {
namespace {

using testing::ElementsAre;

std::shared_ptr<const store::RequestRecord> record(std::string id, std::string model = "m") {
  store::RequestRecord made;
  made.id = std::move(id);
  made.model = std::move(model);
  made.upstream = "main";
  return std::make_shared<const store::RequestRecord>(std::move(made));
}

std::vector<std::string> ids(const LiveFeed::News& news) {
  std::vector<std::string> found;
  for (const LiveRow& row : news.rows) found.push_back(row.record->id);
  return found;
}

TEST(LiveFeed, is_watched_while_there_is_a_viewer_and_a_moment_longer) {
  LiveFeed feed;
  EXPECT_FALSE(feed.is_watched());
  {
    const LiveFeed::Viewer viewer(feed);
    EXPECT_TRUE(viewer);
    EXPECT_TRUE(feed.is_watched());
    EXPECT_EQ(feed.viewers(), 1);
  }
  EXPECT_EQ(feed.viewers(), 0);
  EXPECT_TRUE(feed.is_watched()) << "whoever lost its connection comes back";
}

TEST(LiveFeed, admits_a_limited_number_of_viewers) {
  LiveFeed feed;
  std::vector<std::unique_ptr<LiveFeed::Viewer>> viewers;
  for (std::int64_t i = 0; i < LiveFeed::kViewers; ++i) {
    viewers.push_back(std::make_unique<LiveFeed::Viewer>(feed));
    EXPECT_TRUE(*viewers.back());
  }
  EXPECT_FALSE(LiveFeed::Viewer(feed));
  viewers.pop_back();
  EXPECT_TRUE(LiveFeed::Viewer(feed));
}

TEST(LiveFeed, gives_the_last_row_of_each_turn) {
  LiveFeed feed;
  const auto a = record("a");
  const auto b = record("b");
  feed.add({.record = a, .progress = {.frames = 1}});
  feed.add({.record = b, .progress = {.frames = 2}});
  feed.add({.record = a, .progress = {.frames = 3}});
  const LiveFeed::News news = feed.read(0, {});
  EXPECT_THAT(ids(news), ElementsAre("b", "a"));
  EXPECT_EQ(news.rows.back().progress.frames, 3u);
  EXPECT_EQ(news.last, 3u);
  EXPECT_FALSE(news.has_gap);
  EXPECT_THAT(ids(feed.read(2, {})), ElementsAre("a"));
  EXPECT_TRUE(feed.read(3, {}).rows.empty());
}

TEST(LiveFeed, forgets_the_oldest_rows_and_says_so) {
  LiveFeed feed;
  const auto a = record("a");
  for (std::size_t i = 0; i < LiveFeed::kHistory + 2; ++i) feed.add({.record = a});
  EXPECT_TRUE(feed.read(1, {}).has_gap);
  EXPECT_FALSE(feed.read(2, {}).has_gap);
}

TEST(LiveFeed, filters_by_model_key_and_upstream) {
  LiveFeed feed;
  feed.add({.record = record("a", "x")});
  feed.add({.record = record("b", "y"), .progress = {.upstream = "spare"}});
  EXPECT_THAT(ids(feed.read(0, {.model = "y"})), ElementsAre("b"));
  EXPECT_THAT(ids(feed.read(0, {.upstream = "main"})), ElementsAre("a"));
  EXPECT_THAT(ids(feed.read(0, {.upstream = "spare"})), ElementsAre("b"));
  EXPECT_TRUE(feed.read(0, {.key = "nobody"}).rows.empty());
}

TEST(LiveFeed, takes_only_so_much_progress_in_a_moment) {
  LiveFeed feed;
  std::uint32_t taken = 0;
  for (int i = 0; i < 1000; ++i) taken += feed.may_progress(10'000) ? 1 : 0;
  EXPECT_EQ(taken, LiveFeed::kProgressPerWindow);
  EXPECT_TRUE(feed.may_progress(10'000 + LiveFeed::kWindowMs));
}

TEST(LiveFeed, looks_into_a_turn_on_its_own_event_loop) {
  LiveFeed feed;
  net::Loop turns;
  net::Loop viewers;
  std::optional<LiveFeed::Entry> entry;
  entry.emplace(feed, turns, "a", [] {
    CaptureJob job;
    job.key = "alice";
    return std::optional<CaptureJob>(std::move(job));
  });
  std::vector<std::string> seen;
  const auto ask = [&](std::string_view id) {
    feed.look(id, viewers, [&](std::optional<CaptureJob> job) {
      seen.push_back(job ? job->key : "nothing");
      viewers.stop();
    });
    // After what was posted.
    turns.post([&] { turns.stop(); });
    turns.run();
    viewers.run();
  };
  ask("a");
  ask("b");
  entry.reset();
  ask("a");
  EXPECT_THAT(seen, ElementsAre("alice", "nothing", "nothing"));
}

}  // namespace
}  // namespace callgate::server::live_feed_test
