#include "cli/command_testing.h"

namespace callgate::cli::parse_command_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ParseCommandTest : public CommandTest {};

constexpr std::string_view kText =
    R"(Hi <tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>)";

TEST_F(ParseCommandTest, reads_standard_input_or_a_file) {
  const std::string text(kText);
  const Ran piped = run_command({"parse", "--dialect", "hermes"}, text);
  EXPECT_EQ(piped.exit_code, 0) << piped.err;
  EXPECT_EQ(piped.err, "");
  EXPECT_THAT(piped.out, HasSubstr(R"("content":"Hi ")"));
  EXPECT_THAT(piped.out, HasSubstr(R"("name":"f","arguments":"{\"a\": 1}","outcome":"complete")"));
  EXPECT_EQ(piped.out.back(), '\n');
  EXPECT_EQ(run_command({"parse", "--dialect", "hermes", "-"}, text).out, piped.out);
  const std::string file = write("said.txt", text);
  EXPECT_EQ(run_command({"parse", "--dialect", "hermes", file}).out, piped.out);
  EXPECT_EQ(run_command({"parse", "--dialect", "hermes", "--split", "byte", file}).out, piped.out);
  EXPECT_THAT(run_command({"parse"}, text.substr(3)).out, HasSubstr(R"("name":"f")")) << "auto";
}

TEST_F(ParseCommandTest, prints_what_was_asked_for) {
  const std::string text(kText);
  const Ran events = run_command({"parse", "--dialect", "hermes", "--emit", "events"}, text);
  EXPECT_THAT(events.out, HasSubstr(R"("events":[{"text":"Hi "},{"call":0,"name":"f"})"));
  const Ran sse = run_command({"parse", "--dialect", "hermes", "--emit", "sse"}, text);
  EXPECT_THAT(sse.out, HasSubstr("data: [DONE]"));
}

TEST_F(ParseCommandTest, takes_tools_the_commit_and_open_reasoning) {
  const std::string tools = write(
      "tools.json",
      R"([{"name":"read","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}])");
  const std::string said = "<read><path>/x</path></read>";
  const std::vector<std::string> xml{"parse", "--dialect", "generic_xml"};
  EXPECT_THAT(run_command(xml, said).out, HasSubstr(R"("tool_calls":[])"));
  EXPECT_THAT(run_command({"parse", "--dialect", "generic_xml", "--tools", tools}, said).out,
              HasSubstr(R"("name":"read")"));

  const std::string cut = R"(<tool_call>{"name": "f", "arguments": {"a": 1)";
  const auto committed = [&](const std::string& word) {
    return run_command({"parse", "--dialect", "hermes", "--commit", word}, cut).out;
  };
  EXPECT_THAT(committed("eager"), HasSubstr(R"("outcome":"truncated")"));
  EXPECT_THAT(committed("whole_call"), HasSubstr(R"("tool_calls":[])"));

  const Ran open = run_command({"parse", "--dialect", "hermes", "--reasoning-open"}, "hm</think>x");
  EXPECT_THAT(open.out, HasSubstr(R"("content":"x","reasoning":"hm")"));
}

TEST_F(ParseCommandTest, knows_the_dialects_of_a_configuration) {
  const std::string config = write("own.toml",
                                   "[[dialect]]\nname = \"mine\"\ncall = \"[DO]{name}[WITH]"
                                   "{arguments}[DONE]\"\n");
  const std::string said = R"([DO]f[WITH]{"a": 1}[DONE])";
  for (const char* name : {"mine", "auto"}) {
    const Ran ran = run_command({"parse", "--config", config, "--dialect", name}, said);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr(R"("name":"f","arguments":"{\"a\": 1}")")) << name;
  }
  const Ran lines = run_command({"parse", "--config", config, "--jsonl"},
                                R"({"dialect":"mine","text":"[DO]f[WITH]{}[DONE]"})");
  EXPECT_THAT(lines.out, HasSubstr(R"("name":"f")"));
  const Ran unknown = run_command({"parse", "--dialect", "mine"}, said);
  EXPECT_EQ(unknown.exit_code, 2);
  const std::string wrong = write("wrong.toml", "[[dialect]]\nname = \"mine\"\n");
  const Ran refused = run_command({"parse", "--config", wrong, "--dialect", "mine"}, said);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("wrong.toml:1: dialect \"mine\": call is missing"));
}

TEST_F(ParseCommandTest, explains_on_standard_error_and_in_the_result) {
  const std::string said = "<tool_call>{'x";
  const Ran quiet = run_command({"parse", "--dialect", "hermes"}, said);
  EXPECT_EQ(quiet.err, "");
  EXPECT_THAT(quiet.out, testing::Not(HasSubstr("\"explain\"")));
  const Ran ran = run_command({"parse", "--dialect", "hermes", "--explain"}, said);
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.out, HasSubstr(R"("explain":[{"dialect":"hermes","begin":0,)"));
  EXPECT_THAT(ran.err, StartsWith("hermes: opener at byte 0, gave up at byte "));
}

TEST_F(ParseCommandTest, asks_every_dialect) {
  const Ran ran = run_command({"parse", "--dialect", "all"}, std::string(kText));
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.out, StartsWith("calls\n"));
  EXPECT_THAT(ran.out, HasSubstr("\n  hermes  "));
  EXPECT_THAT(run_command({"parse", "--dialect", "all"}, "Hello.").out,
              StartsWith("no dialect finds a call\n"));
}

TEST_F(ParseCommandTest, answers_each_line_of_a_batch) {
  const std::string lines = R"({"id":1,"dialect":"hermes","text":"a"})"
                            "\n\n \t\r\n"
                            R"({"id":2,"dialect":"nope","text":"b"})"
                            "\nnonsense\n"
                            R"({"id":3,"dialect":"hermes","text":"<tool_call>{'x"})"
                            "\n";
  const Ran ran = run_command({"parse", "--jsonl", "--emit", "events", "--explain"}, lines);
  EXPECT_EQ(ran.exit_code, 0);
  std::vector<std::string> results;
  std::istringstream out(ran.out);
  for (std::string line; std::getline(out, line);) results.push_back(line);
  ASSERT_EQ(results.size(), 4u) << ran.out;
  EXPECT_THAT(results[0], StartsWith(R"({"id":1,)"));
  EXPECT_THAT(results[0], HasSubstr(R"("events":[{"text":"a"})"));
  EXPECT_THAT(results[1], StartsWith(R"({"id":2,"error":"dialect: there is no \"nope\")"));
  EXPECT_THAT(results[2], HasSubstr("not a valid case"));
  EXPECT_THAT(results[3], HasSubstr(R"("explain":[{"dialect":"hermes")"));
}

TEST_F(ParseCommandTest, exits_with_2_when_it_cannot_read) {
  const std::string broken = write("broken.json", "[{");
  const std::pair<std::vector<std::string>, std::string> rows[] = {
      {{"parse", "/nonexistent"}, "cannot read /nonexistent"},
      {{"parse", "--tools", "/nonexistent"}, "cannot read /nonexistent"},
      {{"parse", "--tools", broken}, "tools"},
      {{"parse", "--split", "never"}, "never"},
      {{"parse", "--dialect", "klingon"}, "there is no \"klingon\""},
  };
  for (const auto& [words, message] : rows) {
    const Ran ran = run_command(words, "x");
    EXPECT_EQ(ran.exit_code, 2) << message;
    EXPECT_THAT(ran.err, StartsWith("callgate parse: "));
    EXPECT_THAT(ran.err, HasSubstr(message));
    EXPECT_EQ(ran.out, "");
  }
}

}  // namespace
}  // namespace callgate::cli::parse_command_test
