#include "script/reply/protocol_reply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/gemini/gemini.h"
#include "script/reply/json_edit.h"
#include "script/reply/reply_testing.h"
#include "script/reply/turn_sink.h"

namespace callgate::script::protocol_reply_test {
namespace {

using testing::HasSubstr;

constexpr std::string_view kWires[] = {"openai_chat", "anthropic_messages", "openai_responses",
                                       "gemini", "ollama"};
constexpr std::string_view kTurn = R"(reasoning "Hm"
text "Hi" "there"
call find {"q":"tea"} id=c1
call add {"a":1} id=c2
)";

std::string streamed(std::string_view wire, std::string_view script) {
  return play(script, user_request(), {.wire = wire}).bytes;
}

std::string whole(std::string_view wire, std::string_view script) {
  return play(script, user_request("Hi", false), {.wire = wire}).body;
}

TEST(ProtocolReply, has_an_answer_with_every_fault_in_every_format) {
  for (const std::string_view wire : kWires) {
    for (const std::string_view fault : fault_names()) {
      const std::string script = "fault " + std::string(fault) + "\n" + std::string(kTurn);
      EXPECT_FALSE(streamed(wire, script).empty()) << wire << " " << fault;
      EXPECT_TRUE(is_json(whole(wire, script))) << wire << " " << fault;
    }
  }
}

TEST(ProtocolReply, orders_calls_as_a_fault_asks_in_every_format) {
  for (const std::string_view wire : kWires) {
    const auto at = [&](std::string_view fault, std::string_view text) {
      return streamed(wire, "fault " + std::string(fault) + "\ncut 4\n" + std::string(kTurn))
          .find(text);
    };
    EXPECT_LT(at("comments", "\"find\""), at("comments", "\"add\"")) << wire;
    EXPECT_LT(at("reverse_index", "\"add\""), at("reverse_index", "\"find\"")) << wire;
  }
  const std::string blocks =
      streamed("anthropic_messages", "fault interleave\n" + std::string(kTurn));
  EXPECT_LT(blocks.find(R"("index":3,"content_block")"),
            blocks.find(R"("index":2,"delta":{"type":"input_json_delta")"));
}

TEST(ProtocolReply, cuts_inside_a_character_in_every_format) {
  for (const std::string_view wire : kWires) {
    const std::string bytes = streamed(wire, "cut 1 bytes\ntext \"\xC3\xA9\xF0\x9F\x8C\xA4\"");
    for (const std::string_view piece : {"\"\xC3\"", "\"\xA9\"", "\"\xF0\"", "\"\xA4\""}) {
      EXPECT_THAT(bytes, HasSubstr(std::string(piece))) << wire;
    }
    EXPECT_EQ(bytes.find("\xEF\xBF\xBD"), std::string::npos) << wire << " was mended";
  }
}

TEST(ProtocolReply, writes_arguments_that_are_no_object_as_the_script_says_them) {
  for (const std::string_view wire : {"gemini", "ollama"}) {
    for (const std::string& answer :
         {streamed(wire, "call f \"[1,\""), whole(wire, "call f \"[1,\"")}) {
      EXPECT_THAT(answer, HasSubstr(":\"[1,\"")) << wire;
    }
    EXPECT_THAT(streamed(wire, "call f \"[1]\""), HasSubstr(":[1]")) << wire;
  }
}

TEST(ProtocolReply, keeps_an_array_whole_where_frames_are_missing_or_too_many) {
  for (const std::string_view fault :
       {"finish=none", "finish_twice", "error_mid", "non_object_frame"}) {
    const ReplyOptions array{.wire = "gemini", .form = client::kGeminiArray};
    const std::string script = "fault " + std::string(fault) + "\n" + std::string(kTurn);
    const std::string bytes = play(script, user_request(), array).bytes;
    EXPECT_TRUE(bytes.starts_with('[') && is_json(bytes)) << fault << "\n" << bytes;
  }
}

TEST(ProtocolReply, answers_a_request_for_several_with_one_where_the_format_has_one) {
  Request request = user_request();
  request.choices = 2;
  for (const std::string_view wire : {"anthropic_messages", "openai_responses", "ollama"}) {
    EXPECT_EQ(play(kTurn, request, {.wire = wire}).bytes, streamed(wire, kTurn)) << wire;
  }
  EXPECT_EQ(count_in(play("text \"a\"", request, {.wire = "gemini"}).bytes, "\"STOP\""), 2u);
}

TEST(HiddenBytes, come_back_as_they_were) {
  std::string every;
  for (int byte = 0x80; byte < 0x100; ++byte) every.push_back(static_cast<char>(byte));
  const std::string text = "a\xC3\xA9" + every + "\xF4\x8F\xBF\xBD";
  std::string hidden;
  append_hidden_bytes(hidden, text);
  EXPECT_NE(hidden, text);
  restore_hidden_bytes(hidden);
  EXPECT_EQ(hidden, text);
}

}  // namespace
}  // namespace callgate::script::protocol_reply_test
