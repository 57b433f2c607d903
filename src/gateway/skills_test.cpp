// A loop that finds a skill, reads its instructions, runs its tool and keeps a plan.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gateway/gateway_testing.h"
#include "json/writer.h"

namespace callgate::server::skills_gateway_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kEnd = "data: [DONE]\n\n";

FakeServer::Reply call(std::string_view name, std::string_view arguments) {
  std::string piece =
      R"(data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function",)"
      R"("function":{"name":")" +
      std::string(name) + R"(","arguments":)";
  json::append_string(piece, arguments);
  piece += "}}]},\"finish_reason\":\"tool_calls\"}]}\n\n";
  return {.pieces = {piece + std::string(kEnd)}};
}

class SkillsInLoops : public testing::Test {
 protected:
  SkillsInLoops() {
    std::string name = (fs::temp_directory_path() / "callgate_skills_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    fs::create_directories(folder_ + "/invoices");
    std::ofstream(folder_ + "/invoices/SKILL.md")
        << "---\nname: invoices\ndescription: Correct invoices.\n---\nLook at data.txt first.\n";
    std::ofstream(folder_ + "/invoices/data.txt") << "customer 7";
    std::ofstream(folder_ + "/invoices/tools.toml")
        << "[[tool]]\nname = \"invoice_customer\"\nkind = \"command\"\ndescription = \"Finds the "
           "customer of an invoice.\"\ncommand = [\"cat\", \"data.txt\"]\n";
  }
  ~SkillsInLoops() override { fs::remove_all(folder_); }

  std::string folder_;
  net::Loop loop_;
  FakeServer server_{loop_};
};

TEST_F(SkillsInLoops, are_found_read_and_used_and_a_plan_is_shown) {
  TestGateway gateway(
      loop_, "[[upstream]]\nname = \"a\"\nurl = \"" + server_.url() +
                 "\"\n[[model]]\nname = \"m\"\nupstream = \"a\"\n[loop]\nfind_tools_above = 2\n"
                 "skills = \"" +
                 folder_ +
                 "\"\n[[tool]]\nname = \"plan\"\nkind = \"builtin\"\nbuiltin = \"plan\"\n"
                 "pinned = true\n[[tool]]\nname = \"clock\"\nkind = \"builtin\"\n");
  server_.then(call("find_tools", R"({"query": "correct an invoice"})"));
  server_.then(call("invoices", "{}"));
  server_.then(call("invoice_customer", "{}"));
  server_.then(call("plan", R"({"steps": [{"step": "Look", "state": "done"}]})"));
  server_.then({.pieces = {R"(data: {"choices":[{"index":0,"delta":{"content":"Fixed."},)"
                           "\"finish_reason\":\"stop\"}]}\n\n" +
                           std::string(kEnd)}});
  const TestAnswer answer =
      gateway.ask(R"({"model":"m","stream":true,"callgate":{"loop":true,"show_tool_calls":true},)"
                  R"("messages":[{"role":"user","content":"hi"}]})");
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr("Fixed."));
  EXPECT_THAT(answer.body, HasSubstr("[x] Look"));
  ASSERT_EQ(server_.asked().size(), 5u);
  EXPECT_THAT(server_.asked()[0].body, Not(HasSubstr("Correct invoices.")));
  EXPECT_THAT(server_.asked()[0].body, HasSubstr("find_tools"));
  EXPECT_THAT(server_.asked()[1].body, HasSubstr("Skill: Correct invoices."));
  EXPECT_THAT(server_.asked()[2].body, HasSubstr("Look at data.txt first."));
  EXPECT_THAT(server_.asked()[2].body, HasSubstr("Tools of this skill: invoice_customer"));
  EXPECT_THAT(server_.asked()[3].body, HasSubstr("customer 7"));
  EXPECT_THAT(server_.asked()[4].body, HasSubstr("Plan, 1 of 1 done:"));
}

}  // namespace
}  // namespace callgate::server::skills_gateway_test
