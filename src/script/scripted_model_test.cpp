#include "script/scripted_model.h"

#include <gmock/gmock.h>

#include "script/reply/reply_testing.h"

namespace callgate::script::scripted_model_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(ScriptedModel, streams_a_turn_with_a_call) {
  const Played played = play("text \"Hi\"\ncall find {\"q\":1} id=c1\ncut 3\ncall add {}\n");
  const std::vector<std::string> frames = frames_of(played.bytes);
  ASSERT_EQ(frames.size(), 8u);
  EXPECT_THAT(frames[0],
              HasSubstr(R"("delta":{"role":"assistant","content":""},"finish_reason":null)"));
  EXPECT_THAT(frames[0], StartsWith(R"({"id":"chatcmpl-)"));
  EXPECT_THAT(frames[0],
              HasSubstr(R"("object":"chat.completion.chunk","created":1767225600,"model":"m")"));
  EXPECT_THAT(frames[1], HasSubstr(R"("delta":{"content":"Hi"})"));
  EXPECT_THAT(frames[2], HasSubstr(R"({"tool_calls":[{"index":0,"id":"c1","type":"function",)"
                                   R"("function":{"name":"find","arguments":""}}]})"));
  EXPECT_THAT(frames[3],
              HasSubstr(R"({"tool_calls":[{"index":0,"function":{"arguments":"{\"q\":1}"}}]})"));
  EXPECT_THAT(frames[4], HasSubstr(R"({"index":1,"id":"call_)"));
  EXPECT_THAT(frames[5], HasSubstr(R"({"index":1,"function":{"arguments":"{}"}})"));
  EXPECT_THAT(frames[6], HasSubstr(R"("delta":{},"finish_reason":"tool_calls")"));
  EXPECT_EQ(frames[7], "[DONE]");
}

TEST(ScriptedModel, reports_usage_when_asked) {
  Request request = user_request("12345678");
  EXPECT_THAT(play("text \"abcde\"", request).bytes, Not(HasSubstr("usage")));
  request.include_usage = true;
  const std::vector<std::string> frames = frames_of(play("text \"abcde\"", request).bytes);
  EXPECT_THAT(frames.at(0), HasSubstr("\"usage\":null"));
  EXPECT_THAT(
      frames.at(3),
      HasSubstr(
          R"("choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5)"));
  EXPECT_THAT(play("text \"a\"\nusage prompt=10 completion=5 reasoning=2", request).bytes,
              HasSubstr(R"("prompt_tokens":10,"completion_tokens":5,"total_tokens":15)"));
}

TEST(ScriptedModel, answers_whole_when_the_request_does_not_stream) {
  const Played played =
      play("pace 5ms\ndelay 20ms\nreasoning \"Hm\"\ntext \"a\" \"b\"\ncall f {\"x\":1} id=c\n",
           user_request("Hi", false));
  EXPECT_THAT(played.actions, ElementsAre("wait 20", "respond 200"));
  EXPECT_THAT(played.body, HasSubstr(R"("object":"chat.completion",)"));
  EXPECT_THAT(played.body,
              HasSubstr(R"("choices":[{"index":0,"message":{"role":"assistant","content":"ab",)"
                        R"("reasoning_content":"Hm","refusal":null,"tool_calls":[{"id":"c",)"
                        R"("type":"function","function":{"name":"f","arguments":"{\"x\":1}"}}]},)"
                        R"("logprobs":null,"finish_reason":"tool_calls"}],"usage":{)"));
}

TEST(ScriptedModel, says_whether_the_answer_is_streamed_and_with_which_headers) {
  ScriptedModel model(script_of("header x-a: 1\ntext \"a\""));
  const Reply streamed = model.reply(user_request());
  EXPECT_TRUE(streamed.streamed());
  EXPECT_EQ(streamed.headers()[0].second, "text/event-stream; charset=utf-8");
  EXPECT_EQ(streamed.headers()[1].first, "x-a");
  const Reply whole = model.reply(user_request("Hi", false));
  EXPECT_FALSE(whole.streamed());
  EXPECT_EQ(whole.headers()[0].second, "application/json");
  ScriptedModel odd(script_of("header Content-Type: text/plain\nhang"));
  EXPECT_EQ(odd.reply(user_request()).headers().size(), 1u);
  EXPECT_FALSE(odd.reply(user_request("Hi", false)).streamed());
}

TEST(ScriptedModel, gives_the_same_bytes_for_the_same_request_and_other_ids_in_other_turns) {
  ScriptedModel model(script_of("call f {}"));
  const std::string first = play(model.reply(user_request())).bytes;
  EXPECT_EQ(play(model.reply(user_request())).bytes, first);
  EXPECT_EQ(play("call f {}").bytes, first);
  EXPECT_NE(play("seed 9\ncall f {}").bytes, first);
  Request later = user_request();
  later.messages.push_back(message(Role::assistant, "x"));
  const std::string second = play(model.reply(later)).bytes;
  EXPECT_NE(second.substr(0, 60), first.substr(0, 60));
  Request other = user_request();
  other.model = "n";
  EXPECT_THAT(play(model.reply(other)).bytes, HasSubstr("\"model\":\"n\""));
}

TEST(ScriptedModel, serves_a_kept_rendering_to_repeated_requests) {
  ScriptedModel model(script_of("repeat 300 {\ntext \"word \"\n}\nwrite all"));
  Reply first = model.reply(user_request());
  Reply second = model.reply(user_request());
  const std::optional<Action> a = first.next();
  const std::optional<Action> b = second.next();
  EXPECT_EQ(std::get<Write>(*a).bytes.data(), std::get<Write>(*b).bytes.data());
}

TEST(ScriptedModel, keeps_a_reply_alive_without_the_model) {
  auto model = std::make_unique<ScriptedModel>(script_of("text \"still here\""));
  Reply reply = model->reply(user_request());
  model.reset();
  EXPECT_THAT(play(std::move(reply)).bytes, HasSubstr("still here"));
}

TEST(ScriptedModel, bounds_what_it_keeps) {
  ScriptedModel model(script_of("text \"a\""));
  for (int i = 0; i < 1000; ++i) {
    Request request = user_request();
    request.model = "m" + std::to_string(i);
    EXPECT_THAT(play(model.reply(request)).bytes, HasSubstr("\"model\":\"" + request.model + "\""));
  }
}

TEST(ScriptedModel, passes_over_a_rule_that_has_answered_often_enough) {
  ScriptedModel model(
      script_of("rule busy\ntimes 1\nheader retry-after: 1\nstatus 429\nrule ok\ntext \"a\""));
  const Played first = play(model.reply(user_request()));
  EXPECT_THAT(first.actions, ElementsAre("respond 429"));
  EXPECT_THAT(first.body, HasSubstr("\"type\":\"rate_limit_exceeded\""));
  EXPECT_THAT(play(model.reply(user_request())).bytes, HasSubstr("[DONE]"));
}

TEST(ScriptedModel, says_so_when_no_rule_matches_or_the_wire_format_is_unknown) {
  const Played none = play("rule a\nwhen turn 3\ntext \"a\"");
  EXPECT_THAT(none.actions, ElementsAre("respond 404"));
  EXPECT_THAT(none.body, HasSubstr("no rule of the script matches"));
  EXPECT_THAT(play("text \"a\"", user_request(), {.wire = "morse"}).actions,
              ElementsAre("respond 400"));
}

TEST(ScriptedModel, answers_every_choice_with_ids_of_its_own) {
  Request request = user_request();
  request.choices = 2;
  const std::string bytes = play("text \"a\"\ncall f {} id=c", request).bytes;
  EXPECT_EQ(count_in(bytes, "\"role\":\"assistant\""), 2u);
  EXPECT_EQ(count_in(bytes, "\"finish_reason\":\"tool_calls\""), 2u);
  EXPECT_EQ(count_in(bytes, "\"id\":\"c\""), 1u);
  EXPECT_EQ(count_in(bytes, "\"id\":\"c_1\""), 1u);
  request.stream = false;
  EXPECT_THAT(play("text \"a\"", request).body, HasSubstr("{\"index\":1,\"message\":"));
}

// <call>f{}</call>, but no call of a tool named `odd`.
ReplyOptions calls_as_text() {
  const auto render = [](std::string_view dialect, std::span<const Call> calls, std::string& out) {
    for (const Call& call : calls) {
      if (call.name == "odd") return false;
      out.append("<").append(dialect).append(">").append(call.name).append(call.arguments.at(0));
      out.append("</").append(dialect).append(">");
    }
    return true;
  };
  return {.call_text = {.render = render, .dialect = "call"}};
}

TEST(ScriptedModel, lets_calls_leave_as_text) {
  const ReplyOptions options = calls_as_text();
  const std::string bytes = play("call f {}\ncall g {}", user_request(), options).bytes;
  EXPECT_THAT(bytes, HasSubstr(R"({"content":"<call>f{}</call><call>g{}</call>"})"));
  EXPECT_THAT(bytes, HasSubstr(R"("finish_reason":"stop")"));
  EXPECT_THAT(bytes, Not(HasSubstr("tool_calls")));
}

TEST(ScriptedModel, lets_calls_that_have_no_text_leave_as_calls) {
  const std::string bytes = play("call odd {}", user_request(), calls_as_text()).bytes;
  EXPECT_THAT(bytes, HasSubstr(R"("name":"odd")"));
  EXPECT_THAT(bytes, Not(HasSubstr("<call>")));
}

TEST(ScriptedModel, plays_the_demo_paced_and_in_small_pieces) {
  Request request = user_request("What is the weather in Paris?");
  request.tools.push_back(
      {.name = "get_weather",
       .parameters = {R"({"properties":{"city":{"type":"string"}},"required":["city"]})"}});
  const Played played = play(demo_script(), request);
  EXPECT_THAT(played.bytes, HasSubstr(R"("content":"Let ")"));
  EXPECT_THAT(played.bytes, HasSubstr(R"("arguments":"{\"city\":")"));
  EXPECT_THAT(played.bytes, HasSubstr(R"("arguments":"\"Paris\"}")"));
  EXPECT_EQ(std::count(played.actions.begin(), played.actions.end(), "wait 15"),
            static_cast<long>(frames_of(played.bytes).size()));
}

}  // namespace
}  // namespace callgate::script::scripted_model_test
