#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "room/room.h"
#include "room/rooms.h"
#include "turn/turn_job.h"

namespace callgate::server::room_resume_test {
namespace {

using testing::HasSubstr;

class RoomResumeTest : public testing::Test {
 protected:
  // A turn of which only the last frames are kept.
  void play(std::int64_t kept) {
    RoomsConfig limits;
    limits.history_frames = kept;
    room_.emplace("a", limits, 100, counters_);
    room_->begin_stream(
        {.stream = "s1", .model = "m", .loop = "l", .request = "r", .reply_to = ""});
    room_->add_text("One is over. And");                                              // 102
    room_->end_text();                                                                // 103
    room_->begin_call({.round = 1, .call_id = "c", .name = "f", .arguments = "{}"});  // 104
    room_->end_call({.round = 1, .call_id = "c", .name = "f", .preview = "ok"});      // 105
  }
  std::string come_back(std::uint64_t last_seq, bool sentences) {
    auto subscriber = std::make_shared<RoomSubscriber>(loop_);
    subscriber->sentences = sentences;
    EXPECT_TRUE(room_->join(subscriber, last_seq));
    std::string heard;
    for (const RoomFramePtr& frame : room_->take(*subscriber, SIZE_MAX).frames) {
      heard.append(frame->json()) += '\n';
    }
    room_->leave(*subscriber);
    return heard;
  }

  net::Loop loop_;
  RoomCounters counters_;
  std::optional<Room> room_;
};

TEST_F(RoomResumeTest, gives_what_came_since_where_it_is_kept) {
  play(5);
  for (const bool sentences : {false, true}) {
    const std::string heard = come_back(103, sentences);
    EXPECT_THAT(heard, testing::Not(HasSubstr("snapshot")));
    EXPECT_THAT(heard, testing::StartsWith(R"({"type":"tool_call_start","seq":104,)"));
    EXPECT_THAT(heard, HasSubstr(R"({"type":"tool_call_end","seq":105,)"));
    EXPECT_EQ(come_back(105, sentences), "");
  }
}

TEST_F(RoomResumeTest, needs_no_beginning_for_frames_without_text) {
  play(3);
  const std::string heard = come_back(104, true);
  EXPECT_THAT(heard, testing::StartsWith(R"({"type":"tool_call_end","seq":105,)"));
}

TEST_F(RoomResumeTest, gives_a_snapshot_where_the_beginning_of_a_text_is_gone) {
  play(4);
  EXPECT_THAT(come_back(101, true), HasSubstr("\"snapshot\""));
  EXPECT_THAT(come_back(101, false), testing::Not(HasSubstr("\"snapshot\"")));
  EXPECT_THAT(come_back(99, false), HasSubstr("\"snapshot\"")) << "not all of it is kept";
}

}  // namespace
}  // namespace callgate::server::room_resume_test
