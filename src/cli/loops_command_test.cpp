#include "cli/command_testing.h"

namespace callgate::cli::loops_command_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LoopsCommandTest : public CommandTest {};

constexpr std::string_view kOneLoop =
    R"({"object":"list","data":[{"id":"loop_1","request":"req_1","model":"m","key":"dev","started_at":1,)"
    R"("rounds":1,"calls":2,"running":["find"],"approvals":[{"run":3,"call":"c1","tool":"refund",)"
    R"("arguments":"{\"id\":7}"}]}]})";

TEST_F(LoopsCommandTest, lists_loops_and_what_waits_in_them) {
  CannedServer gateway({reply(200, std::string(kOneLoop))});
  const Ran ran = run_command({"loops", "--url", gateway.url(), "--key", "k"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(gateway.targets(), ElementsAre("GET /v1/loops"));
  EXPECT_THAT(gateway.requests()[0], HasSubstr("authorization: Bearer k\r\n"));
  EXPECT_THAT(ran.out, HasSubstr("loop_1  m  key dev  "));
  EXPECT_THAT(ran.out, HasSubstr("  rounds 1  calls 2  running find\n"
                                 "  run 3 waits for approval: refund {\"id\":7}\n"));
  CannedServer json({reply(200, std::string(kOneLoop))});
  EXPECT_EQ(run_command({"loops", "--json", "--url", json.url()}).out,
            std::string(kOneLoop) + "\n");
  CannedServer empty({reply(200, R"({"object":"list","data":[]})")});
  EXPECT_EQ(run_command({"loops", "--url", empty.url()}).out, "no tool loop is running\n");
}

TEST_F(LoopsCommandTest, steers_a_loop) {
  const std::tuple<std::vector<std::string>, std::string> rows[] = {
      {{"approve", "loop_1", "3"}, R"({"action":"approve","run":3})"},
      {{"deny", "loop_1", "3", "--reason", "too much"},
       R"({"action":"deny","run":3,"reason":"too much"})"},
      {{"cancel", "loop_1"}, R"({"action":"cancel"})"},
  };
  for (const auto& [words, body] : rows) {
    CannedServer gateway({reply(202, R"({"status":"accepted"})")});
    std::vector<std::string> all{"loops"};
    all.insert(all.end(), words.begin(), words.end());
    all.insert(all.end(), {"--url", gateway.url()});
    const Ran ran = run_command(all);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(gateway.targets(), ElementsAre("POST /v1/loops/loop_1"));
    EXPECT_THAT(gateway.requests()[0], HasSubstr(body));
  }
}

TEST_F(LoopsCommandTest, says_why_it_could_not) {
  CannedServer gateway({reply(404, R"({"error":{"message":"there is no running loop"}})")});
  const Ran ran = run_command({"loops", "cancel", "x", "--url", gateway.url()});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(ran.err, "callgate loops: there is no running loop (status 404)\n");
  CannedServer closed({reply(401, R"({"error":{"message":"no"}})")});
  EXPECT_THAT(run_command({"loops", "--url", closed.url()}).err, HasSubstr("--key KEY"));
}

}  // namespace
}  // namespace callgate::cli::loops_command_test
