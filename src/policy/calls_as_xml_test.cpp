#include "policy/calls_as_xml.h"

#include "policy/policy_testing.h"

namespace callgate::policy::calls_as_xml_test {
namespace {

TEST(CallsAsXml, writes_a_finished_call_into_the_text_beside_the_call) {
  CallsAsXml stage(false, 1000);
  EXPECT_EQ(run(stage, turn({call(0, "lookup_user", R"({"id":"42"})"), finish_calls()})),
            "call 0 lookup_user\n"
            "args 0 {\"id\":\"42\"}\n"
            "end 0 complete\n"
            "text \"<use_tool>\\n  <name>lookup_user</name>\\n  <id>42</id>\\n</use_tool>\"\n"
            "finish tool_calls\n");
}

TEST(CallsAsXml, writes_the_text_alone_when_asked_to) {
  CallsAsXml stage(true, 1000);
  EXPECT_EQ(run(stage, turn({text("Look: "), call(0, "a<b", R"({"q":"1 < 2 & 3","n":[1, 2]})"),
                             call(1, "empty", "{}"), finish_calls()})),
            "text \"Look: <use_tool>\\n  <name>a<b</name>\\n  <q>1 < 2 & 3</q>\\n"
            "  <n>[1, 2]</n>\\n</use_tool>"
            "<use_tool>\\n  <name>empty</name>\\n</use_tool>\"\n"
            "finish stop\n");
}

TEST(CallsAsXml, writes_json_where_elements_would_not_read_back) {
  for (const char* arguments :
       {R"({"q":"a</q>b"})", R"({"q":" padded"})", R"({"a b":"x"})", R"({"name":"x"})"}) {
    CallsAsXml stage(true, 1000);
    const std::string got = run(stage, turn({call(0, "f", arguments), finish_calls()}));
    std::string json = R"({"name":"f","arguments":)" + std::string(arguments) + "}";
    std::string quoted;
    for (const char c : json) quoted += c == '"' ? "\\\"" : std::string(1, c);
    EXPECT_NE(got.find("<use_tool>\\n" + quoted + "\\n</use_tool>"), std::string::npos) << got;
  }
}

TEST(CallsAsXml, puts_the_delimiter_between_blocks_that_follow_each_other) {
  CallsAsXml stage(true, 1000, "\n\n");
  EXPECT_EQ(run(stage, turn({call(0, "a", "{}"), call(1, "b", "{}"), text(" and "),
                             call(2, "c", "{}"), finish_calls()})),
            R"(text "<use_tool>\n  <name>a</name>\n</use_tool>\n\n<use_tool>\n  <name>b</name>\n)"
            R"(</use_tool> and <use_tool>\n  <name>c</name>\n</use_tool>")"
            "\nfinish stop\n");
}

TEST(CallsAsXml, keeps_arguments_that_are_no_object_as_they_are) {
  CallsAsXml stage(true, 1000);
  EXPECT_EQ(
      run(stage,
          turn({call(0, "f", R"({"a":"b)", CallOutcome::truncated), finish(FinishReason::length)})),
      R"(text "<use_tool>\n  <name>f</name>\n  <arguments>{\"a\":\"b</arguments>\n</use_tool>")"
      "\n"
      "finish length\n");
}

TEST(CallsAsXml, loses_nothing_of_arguments_above_the_limit) {
  for (const bool only : {false, true}) {
    CallsAsXml stage(only, 4);
    const std::string got =
        run(stage, turn({call(0, "f", R"({"a":"<long>"})"), call(1, "g", "{}"), finish_calls()}));
    EXPECT_NE(got.find(R"(<arguments>{\"a\":\"<long>\"}</arguments>\n</use_tool>)"),
              std::string::npos)
        << got;
    EXPECT_NE(got.find("<name>g</name>\\n</use_tool>"), std::string::npos) << got;
  }
}

}  // namespace
}  // namespace callgate::policy::calls_as_xml_test
