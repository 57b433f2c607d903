#include <gmock/gmock.h>

#include <set>

#include "json/reader.h"
#include "script/reply/reply_testing.h"

namespace callgate::script::openai_chat_reply_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kTurn = R"(reasoning "Hm"
text "Hi"
cut 4
call find {"q":"tea"} id=c1
call add {"a":1} id=c2
)";

Request asking() {
  Request request = user_request();
  request.include_usage = true;
  return request;
}

std::string faulty(std::string_view faults, bool stream = true) {
  Request request = asking();
  request.stream = stream;
  const Played played = play("fault " + std::string(faults) + "\n" + std::string(kTurn), request);
  return stream ? played.bytes : played.body;
}

TEST(OpenAiChatReply, shows_each_fault_on_the_wire) {
  const struct {
    std::string_view fault;
    std::string_view present;
    std::string_view absent;
  } cases[] = {
      {"no_role", R"("delta":{"content":""})", "role"},
      {"null_role", R"("role":null)", R"("role":"assistant")"},
      {"repeat_role", R"(}}],"role":"assistant"})", "-"},
      {"no_index", R"("tool_calls":[{"id":"c1")", R"("tool_calls":[{"index")"},
      {"null_index", R"("tool_calls":[{"index":null)", R"("tool_calls":[{"index":0)"},
      {"string_index", R"("tool_calls":[{"index":"1")", R"("tool_calls":[{"index":0)"},
      {"index_from_one", R"({"index":2,"id":"c2")", R"("tool_calls":[{"index":0)"},
      {"reuse_index", R"({"index":0,"id":"c2")", R"("tool_calls":[{"index":1)"},
      {"no_id", R"({"index":1,"type":"function")", R"("id":"c1)"},
      {"empty_id", R"({"index":1,"id":"","type")", R"("id":"c1)"},
      {"repeat_id", R"({"arguments":"{\"q\""},"id":"c1"})", "-"},
      {"change_id", R"(},"id":"c1_2"})", R"("id":"c1")"},
      {"late_id", R"({"arguments":"{\"q\""},"id":"c1"})", R"("id":"c1","type")"},
      {"same_id", R"({"index":1,"id":"c1")", R"("id":"c2")"},
      {"repeat_name", R"({"index":0,"function":{"arguments":"{\"q\"","name":"find"})", "-"},
      {"split_name", R"("name":"nd","arguments":"")", R"("name":"find")"},
      {"no_name", R"("function":{"arguments":""})", "name"},
      {"no_type", R"("id":"c1","function")", R"("type")"},
      {"empty_type", R"("type":"")", R"("type":"function")"},
      {"object_arguments", R"("arguments":{"q":"tea"})", R"("arguments":")"},
      {"bad_arguments", R"("arguments":"a\"")", R"(a\"})"},
      {"empty_arguments", R"("arguments":"")", "tea"},
      {"trailing_arguments", R"("arguments":"}")", "-"},
      {"late_arguments", R"("function":{"name":"find"})", R"("arguments":"")"},
      {"whole_calls", R"({"name":"find","arguments":"{\"q\":\"tea\"}"}}]})", R"("arguments":"")"},
      {"calls_in_one_frame", R"("{\"q\":\"tea\"}"}},{"index":1,"id":"c2")",
       R"("tool_calls":[{"index":1)"},
      {"empty_calls", R"({"content":"Hi","tool_calls":[]})", "-"},
      {"legacy_function_call", R"("finish_reason":"function_call")", "tool_calls"},
      {"finish_with_call", R"("arguments":":1}"}}]},"finish_reason":"tool_calls")",
       R"("delta":{})"},
      {"empty_finish", R"("finish_reason":"")", R"("finish_reason":null)"},
      {"no_finish_key", R"("delta":{"content":"Hi"}}])", R"("finish_reason":null)"},
      {"finish=none", "[DONE]", R"("finish_reason":")"},
      {"finish=empty", R"("delta":{},"finish_reason":"")", R"("finish_reason":"t)"},
      {"finish=stop", R"("finish_reason":"stop")", R"("finish_reason":"tool_calls")"},
      {"finish=banana", R"("finish_reason":"banana")", R"("finish_reason":"tool_calls")"},
      {"no_done", R"("prompt_tokens")", "[DONE]"},
      {"text_after_done", "data: [DONE]\n\ndata: {", "-"},
      {"no_usage", "[DONE]", "prompt_tokens"},
      {"usage_no_choices", R"("model":"m","usage":{)", R"("choices":[],)"},
      {"usage_null_choices", R"("choices":null,"usage":{)", R"("choices":[],)"},
      {"usage_strings", R"("prompt_tokens":"1")", R"("prompt_tokens":1)"},
      {"usage_anthropic_names", R"("input_tokens":1,"output_tokens":)", "prompt_tokens"},
      {"usage_every_frame", R"("content":"Hi"},"finish_reason":null}],"usage":{"prompt_tokens":1)",
       "null}],\"usage\":null"},
      {"usage_on_finish", R"("finish_reason":"tool_calls"}],"usage":{)", R"("choices":[],"usage")"},
      {"no_frame_id", R"({"object":"chat.completion.chunk")", "chatcmpl"},
      {"minimal_frame", R"(data: {"choices":[{"index":0)", "model"},
      {"no_choice_index", R"("choices":[{"delta")", R"("choices":[{"index")"},
      {"choice_index_one", R"("choices":[{"index":1)", R"("choices":[{"index":0)"},
      {"no_delta", R"({"index":0,"finish_reason":"tool_calls")", R"("delta":{},)"},
      {"no_delta no_choice_index", R"([{"finish_reason":"tool_calls")", R"("delta":{},)"},
      {"null_delta", R"("delta":null,"finish_reason":"tool_calls")", R"("delta":{},)"},
      {"message_for_delta", R"("message":{"content":"Hi"})", "delta"},
      {"empty_choices_first", R"("choices":[]})", "-"},
      {"content_array", R"("content":[{"type":"text","text":"Hi"}])", R"("content":"Hi")"},
      {"null_content", R"(}}],"content":null})", R"("content":"")"},
      {"reasoning_field", R"({"reasoning":"Hm"})", "reasoning_content"},
      {"both_reasoning_fields", R"({"reasoning_content":"Hm","reasoning":"Hm"})", "-"},
      {"error_mid", R"(data: {"error":{"message":)", "[DONE]"},
      {"error_mid_done", "\"code\":\"server_error\"}}\n\ndata: [DONE]",
       R"("finish_reason":"tool_calls")"},
      {"error_event", "event: error\ndata: {\"error\":{", "[DONE]"},
      {"error_string", R"(data: {"error":"The)", "[DONE]"},
      {"error_in_choice", R"("finish_reason":"error","error":{)", "[DONE]"},
      {"bad_json_frame", "\"content\":\"bro\n\n", "-"},
      {"empty_frame", "data: \n\n", "-"},
      {"non_object_frame", "data: [1,2]\n\n", "-"},
      {"crlf", "data: [DONE]\r\n\r\n", "}\n\n"},
      {"cr", "data: [DONE]\r\r", "\n"},
      {"no_space", "data:[DONE]\n\n", "data: "},
      {"multi_line", "\",\ndata: \"object\"", "-"},
      {"bom",
       "\xEF\xBB\xBF"
       "data: ",
       "-"},
      {"comments", ": keep-alive\n\ndata: [DONE]", "-"},
      {"no_last_blank", "data: [DONE]\n", "[DONE]\n\n"},
      {"finish_null", R"("finish_reason":"null")", R"("finish_reason":null)"},
  };
  std::set<std::string> shown;
  for (const auto& row : cases) {
    const std::string bytes = faulty(row.fault);
    EXPECT_THAT(bytes, HasSubstr(std::string(row.present))) << row.fault;
    EXPECT_TRUE(row.absent == "-" || bytes.find(row.absent) == std::string::npos)
        << row.fault << " left " << row.absent << "\n"
        << bytes;
    shown.emplace(row.fault);
  }
  // These have a test of their own below.
  for (const std::string_view name :
       {"reverse_index", "interleave", "finish_twice", "usage_unasked", "usage_null",
        "usage_after_done", "change_frame_id"}) {
    shown.emplace(name);
  }
  // Whoever sends the answer encodes it.
  for (const Fault coding : kCodings) {
    const std::string_view name = fault_names()[static_cast<std::size_t>(coding)];
    ScriptedModel model(script_of("fault " + std::string(name) + "\n" + std::string(kTurn)));
    EXPECT_EQ(model.reply(asking()).coding(), coding);
    shown.emplace(name);
  }
  for (const std::string_view name : fault_names()) {
    EXPECT_TRUE(shown.contains(std::string(name))) << name << " has no case";
  }
}

TEST(OpenAiChatReply, orders_calls_as_a_fault_asks) {
  const std::string reversed = faulty("reverse_index");
  EXPECT_LT(reversed.find(R"({"index":1,"id":"c2")"), reversed.find(R"({"index":0,"id":"c1")"));
  const std::string interleaved = faulty("interleave");
  EXPECT_LT(interleaved.find(R"({"index":1,"id":"c2")"),
            interleaved.find(R"({"index":0,"function")"));
  EXPECT_LT(interleaved.find(R"({"index":1,"function")"),
            interleaved.rfind(R"({"index":0,"function")"));
}

TEST(OpenAiChatReply, repeats_or_moves_what_ends_a_stream) {
  EXPECT_EQ(count_in(faulty("finish_twice"), R"("finish_reason":"tool_calls")"), 2u);
  const std::string late = faulty("usage_after_done");
  EXPECT_LT(late.find("[DONE]"), late.find("prompt_tokens"));
  const std::string script(kTurn);
  EXPECT_THAT(play("fault usage_unasked\n" + script).bytes, HasSubstr("prompt_tokens"));
  EXPECT_THAT(play("fault usage_null\n" + script).bytes, HasSubstr("\"usage\":null"));
  std::set<std::string> heads;
  for (const std::string& frame : frames_of(faulty("change_frame_id")))
    heads.insert(frame.substr(0, 50));
  EXPECT_EQ(heads.size(), frames_of(faulty("change_frame_id")).size());
}

TEST(OpenAiChatReply, writes_json_in_every_frame_unless_the_fault_is_that_it_does_not) {
  const std::set<std::string_view> not_json{"bad_json_frame", "empty_frame", "crlf", "cr",
                                            "no_space",       "multi_line"};
  for (const std::string_view fault : fault_names()) {
    if (not_json.contains(fault)) continue;
    const std::vector<std::string> frames = frames_of(faulty(fault));
    EXPECT_GE(frames.size(), 2u) << fault;
    for (const std::string& frame : frames) {
      if (frame == "[DONE]" || frame == "[DONE]\n") continue;
      json::Reader in(frame);
      in.skip();
      EXPECT_TRUE(in.finish()) << fault << ": " << frame;
    }
  }
}

TEST(OpenAiChatReply, writes_a_json_body_with_every_fault) {
  for (const std::string_view fault : fault_names()) {
    const std::string body = faulty(fault, false);
    json::Reader in(body);
    in.skip();
    EXPECT_TRUE(in.finish()) << fault << ": " << body;
  }
  EXPECT_THAT(faulty("object_arguments", false), HasSubstr(R"("arguments":{"q":"tea"})"));
  EXPECT_THAT(faulty("no_id", false), Not(HasSubstr("\"c1\"")));
  EXPECT_THAT(faulty("finish=stop", false), HasSubstr(R"("finish_reason":"stop")"));
  EXPECT_THAT(faulty("finish=none", false), HasSubstr(R"("finish_reason":null)"));
}

TEST(OpenAiChatReply, takes_faults_from_the_options_too_and_lets_a_script_change_them) {
  ReplyOptions options;
  options.faults.add(Fault::no_done);
  EXPECT_THAT(play("text \"a\"", user_request(), options).bytes, Not(HasSubstr("[DONE]")));
  const std::string bytes = play("fault content_array\ntext \"a\"\nfault none\ntext \"b\"").bytes;
  EXPECT_THAT(bytes, HasSubstr(R"("text":"a")"));
  EXPECT_THAT(bytes, HasSubstr(R"("content":"b")"));
}

}  // namespace
}  // namespace callgate::script::openai_chat_reply_test
