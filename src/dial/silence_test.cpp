#include "dial/silence.h"

#include <gtest/gtest.h>

#include "callgate/pipeline.h"

namespace callgate::server::silence_test {
namespace {

constexpr std::string_view kText =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n";
constexpr std::string_view kFinish =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
constexpr std::string_view kUsage =
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":1}}\n\n";

class SilenceTest : public testing::Test {
 protected:
  SilenceTest() {
    request_.stream = true;
    config_.name = "slow";
    config_.idle_timeout = Milliseconds(4'000);
    config_.finish_grace = Milliseconds(1'000);
    pipeline_.emplace(Pipeline::make(request_).value());
  }

  // `bytes` come after a wait.
  void read(std::uint64_t milliseconds, std::string_view bytes) {
    silence_.add(milliseconds, !bytes.empty());
    pipeline_->push(bytes, out_);
  }
  std::int64_t left() {
    const auto left = silence_.left(pipeline_->progress(), pipeline_->complete());
    return left ? left->count() : -1;
  }

  Request request_;
  UpstreamConfig config_;
  std::optional<Pipeline> pipeline_;
  Silence silence_{config_};
  std::string out_;
};

TEST_F(SilenceTest, has_no_limit_of_its_own_while_nothing_comes) {
  EXPECT_EQ(left(), -1);
  read(3'000, kText);
  EXPECT_EQ(left(), -1);
  read(9'000, "");
  EXPECT_EQ(left(), -1) << "the call's own timeout applies";
}

TEST_F(SilenceTest, is_not_broken_by_what_says_nothing) {
  EXPECT_EQ(left(), -1);
  read(10, kText);
  EXPECT_EQ(left(), -1);
  read(1'000, ": ping\n\n");
  EXPECT_EQ(left(), 3'000);
  read(1'000, "\n\n\n");
  EXPECT_EQ(left(), 2'000);
  read(500, "data: {\"choices\":[{\"index\":0,\"delta\":{}}]}\n\n");
  EXPECT_EQ(left(), 1'500);
  read(500, "event: ping\ndata: {}\n\n");
  EXPECT_EQ(left(), 1'000);
  read(900, kText);
  EXPECT_EQ(left(), -1) << "the upstream goes on";
  read(5'000, ": ping\n\n");
  EXPECT_EQ(left(), 0);
  EXPECT_EQ(silence_.error().code, ErrorCode::timed_out);
  EXPECT_EQ(silence_.error().message, "upstream \"slow\" sent nothing but comments for 4000 ms");
}

TEST_F(SilenceTest, is_broken_by_a_long_frame) {
  EXPECT_EQ(left(), -1);
  read(3'000, ": ping\n\n");
  EXPECT_EQ(left(), 1'000);
  read(500, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + std::string(5'000, 'x'));
  EXPECT_EQ(left(), -1);
}

TEST_F(SilenceTest, is_broken_by_a_body) {
  read(10, "{\"choices\":[");
  EXPECT_EQ(left(), -1);
  read(3'000, "\n");
  EXPECT_EQ(left(), 1'000);
  read(100, "{\"index\":0,");
  EXPECT_EQ(left(), -1);
}

TEST_F(SilenceTest, is_short_once_the_end_is_known) {
  read(10, kText);
  EXPECT_EQ(left(), -1);
  read(10, kFinish);
  EXPECT_EQ(left(), 1'000);
  read(300, kUsage);
  EXPECT_EQ(left(), 700) << "usage may come late, and does not start it anew";
  read(600, ": ping\n\n");
  EXPECT_EQ(left(), 100);
  read(100, "");
  EXPECT_EQ(left(), 0);
  pipeline_->fail(silence_.error(), out_);
  EXPECT_FALSE(pipeline_->error());
  EXPECT_EQ(pipeline_->summary().reason, FinishReason::stop);
}

TEST_F(SilenceTest, never_lasts_longer_than_the_idle_timeout) {
  config_.finish_grace = Milliseconds(60'000);
  read(10, kFinish);
  EXPECT_EQ(left(), 4'000);
  config_.idle_timeout = Milliseconds(0);
  EXPECT_EQ(left(), 60'000);
}

TEST_F(SilenceTest, has_no_limit_for_child_programs) {
  config_.wire = "codex_app_server";
  read(10, kText);
  read(9'000, ": ping\n\n");
  EXPECT_EQ(left(), -1);
}

}  // namespace
}  // namespace callgate::server::silence_test
