// The fields of a call go where the call goes.
#include "policy/call_limit.h"
#include "policy/calls_as_xml.h"
#include "policy/dedupe_calls.h"
#include "policy/invalid_arguments.h"
#include "policy/policy_testing.h"
#include "policy/stop_after_tools.h"
#include "policy/undeclared_tools.h"

namespace callgate::policy::call_fields_test {
namespace {

const std::vector<Event> kCalls =
    turn({call_with_field(0, "a", "{}", "1"), call_with_field(1, "a", "{}", "2"),
          call_with_field(2, "a", "[]", "3"), finish_calls()});

TEST(CallFields, go_with_a_call_that_is_repeated) {
  Withheld withheld;
  DedupeCalls stage(1000, withheld);
  EXPECT_EQ(run(stage, kCalls),
            "call 0 a\nfield 0 extra_content 1\nargs 0 {}\nend 0 complete\n"
            "call 1 a\nfield 1 extra_content 3\nargs 1 []\nend 1 complete\nfinish tool_calls\n");
}

TEST(CallFields, go_with_calls_above_the_limit) {
  Withheld withheld;
  CallLimit stage(1, withheld);
  EXPECT_EQ(run(stage, kCalls),
            "call 0 a\nfield 0 extra_content 1\nargs 0 {}\nend 0 complete\nfinish tool_calls\n");
}

TEST(CallFields, go_with_calls_of_undeclared_tools) {
  const std::vector<ToolSpec> tools{{.name = "b"}};
  Withheld withheld;
  UndeclaredToolCalls stage(UndeclaredTools::text, tools, withheld);
  EXPECT_EQ(run(stage, turn({call_with_field(0, "a", "{}", "1"), call_with_field(1, "b", "{}", "2"),
                             finish_calls()})),
            "text \"{\\\"name\\\":\\\"a\\\",\\\"arguments\\\":{}}\"\n"
            "call 0 b\nfield 0 extra_content 2\nargs 0 {}\nend 0 complete\nfinish tool_calls\n");
}

TEST(CallFields, go_with_calls_that_become_text) {
  CallsAsXml only(true, 1000);
  EXPECT_EQ(run(only, turn({call_with_field(0, "a", "{}", "1"), finish_calls()})),
            "text \"<use_tool>\\n  <name>a</name>\\n</use_tool>\"\nfinish stop\n");
}

TEST(CallFields, go_with_what_a_cut_drops) {
  Withheld withheld;
  StopAfterToolCalls stage(StopAfterTools::first, true, withheld);
  EXPECT_EQ(run(stage, kCalls),
            "call 0 a\nfield 0 extra_content 1\nargs 0 {}\nend 0 complete\nfinish tool_calls\n");
}

TEST(CallFields, stay_with_arguments_that_are_mended) {
  std::uint32_t mended = 0;
  RepairArguments repair(mended);
  EXPECT_EQ(run(repair, turn({call_with_field(0, "a", "{\"q\":\"x", "1"), finish_calls()})),
            "call 0 a\nfield 0 extra_content 1\nargs 0 {\"q\":\"x\"}\nend 0 complete\n"
            "finish tool_calls\n");
  RawArguments raw(1000, mended);
  EXPECT_EQ(run(raw, turn({call_with_field(0, "a", "{q", "1"), finish_calls()})),
            "call 0 a\nfield 0 extra_content 1\nargs 0 {\"raw\":\"{q\"}\nend 0 complete\n"
            "finish tool_calls\n");
}

}  // namespace
}  // namespace callgate::policy::call_fields_test
