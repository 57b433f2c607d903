#include "replay/parse_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callgate::replay::parse_case_test {
namespace {

using testing::HasSubstr;

std::string run_line(std::string_view line, const Split& split = {}, Emit emit = Emit::message) {
  ParseCase input;
  if (auto parsed = parse_line(line, input); !parsed) return print_failure(input, parsed.error());
  const auto log = run_case(input, split);
  return log ? print_result(input, *log, emit) : print_failure(input, log.error());
}

constexpr std::string_view kHermes =
    R"({"id":7,"dialect":"hermes","tools":[{"name":"f","parameters":{}}],"text":"Hi <tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}</tool_call>"})";

TEST(ParseCase, prints_one_result_line) {
  EXPECT_THAT(
      run_line(kHermes),
      HasSubstr(
          R"({"id":7,"content":"Hi ","reasoning":null,"tool_calls":[{"index":0,"id":"call_)"));
  EXPECT_THAT(
      run_line(kHermes),
      HasSubstr(
          R"("name":"f","arguments":"{\"a\": 1}","outcome":"complete"}],"finish_reason":"tool_calls","error":null})"));
}

TEST(ParseCase, explains_on_request) {
  ParseCase input;
  ASSERT_TRUE(parse_line(R"({"dialect":"hermes","text":"Hm. <tool_call>{'x"})", input));
  Explanation explanation(input.dialect);
  const auto log = run_case(input, {}, &explanation);
  EXPECT_THAT(
      print_result(input, *log, Emit::message, &explanation),
      HasSubstr(
          R"("explain":[{"dialect":"hermes","begin":4,"end":16,"reason":"expected '\"', found \"'\""}],"error":null})"));
  EXPECT_EQ(explanation.lines(0),
            "hermes: opener at byte 4, gave up at byte 16: expected '\"', found \"'\"\n");
  EXPECT_EQ(Explanation("xlam").lines(0), "xlam: nothing in the text opens a call\n");
  EXPECT_EQ(Explanation("xlam").lines(1), "");
}

TEST(ParseCase, surveys_all_dialects_on_request) {
  const std::string found = R"({"dialect":"hermes","calls":["f"]})";
  EXPECT_THAT(answer_line(kHermes, {.all_dialects = true}), HasSubstr(found));
  std::string line(kHermes);
  line.replace(line.find("hermes"), 6, "all");
  EXPECT_EQ(answer_line(line, {}), answer_line(kHermes, {.all_dialects = true}));
  EXPECT_EQ(answer_line(R"({"id":1,"text":"Hi."})", {.all_dialects = true}),
            R"({"id":1,"dialects":[],"close":[],"error":null})");
  EXPECT_THAT(answer_line(R"({"id":1,"chunks":["<tool_ca","ll>f"]})", {.all_dialects = true}),
              HasSubstr(R"("close":[{"dialect":")"));
  EXPECT_THAT(answer_line(R"({"id":1,"text":"Hi."})", {}), HasSubstr("dialect: missing"));
}

TEST(ParseCase, gives_the_same_result_for_every_split) {
  const std::string whole = run_line(kHermes);
  for (const char* split : {"byte", "2", "3", "7", "random:1", "random:99"}) {
    EXPECT_EQ(run_line(kHermes, *parse_split(split)), whole) << split;
  }
}

TEST(ParseCase, takes_the_cuts_from_chunks) {
  EXPECT_EQ(
      run_line(
          R"({"id":7,"dialect":"hermes","chunks":["Hi <tool","_call>{\"name\": \"f\", \"argu","ments\": {\"a\": 1}}</tool_call>"]})"),
      run_line(kHermes));
}

TEST(ParseCase, says_what_is_wrong_and_keeps_the_id) {
  EXPECT_EQ(run_line(R"({"id":"x","dialect":"nope","text":""})"),
            R"({"id":"x","error":"dialect: there is no \"nope\", see `callgate dialects`"})");
  EXPECT_EQ(run_line(R"({"id":"x","text":""})"), R"({"id":"x","error":"dialect: missing"})");
  EXPECT_THAT(run_line(R"({"id":"x",)"), HasSubstr(R"({"id":"x","error":"not a valid case)"));
  EXPECT_THAT(run_line("[]"), HasSubstr("\"error\":\"not a valid case"));
  EXPECT_THAT(run_line(R"({"id":1,"dialect":"hermes","text":"","channel":"x"})"),
              HasSubstr("expected text or reasoning"));
}

TEST(ParseCase, prints_events_and_frames) {
  EXPECT_THAT(
      run_line(kHermes, {}, Emit::events),
      HasSubstr(
          R"("events":[{"text":"Hi "},{"call":0,"name":"f"},{"call":0,"arguments":"{\"a\": 1}"},)"));
  const std::string frames = run_line(kHermes, {}, Emit::sse);
  EXPECT_THAT(frames, HasSubstr(R"("role":"assistant")"));
  EXPECT_THAT(frames, HasSubstr(R"("finish_reason":"tool_calls")"));
  EXPECT_THAT(frames, HasSubstr("data: [DONE]"));
}

TEST(ParseCase, reads_xml_of_a_declared_tool_and_leaves_the_rest_as_text) {
  const std::string tools =
      R"("dialect":"generic_xml","tools":[{"name":"read","parameters":{"type":"object","properties":{"filePath":{"type":"string"}}}}],)";
  const std::string whole = run_line(
      R"({"id":1,)" + tools +
      R"("chunks":["I'll ","read ","the ","file.\n\n","<read>\n","<filePath>/home/user/package.json</filePath>\n","</read>",""]})");
  EXPECT_THAT(whole, HasSubstr(R"("content":"I'll read the file.",)"));
  EXPECT_THAT(
      whole,
      HasSubstr(R"("name":"read","arguments":"{\"filePath\":\"/home/user/package.json\"}")"));
  EXPECT_THAT(
      run_line(R"({"id":1,)" + tools + R"("text":"<read><filePath>/x</read>"})"),
      HasSubstr(R"("content":"<read><filePath>/x</read>","reasoning":null,"tool_calls":[],)"));
  EXPECT_THAT(
      run_line(R"({"id":1,)" + tools + R"("text":"<read>\n<filePath>/home/us"})"),
      HasSubstr(R"("content":"<read>\n<filePath>/home/us","reasoning":null,"tool_calls":[],)"));
}

TEST(ParseCase, reads_kimi_calls_that_arrive_token_by_token_in_reasoning) {
  const std::string result = run_line(
      R"({"id":1,"dialect":"kimi_k2","channel":"reasoning","chunks":[" <|tool_calls_section_begin|>"," <|tool_call_begin|>"," functions",".task",":","45"," <|tool_call_argument_begin|>"," {\"","description\": \"a\"","}"," <|tool_call_end|>"," <|tool_call_begin|>"," functions",".task",":","46"," <|tool_call_argument_begin|>"," {}"," <|tool_call_end|>"," <|tool_calls_section_end|>"]})");
  EXPECT_THAT(result, HasSubstr(R"({"index":0,"id":"functions.task:45","name":"task",)"));
  EXPECT_THAT(result, HasSubstr(R"({"index":1,"id":"functions.task:46","name":"task",)"));
  EXPECT_THAT(result, HasSubstr(R"("content":null,"reasoning":null,)"));
}

TEST(ParseCase, reads_split_words) {
  EXPECT_TRUE(parse_split("whole"));
  EXPECT_EQ(parse_split("12")->size, 12u);
  EXPECT_EQ(parse_split("random:5")->seed, 5u);
  for (const char* bad : {"", "0", "-1", "random:", "random:x", "bytes"}) {
    EXPECT_FALSE(parse_split(bad)) << bad;
  }
}

}  // namespace
}  // namespace callgate::replay::parse_case_test
