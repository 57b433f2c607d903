// What clients of rooms say, and where they say that they want to go.
#include "room/room_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "room/room_socket.h"

namespace callgate::server::room_input_test {
namespace {

using testing::HasSubstr;

std::string error_of(std::string_view json, const RoomDefaults& defaults = {.model = "m"}) {
  const auto input = read_room_input(json, defaults);
  return input ? "no error" : input.error().param + " | " + input.error().message;
}

TEST(RoomInput, says_what_is_wrong_with_a_frame) {
  const std::pair<std::string, std::string> cases[] = {
      {R"({"type":)", " | the frame is not valid JSON: "},
      {R"(["type"])", " | the frame is not a JSON object"},
      {R"({})", "type | type: expected user_message, cancel, inject, approve or deny"},
      {R"({"type":"sing"})", "type | type: expected user_message"},
      {R"({"type":1})", "type | type: expected a string"},
      {R"({"type":"cancel","id":""})", "id | id: expected 1 to 128 bytes"},
      {R"({"type":"user_message"})", "text | text: expected either text or content"},
      {R"({"type":"user_message","text":"a","content":"b"})",
       "text | text: expected either text or content"},
      {R"({"type":"user_message","text":""})", "text | text: is empty"},
      {R"({"type":"user_message","text":"a","system":1})", "system | system: expected a string"},
      {R"({"type":"user_message","text":"a","tools":"f"})",
       "tools | tools: expected a list of names"},
      {R"({"type":"user_message","text":"a","callgate":[]})",
       "callgate | callgate: expected an object"},
      {R"({"type":"user_message","text":"a","messages":[]})", "messages | messages: not here"},
      {R"({"type":"user_message","text":"a","stream":true})", "stream | stream: not here"},
      {R"({"type":"user_message","text":"a","n":1})", "n | n: not here"},
      {R"({"type":"inject"})", "text | text: missing, expected a string"},
      {R"({"type":"inject","text":""})", "text | text: missing, expected a string"},
      {R"({"type":"approve"})", "run | run: missing, expected the number of a run"},
      {R"({"type":"deny","reason":"no"})", "run | run: missing, expected the number of a run"},
      {R"({"type":"approve","run":0})", "run | run: expected the number of a run"},
      {R"({"type":"approve","run":4294967296})", "run | run: expected the number of a run"},
      {R"({"type":"approve","run":"1"})", "run | run: expected the number of a run"},
  };
  for (const auto& [json, error] : cases) EXPECT_THAT(error_of(json), HasSubstr(error)) << json;
  EXPECT_THAT(error_of(R"({"type":"user_message","text":"a"})", {}),
              HasSubstr("model | model: missing, and the room was joined without ?model="));
}

TEST(RoomInput, has_what_its_type_needs) {
  const auto cancel = read_room_input(R"({"type":"cancel","id":"x"})", {});
  ASSERT_TRUE(cancel);
  EXPECT_EQ(cancel->kind, RoomInput::Kind::cancel);
  EXPECT_EQ(cancel->id, "x");
  const auto inject = read_room_input(R"({"type":"inject","text":"Hurry"})", {});
  ASSERT_TRUE(inject);
  EXPECT_EQ(inject->kind, RoomInput::Kind::inject);
  EXPECT_EQ(inject->text, "Hurry");
  EXPECT_EQ(inject->id, "");
  const auto approve = read_room_input(R"({"type":"approve","run":4294967295})", {});
  ASSERT_TRUE(approve);
  EXPECT_EQ(approve->kind, RoomInput::Kind::approve);
  EXPECT_EQ(approve->run, 4294967295u);
  const auto deny = read_room_input(R"({"type":"deny","run":1,"reason":"no"})", {});
  ASSERT_TRUE(deny);
  EXPECT_EQ(deny->kind, RoomInput::Kind::deny);
  EXPECT_EQ(deny->run, 1u);
  EXPECT_EQ(deny->text, "no");
  const std::string longest(128, 'i');
  EXPECT_TRUE(read_room_input(R"({"type":"cancel","id":")" + longest + "\"}", {}));
  EXPECT_FALSE(read_room_input(R"({"type":"cancel","id":"i)" + longest + "\"}", {}));
}

TEST(RoomInput, passes_on_parts_and_another_model) {
  const auto input = read_room_input(
      R"({"type":"user_message","content":[{"type":"text","text":"a"}],"model":"other"})",
      {.model = "m", .conversation = ""});
  ASSERT_TRUE(input);
  EXPECT_EQ(input->body,
            R"({"model":"other","stream":true,"messages":[{"role":"user","content":)"
            R"([{"type":"text","text":"a"}]}],"callgate":{"loop":true,"show_tool_calls":true}})");
}

TEST(RoomError, names_members_of_the_frame_not_of_the_request) {
  Error error = as_room_error(
      {.message = "messages[1].content[0].text: a number", .param = "messages[1].content[0].text"});
  EXPECT_EQ(error.param, "content[0].text");
  EXPECT_EQ(error.message, "content[0].text: a number");
  error = as_room_error({.message = "messages[0]: wrong", .param = "messages[0]"});
  EXPECT_EQ(error.param, "messages[0]");
  EXPECT_EQ(error.message, "messages[0]: wrong");
  error = as_room_error({.message = "that will not do", .param = "messages[0].content"});
  EXPECT_EQ(error.param, "content");
  EXPECT_EQ(error.message, "that will not do");
  error = as_room_error({.message = "model: unknown", .param = "model"});
  EXPECT_EQ(error.param, "model");
}

TEST(RoomJoin, is_read_from_path_and_query) {
  const auto join =
      read_room_join("/v1/rooms/a%3Ab", "model=a%2Fb&conversation=c&last_seq=7&split=sentences");
  ASSERT_TRUE(join);
  EXPECT_EQ(join->room, "a:b");
  EXPECT_EQ(join->model, "a/b");
  EXPECT_EQ(join->conversation, "c");
  EXPECT_EQ(join->last_seq, 7u);
  EXPECT_TRUE(join->sentences);
  const auto plain = read_room_join("/v1/rooms/a", "");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->last_seq, std::nullopt);
  EXPECT_FALSE(plain->sentences);
  const auto wrong = read_room_join("/v1/rooms/a", "token=x");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().param, "token");
  EXPECT_EQ(wrong.error().code, ErrorCode::invalid_request);
}

TEST(OfferedKey, is_the_subprotocol_with_that_prefix) {
  const auto offered = [](std::string_view protocols) {
    return offered_key(net::Headers{{"sec-websocket-protocol", protocols}});
  };
  EXPECT_EQ(offered("callgate, callgate-key.a%2Fb "), "a/b");
  EXPECT_EQ(offered("callgate-key.one,callgate-key.two"), "one");
  EXPECT_EQ(offered("callgate"), "");
  EXPECT_EQ(offered(" , ,"), "");
  EXPECT_EQ(offered_key({}), "");
  EXPECT_EQ(offered_key(net::Headers{{"sec-websocket-protocol", "a,callgate-key.k"}}), "k");
}

}  // namespace
}  // namespace callgate::server::room_input_test
