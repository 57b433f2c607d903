#include "cli/log_view.h"

#include <gtest/gtest.h>

namespace callgate::cli::log_view_test {
namespace {

constexpr std::string_view kRow =
    R"("id":"req_1","object":"request","received_at":"2026-11-16T03:00:00.123Z","state":"completed","model":"m","upstream":"main","dialect":"hermes","key":"alice","session":null,"trace_id":null,"protocol":"openai_chat","stream":true,"status":200,"finish_reason":"tool_calls","error":null,"cut":"stop_after_tools","tool_calls":1,"usage":{"prompt_tokens":25,"completion_tokens":15},"attempts":2,"repairs":0,"first_token_ms":120,"total_ms":340)";

TEST(LogView, writes_a_request_in_one_line) {
  const std::string row = "{" + std::string(kRow) + "}";
  EXPECT_EQ(
      print_log_line(row, false),
      "2026-11-16 03:00:00.123  req_1  m > main  completed 200 tool_calls  25+15 tokens  1 call  "
      "340 ms  cut by stop_after_tools\n");
  EXPECT_NE(print_log_line(row, true).find("\033[32mcompleted 200 tool_calls\033[0m"),
            std::string::npos);
}

TEST(LogView, writes_a_turn_as_a_conversation) {
  const std::string turn =
      "{" + std::string(kRow) +
      R"(,"calls":[],"received":{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"c0","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c0","content":"x\ny"},{"role":"user","content":"Read it."}]},"sent":null,"response":null,"events":[{"type":"reasoning","text":"Hm.\nYes."},{"type":"text","text":"I'll read it."},{"type":"call","index":0,"id":"c1","name":"read","arguments":"{\"path\":\"/a\",\"n\":[1,{}]}","outcome":"truncated"},{"type":"finish","reason":"tool_calls"}]})";
  EXPECT_EQ(print_log_turn(turn, false), R"(req_1  2026-11-16 03:00:00.123
m > main, dialect hermes, key alice, stream
completed 200 tool_calls, 25+15 tokens, 1 call, first token 120 ms, total 340 ms, 2 attempts, cut by stop_after_tools

... 1 before
user
  a
assistant
  call ls c0
    {}
tool c0
  x
  y
user
  Read it.

answer
  Hm.
  Yes.
  I'll read it.
  call read c1 truncated
    {
      "path": "/a",
      "n": [
        1,
        {}
      ]
    }
)");
  EXPECT_NE(print_log_turn(turn, true).find("  \033[2mHm.\033[0m\n"), std::string::npos);
}

TEST(LogView, shows_what_tools_gave_back) {
  const std::string turn =
      "{" + std::string(kRow) +
      R"(,"calls":[{"id":"c0","name":"ask","outcome":"complete"},{"id":"c1","name":"find","outcome":"complete","result":{"round":1,"is_error":true,"duration_ms":12,"bytes":9,"text":"not\nthere"}},{"id":"c2","name":"list","outcome":"complete","result":{"round":1,"is_error":false,"duration_ms":3,"bytes":4,"text":null}}],"events":[{"type":"text","text":"No."}]})";
  const std::string shown = print_log_turn(turn, false);
  EXPECT_NE(shown.find(R"(
tools
  call find c1, round 1, 12 ms, 9 bytes error
    not
    there
  call list c2, round 1, 3 ms, 4 bytes

answer
  No.
)"),
            std::string::npos)
      << shown;
}

TEST(LogView, shows_the_rounds_of_a_tool_loop_in_a_room) {
  const std::string turn =
      R"({"id":"r","received_at":"2026-11-16T03:00:00.123Z","state":"completed","model":"m","upstream":"u","protocol":"room","stream":false,"status":200,"finish_reason":"stop","cut":"loop_completed","tool_calls":1,"attempts":2,"received":{"model":"m","messages":[{"role":"user","content":"Is it sunny?"}]},"calls":[{"id":"c1","name":"look","outcome":"complete","result":{"round":0,"is_error":false,"duration_ms":7,"bytes":3,"text":"yes"}}],"events":[{"type":"round","round":0,"at_ms":1,"duration_ms":25},{"type":"text","text":"I look."},{"type":"call","index":0,"id":"c1","name":"look","arguments":"{}","outcome":"complete"},{"type":"finish","reason":"tool_calls"},{"type":"result","id":"c1","name":"look","is_error":false,"duration_ms":7,"bytes":3,"text":"yes"},{"type":"round","round":1,"at_ms":40,"duration_ms":20},{"type":"text","text":"It is."},{"type":"finish","reason":"stop"}]})";
  EXPECT_EQ(print_log_turn(turn, false), R"(r  2026-11-16 03:00:00.123
m > u, whole
completed 200 stop, 1 call, 2 rounds, loop completed

user
  Is it sunny?

answer
round 0 25 ms
  I look.
  call look c1
    {}
  result of look c1, 7 ms, 3 bytes
    yes
round 1 20 ms
  It is.
)");
}

TEST(LogView, tells_a_loop_that_was_cut_from_one_that_ended) {
  const auto cut_of = [](std::string_view cut) {
    const std::string row =
        R"({"id":"r","model":"m","upstream":"u","cut":")" + std::string(cut) + "\"}";
    const std::string line = print_log_line(row, false);
    return line.substr(line.find("u  ") + 3);
  };
  EXPECT_EQ(cut_of("loop_completed"), "loop completed\n");
  EXPECT_EQ(cut_of("loop_returned"), "loop returned\n");
  EXPECT_EQ(cut_of("loop_max_calls"), "cut by loop_max_calls\n");
  EXPECT_EQ(cut_of("stop_after_tools"), "cut by stop_after_tools\n");
}

TEST(LogView, says_what_failed_and_that_nothing_is_kept) {
  const std::string turn =
      R"({"id":"req_1","received_at":"2026-11-16T03:00:00.123Z","state":"failed","model":"m","upstream":"u","stream":false,"status":502,"error":{"code":"upstream_failed","message":"broke\nhere"},"received":null,"events":null})";
  EXPECT_EQ(
      print_log_turn(turn, false),
      "req_1  2026-11-16 03:00:00.123\nm > u, whole\nfailed 502\nerror upstream_failed: broke "
      "here\n\nno content is kept of it\n");
}

TEST(LogView, lets_no_text_steer_the_terminal) {
  const std::string turn =
      R"({"id":"r","events":[{"type":"text","text":"a\u001b[31mb\u009bc\rd\u0007 \ttab"}]})";
  EXPECT_NE(print_log_turn(turn, false).find("  a\\x1b[31mb\\x9bcd\\x07 \ttab\n"),
            std::string::npos);
}

TEST(LogView, says_why_a_turn_is_text) {
  const std::string turn =
      R"({"id":"r","model":"m","upstream":"u","dialect":"hermes","protocol":"openai_chat","state":"completed","repairs":3,"repair_names":"finish_reason_missing, id_missing x2","missed_call":"hermes","tool_calls":0,"received":{"model":"m","messages":[{"role":"user","content":"a"}],"tools":[{"type":"function","function":{"name":"f"}}]},"events":[{"type":"text","text":"<tool_call>\n{'name': 'f'}\n</tool_call>"}]})";
  const std::string shown = print_log_turn(turn, false);
  for (const std::string_view line :
       {"\nrepairs: finish_reason_missing, id_missing x2\n", "\nlooks like a missed call: hermes\n",
        "\nwhy this is text\n  hermes: opener at byte 0, gave up at byte 13: expected '\"', found "
        "\"'\"\n"}) {
    EXPECT_NE(shown.find(line), std::string::npos) << line << "\n" << shown;
  }
  EXPECT_NE(print_log_line(turn, false).find("missed call: hermes"), std::string::npos);
}

TEST(LogView, reads_a_page) {
  const auto page =
      read_log_page("{\"object\":\"list\",\"data\":[{" + std::string(kRow) +
                    "},{\"id\":\"r2\",\"state\":\"running\"}],\"next_cursor\":\"c\"}");
  ASSERT_TRUE(page);
  ASSERT_EQ(page->rows.size(), 2u);
  EXPECT_EQ(page->rows[0].id, "req_1");
  EXPECT_FALSE(page->rows[0].running);
  EXPECT_TRUE(page->rows[1].running);
  EXPECT_EQ(page->cursor, "c");
  EXPECT_FALSE(read_log_page("<html>"));
}

}  // namespace
}  // namespace callgate::cli::log_view_test
