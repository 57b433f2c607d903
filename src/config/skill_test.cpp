#include "config/skill.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "config/tool_config.h"

namespace callgate::server::skill_test {
namespace {

namespace fs = std::filesystem;

class Skills : public testing::Test {
 protected:
  Skills() {
    std::string name = (fs::temp_directory_path() / "callgate_skills_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    fs::create_directories(folder_ + "/invoices");
    fs::create_directories(folder_ + "/empty");
  }
  ~Skills() override { fs::remove_all(folder_); }

  void write(const std::string& file, std::string_view text) const {
    std::ofstream(folder_ + "/" + file) << text;
  }
  Result<Config> load() const {
    return parse_config("[loop]\nskills = \"" + folder_ + "\"\n", "c.toml");
  }

  std::string folder_;
};

constexpr std::string_view kSkill =
    "---\nname: invoices\ndescription: \"Correct invoices.\"\nlicense: none\n---\n\nLook first.\n";

TEST_F(Skills, become_a_tool_with_instructions_and_the_tools_beside_it) {
  write("invoices/SKILL.md", kSkill);
  write("invoices/tools.toml",
        "[[tool]]\nname = \"find_customer\"\nkind = \"command\"\ncommand = [\"./find\"]\n");
  const auto config = load();
  ASSERT_TRUE(config) << config.error().message;
  ASSERT_EQ(config->tools.size(), 2u);
  EXPECT_EQ(config->tools[0].name, "invoices");
  EXPECT_EQ(config->tools[0].description, "Skill: Correct invoices. Call it to read how.");
  EXPECT_EQ(config->tools[0].instructions, "Look first.\n\nTools of this skill: find_customer");
  EXPECT_EQ(config->tools[1].folder, folder_ + "/invoices");
  EXPECT_TRUE(to_tool_set(*config));
  EXPECT_EQ(print_differences(*config).find("[[tool]]"), std::string::npos);
}

TEST_F(Skills, are_so_many_at_most) {
  for (int i = 0; i < 100; ++i) {
    const std::string name = "s" + std::to_string(i);
    fs::create_directories(folder_ + "/" + name);
    write(name + "/SKILL.md", "---\nname: " + name + "\ndescription: x\n---\n\nLook.\n");
  }
  ASSERT_TRUE(load()) << load().error().message;
  write("invoices/SKILL.md", kSkill);
  const auto more = load();
  ASSERT_FALSE(more);
  EXPECT_NE(more.error().message.find("expected at most 100"), std::string::npos);
}

TEST_F(Skills, report_what_is_wrong_with_file_and_line) {
  const auto message = [this] {
    const auto config = load();
    return config ? std::string("none") : config.error().message + "\n";
  };
  write("invoices/SKILL.md", "# Invoices\n");
  EXPECT_EQ(message(), "c.toml:2: " + folder_ +
                           "/invoices/SKILL.md: line 1: expected `---`, then name: and "
                           "description:\n");
  write("invoices/SKILL.md", "---\nname: a b\ndescription: x\n---\ny\n");
  EXPECT_EQ(message(), "c.toml:2: " + folder_ +
                           "/invoices/SKILL.md: line 1: name: expected up to 64 letters, digits, "
                           "`_` and `-`, got \"a b\"\n");
  write("invoices/SKILL.md", kSkill);
  write("invoices/tools.toml", "[[tool]]\nname = \"f\"\nkind = \"command\"\ncomand = [\"x\"]\n");
  EXPECT_EQ(message(), "c.toml:2: " + folder_ +
                           "/invoices/tools.toml:4: unknown key `tool.comand`, did you mean "
                           "`tool.command`?\n");
}

TEST_F(Skills, have_programs_in_their_folder) {
  write("invoices/SKILL.md", kSkill);
  write("invoices/tools.toml",
        "[[tool]]\nname = \"f\"\nkind = \"command\"\ncommand = [\"./find\"]\n");
  const std::vector<Mistake> missing = find_missing_files(*load());
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0].path, "loop.skills");
  EXPECT_EQ(missing[0].message, "there is no program \"./find\"");
  write("invoices/find", "#!/bin/sh\n");
  fs::permissions(folder_ + "/invoices/find", fs::perms::owner_all);
  EXPECT_TRUE(find_missing_files(*load()).empty());
}

TEST(ReadSkill, needs_a_closed_head_a_description_and_instructions) {
  const auto message = [](std::string_view text) {
    const auto skill = read_skill(text);
    return skill ? std::string("none") : skill.error().message;
  };
  EXPECT_EQ(message(kSkill), "none");
  EXPECT_EQ(message("---\nname: a\n"), "line 2: the head is not closed with `---`");
  EXPECT_EQ(message("---\nname a\n---\n"), "line 2: expected `name: value`, got \"name a\"");
  EXPECT_EQ(message("---\nname: a\n---\nx"),
            "line 1: description: expected 1 to 1024 bytes, got 0");
  EXPECT_EQ(message("---\nname: a\ndescription: b\n---\n \n"),
            "line 1: there are no instructions after the head");
  EXPECT_EQ(message("\xff"), "line 1: it is not UTF-8");
}

}  // namespace
}  // namespace callgate::server::skill_test
