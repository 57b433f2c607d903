#include "room/room_turn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/tool_config.h"
#include "gateway/gateway_testing.h"
#include "room/rooms.h"

namespace callgate::server::room_turn_test {
namespace {

using testing::HasSubstr;

// A turn in a room whose model is the fake server.
class RoomTurnTest : public testing::Test {
 protected:
  RoomTurnTest() { EXPECT_TRUE(room_->join(subscriber_, std::nullopt)); }

  std::string config() const {
    return "[[upstream]]\nname = \"a\"\nurl = \"" + server_.url() +
           "\"\n[[model]]\nname = \"m\"\nupstream = [\"a\"]\nretries = 0\n"
           "[loop]\nturn_retries = 0\n";
  }
  std::unique_ptr<LoopWork> work(TestGateway& gateway) const {
    auto made = std::make_unique<LoopWork>();
    TurnJob& job = made->job;
    job.snapshot = gateway.gateway().desk().snapshot;
    job.request_id = "req_1";
    job.session = "room:lobby";
    job.protocol = client::find("openai_chat");
    job.protocol_name = "room";
    const auto request = job.protocol->decode(
        {.body = R"({"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]})"});
    job.request = *request;
    job.model = *job.snapshot->choose_model(nullptr, "m");
    job.dialect = job.model.dialect;
    job.options.policy = job.model.policy;
    made->choice = std::make_unique<LoopChoice>();
    made->choice->on = true;
    made->choice->options = *to_loop_options(job.snapshot->config.loop);
    return made;
  }
  // All that the room says of one message.
  std::string play(TestGateway& gateway) {
    EXPECT_EQ(room_->post(RoomAsk("msg_1", {"\"hi\""}, work(gateway))), Room::Place::first);
    gateway.run(play_room(gateway.gateway().desk().turn_host(), room_));
    std::string said;
    for (const RoomFramePtr& frame : room_->take(*subscriber_, SIZE_MAX).frames) {
      said.append(frame->json()).append("\n");
    }
    return said;
  }

  net::Loop loop_;
  FakeServer server_{loop_};
  RoomCounters counters_;
  std::shared_ptr<Room> room_ = std::make_shared<Room>("lobby", RoomsConfig(), 0, counters_);
  std::shared_ptr<RoomSubscriber> subscriber_ = std::make_shared<RoomSubscriber>(loop_);
};

constexpr std::string_view kHello =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello there.\"}}]}\n\n";
constexpr std::string_view kStop =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
    "data: [DONE]\n\n";

TEST_F(RoomTurnTest, ends_its_stream_and_its_row) {
  TestGateway gateway(loop_, config());
  server_.then({.pieces = {std::string(kHello), std::string(kStop)}});
  const std::string said = play(gateway);
  EXPECT_THAT(said, HasSubstr("\"stream_start\""));
  EXPECT_THAT(said, HasSubstr("Hello there."));
  EXPECT_THAT(said, HasSubstr("\"stream_end\""));
  ASSERT_EQ(gateway.log().rows().size(), 1u);
  const store::RequestRow& row = gateway.log().rows().front();
  EXPECT_EQ(row.record.protocol, "room");
  EXPECT_EQ(row.record.session, "room:lobby");
  EXPECT_TRUE(row.record.stream);
  EXPECT_EQ(row.outcome.state, store::RequestState::completed);
  EXPECT_EQ(row.outcome.http_status, 200);
  EXPECT_EQ(row.outcome.finish_reason, FinishReason::stop);
  EXPECT_EQ(row.outcome.cut, "loop_completed");
  EXPECT_GT(row.outcome.bytes_out, 0);
  EXPECT_TRUE(row.outcome.first_token_ms);
  EXPECT_THAT(row.outcome.response, HasSubstr("\"content\":\"Hello there.\""));
}

TEST_F(RoomTurnTest, says_what_the_upstream_counted_or_an_estimate) {
  TestGateway gateway(loop_, config());
  server_.then(
      {.pieces = {std::string(kHello),
                  "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}"
                  "\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":41,"
                  "\"completion_tokens\":7,\"total_tokens\":48}}\n\ndata: [DONE]\n\n"}});
  const std::string stated = play(gateway);
  EXPECT_THAT(stated, HasSubstr(R"("usage":{"prompt_tokens":41,"completion_tokens":7)"));
  EXPECT_THAT(stated, testing::Not(HasSubstr("estimated")));
  server_.then({.pieces = {std::string(kHello), std::string(kStop)}});
  EXPECT_THAT(play(gateway), HasSubstr("\"estimated\":true"));
}

TEST_F(RoomTurnTest, says_that_its_upstream_failed) {
  TestGateway gateway(loop_, config());
  server_.then({.status = 503, .headers = {}, .pieces = {R"({"error":{"message":"busy"}})"}});
  const std::string refused = play(gateway);
  EXPECT_THAT(refused, HasSubstr("\"stream_error\""));
  EXPECT_THAT(refused, HasSubstr("busy"));
  const store::RequestOutcome first = gateway.log().rows().back().outcome;
  EXPECT_EQ(first.state, store::RequestState::failed);
  EXPECT_EQ(first.http_status, 503);
  EXPECT_EQ(first.finish_reason, std::nullopt);
}

TEST_F(RoomTurnTest, keeps_what_was_said_before_its_upstream_failed) {
  TestGateway gateway(loop_, config());
  server_.then({.pieces = {std::string(kHello), ": ping\n\n"}, .breaks_off = true});
  const std::string said = play(gateway);
  EXPECT_THAT(said, HasSubstr("Hello there."));
  EXPECT_THAT(said, HasSubstr("\"stream_error\""));
  const store::RequestOutcome& outcome = gateway.log().rows().back().outcome;
  EXPECT_EQ(outcome.state, store::RequestState::failed);
  EXPECT_EQ(outcome.finish_reason, FinishReason::upstream_error);
  EXPECT_THAT(outcome.response, HasSubstr("Hello there."));
}

TEST_F(RoomTurnTest, shows_the_plan_that_the_model_keeps) {
  TestGateway gateway(loop_, config() +
                                 "[[tool]]\nname = \"plan\"\nkind = \"builtin\"\n"
                                 "builtin = \"plan\"\n");
  server_.then({.pieces = {R"(data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,)"
                           R"("id":"c","type":"function","function":{"name":"plan","arguments":)"
                           R"("{\"steps\":[{\"step\":\"Look\",\"state\":\"done\"}]}"}}]},)"
                           "\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n"}});
  server_.then({.pieces = {std::string(kHello), std::string(kStop)}});
  auto asked = work(gateway);
  const std::vector<std::string> all{"*"};
  asked->choice->tools =
      loop_tools(*gateway.world().tools->catalogue(), asked->job.snapshot->config, all);
  asked->choice->options.show_tool_calls = true;  // as rooms ask for
  EXPECT_EQ(room_->post(RoomAsk("msg_1", {"\"hi\""}, std::move(asked))), Room::Place::first);
  gateway.run(play_room(gateway.gateway().desk().turn_host(), room_));
  std::string said;
  for (const RoomFramePtr& frame : room_->take(*subscriber_, SIZE_MAX).frames) {
    said.append(frame->json()).append("\n");
  }
  EXPECT_THAT(said, HasSubstr("Plan, 1 of 1 done:"));
}

}  // namespace
}  // namespace callgate::server::room_turn_test
