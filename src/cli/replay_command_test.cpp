#include "callgate/version.h"
#include "cli/command_testing.h"
#include "json/writer.h"

namespace callgate::cli::replay_command_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string frame(std::string_view delta, std::string_view reason = "null") {
  return "data: {\"choices\":[{\"index\":0,\"delta\":" + std::string(delta) +
         ",\"finish_reason\":" + std::string(reason) + "}]}\n\n";
}

const std::string kTurn = frame(R"({"content":"one "})") + frame(R"({"content":"two"})") +
                          frame("{}", "\"stop\"") + "data: [DONE]\n\n";
const std::string kCallInText =
    frame(R"({"content":"<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>"})") +
    frame("{}", "\"stop\"") + "data: [DONE]\n\n";

std::string line(std::string_view direction, std::string_view bytes) {
  std::string out = R"({"t":1,"dir":")" + std::string(direction) + R"(","data":)";
  json::append_string(out, bytes);
  return out + "}\n";
}

// A capture whose client got `answer`.
std::string capture(std::string_view answer, std::string_view version) {
  std::string out = R"({"capture":1,"version":")" + std::string(version) +
                    R"(","request":"req.1","time":1,"model":"m","protocol":"openai_chat",)"
                    R"("pipeline":{"wire":"openai_chat","protocol":"openai_chat",)"
                    R"("dialect":"native","response_id":"r","max_frame":100000,)"
                    R"("max_body":100000,"max_held_back":100000,"policy":{}}})"
                    "\n";
  out += line("client_in",
              R"({"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]})");
  out += R"({"t":1,"dir":"upstream_out","head":{"upstream":"u"}})"
         "\n";
  out += R"({"t":1,"dir":"upstream_in","head":{"status":200}})"
         "\n";
  out += line("upstream_in", kTurn);
  out += R"({"t":1,"dir":"upstream_in","closed":true})"
         "\n";
  if (!answer.empty()) out += line("client_out", answer);
  return out + R"({"end":"completed","truncated":false})"
               "\n";
}

class ReplayCommandTest : public CommandTest {
 protected:
  const std::string turn_ = write("turn.sse", kTurn);
  const std::string in_text_ = write("in_text.sse", kCallInText);
};

TEST_F(ReplayCommandTest, prints_what_was_asked_for) {
  const Ran client = run_command({"replay", turn_});
  EXPECT_EQ(client.exit_code, 0) << client.err;
  EXPECT_EQ(client.err, "");
  EXPECT_THAT(client.out, HasSubstr(R"("content":" two")"));
  EXPECT_THAT(client.out, testing::EndsWith("data: [DONE]\n\n"));
  EXPECT_EQ(run_command({"replay", "-"}, kTurn).out, client.out);
  EXPECT_EQ(run_command({"replay", turn_, "--split", "byte"}).out, client.out);
  EXPECT_EQ(run_command({"replay", turn_, "--emit", "client"}).out, client.out);
  const Ran events = run_command({"replay", turn_, "--emit", "events"});
  EXPECT_THAT(events.out, StartsWith("text \"one two\"\nfinish stop\n"));
  const Ran summary = run_command({"replay", turn_, "--emit", "summary"});
  EXPECT_EQ(summary.exit_code, 0);
  EXPECT_NE(summary.out, "");
  EXPECT_NE(summary.out, events.out);
  EXPECT_NE(summary.out, client.out);
}

TEST_F(ReplayCommandTest, reads_the_turn_as_the_command_line_says) {
  const std::vector<std::string> events{"replay", in_text_, "--emit", "events"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> words = events;
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = run_command(words);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return ran.out;
  };
  EXPECT_THAT(with({"--dialect", "hermes"}), HasSubstr("call 0 f"));
  EXPECT_THAT(with({"--dialect", "native"}), StartsWith("text \"<tool_call>"));
  const std::string tools = write("tools.json", R"([{"name":"g"}])");
  EXPECT_THAT(with({"--dialect", "hermes", "--tools", tools, "--set", "undeclared_tools=text"}),
              StartsWith("text \"{"));
  const std::string request =
      write("request.json",
            R"({"model":"mine","stream":true,"messages":[{"role":"user","content":"x"}]})");
  EXPECT_THAT(run_command({"replay", turn_, "--request", request}).out,
              HasSubstr(R"("model":"mine")"));
  EXPECT_THAT(run_command({"replay", turn_, "--protocol", "openai_chat"}).out, HasSubstr("[DONE]"));
}

TEST_F(ReplayCommandTest, explains_and_asks_every_dialect) {
  const std::string broken =
      write("broken.sse", frame(R"({"content":"<tool_call>{'x"})") + frame("{}", "\"stop\""));
  EXPECT_EQ(run_command({"replay", broken, "--dialect", "hermes"}).err, "");
  EXPECT_THAT(run_command({"replay", broken, "--dialect", "hermes", "--explain"}).err,
              StartsWith("hermes: opener at byte 0, gave up at byte "));
  EXPECT_THAT(run_command({"replay", turn_, "--dialect", "hermes", "--explain"}).err,
              HasSubstr("nothing in the text opens a call"));
  const Ran all = run_command({"replay", in_text_, "--dialect", "all"});
  EXPECT_EQ(all.exit_code, 0);
  EXPECT_THAT(all.out, StartsWith("calls\n"));
  EXPECT_THAT(all.out, HasSubstr("\n  hermes  "));
}

TEST_F(ReplayCommandTest, compares_with_what_the_client_got) {
  const std::string unanswered = write("a.capture.jsonl", capture("", kVersion));
  const std::string answer = run_command({"replay", unanswered}).out;
  ASSERT_THAT(answer, HasSubstr("two"));

  const Ran same =
      run_command({"replay", write("b.capture.jsonl", capture(answer, kVersion)), "--check"});
  EXPECT_EQ(same.exit_code, 0) << same.err << same.out;
  EXPECT_EQ(same.out, "the same " + std::to_string(answer.size()) + " bytes\n");

  std::string other = answer;
  other.replace(other.find("two"), 3, "six");
  const Ran differs =
      run_command({"replay", write("c.capture.jsonl", capture(other, kVersion)), "--check"});
  EXPECT_EQ(differs.exit_code, 1);
  EXPECT_NE(differs.out, "");
  EXPECT_THAT(differs.out, testing::Not(HasSubstr("captured by")));
  const Ran older =
      run_command({"replay", write("d.capture.jsonl", capture(other, "0.0.1")), "--check"});
  EXPECT_EQ(older.exit_code, 1);
  EXPECT_EQ(older.out,
            differs.out + "captured by callgate 0.0.1, this is " + std::string(kVersion) + "\n");

  const Ran plain = run_command({"replay", turn_, "--check"});
  EXPECT_EQ(plain.exit_code, 2);
  EXPECT_EQ(plain.err, "callgate replay: --check needs a capture\n");
}

TEST_F(ReplayCommandTest, writes_a_golden_case) {
  const Ran ran = run_command({"replay", turn_, "--golden", path_of("golden"), "--name", "a-b.c"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  std::istringstream printed(ran.out);
  std::vector<std::string> paths;
  for (std::string path; std::getline(printed, path);) {
    EXPECT_TRUE(std::filesystem::exists(path)) << path;
    paths.push_back(path);
  }
  EXPECT_THAT(paths, testing::Contains(path_of("golden/a_b_c.sse")));
  EXPECT_THAT(paths, testing::Contains(path_of("golden/a_b_c.openai_chat.sse")));
  EXPECT_THAT(paths, testing::Contains(path_of("golden/a_b_c.summary")));
  EXPECT_EQ(read_file(folder_ / "golden/a_b_c.sse"), kTurn);

  const Ran named = run_command({"replay", turn_, "--golden", path_of("golden")});
  EXPECT_THAT(named.out, HasSubstr(path_of("golden/turn.sse") + "\n")) << "the file's name";

  const std::string large =
      write("large.sse", frame(R"({"content":")" + std::string(33'000, 'x') + "\"}") + kTurn);
  const Ran warned = run_command({"replay", large, "--golden", path_of("golden")});
  EXPECT_EQ(warned.exit_code, 0);
  EXPECT_THAT(warned.err, HasSubstr("a shorter turn is a better case"));

  const std::string file = write("file", "");
  const Ran blocked = run_command({"replay", turn_, "--golden", file});
  EXPECT_EQ(blocked.exit_code, 2);
  EXPECT_THAT(blocked.err, StartsWith("callgate replay: cannot write " + file));
}

TEST_F(ReplayCommandTest, exits_with_2_when_it_cannot_run) {
  const std::string broken = write("broken.capture.jsonl", capture("", "1").substr(0, 100) + "\n");
  const std::string request = write("request.json", "[]");
  const std::pair<std::vector<std::string>, std::string> rows[] = {
      {{"replay", "/nonexistent"}, "cannot read /nonexistent"},
      {{"replay", turn_, "--tools", "/nonexistent"}, "cannot read /nonexistent"},
      {{"replay", turn_, "--tools", request + "x"}, "cannot read"},
      {{"replay", turn_, "--split", "never"}, "never"},
      {{"replay", turn_, "--dialect", "klingon"}, "klingon"},
      {{"replay", turn_, "--protocol", "gopher"}, "gopher"},
      {{"replay", turn_, "--wire", "gopher"}, "gopher"},
      {{"replay", turn_, "--set", "colour=red"}, "colour"},
      {{"replay", turn_, "--request", request}, "expected a JSON object"},
      {{"replay", broken}, "broken.capture.jsonl: "},
  };
  for (const auto& [words, message] : rows) {
    const Ran ran = run_command(words);
    EXPECT_EQ(ran.exit_code, 2) << message;
    EXPECT_THAT(ran.err, StartsWith("callgate replay: "));
    EXPECT_THAT(ran.err, HasSubstr(message));
    EXPECT_EQ(ran.out, "") << message;
  }
}

}  // namespace
}  // namespace callgate::cli::replay_command_test
