// Every case of golden/loop, played and compared line by line. CALLGATE_GOLDEN_UPDATE=1 rewrites the transcripts: read the
// diff.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/source_path_testing.h"
#include "loop/transcript_testing.h"

namespace callgate::loop::golden_test {
namespace {

struct Case {
  std::string name;
  std::vector<std::string> options;
  std::vector<std::string> tools;
  std::vector<std::string> messages;
  std::vector<std::string> transcript;
};

std::vector<Case> read_cases(const std::string& path) {
  std::ifstream file(path);
  std::vector<Case> cases;
  std::vector<std::string>* section = nullptr;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("=== ")) {
      cases.push_back({.name = line.substr(4)});
      section = nullptr;
    } else if (line.starts_with("--- ") && !cases.empty()) {
      const std::string title = line.substr(4);
      section = title == "options"    ? &cases.back().options
                : title == "tools"    ? &cases.back().tools
                : title == "messages" ? &cases.back().messages
                                      : &cases.back().transcript;
    } else if (section != nullptr && !line.empty()) {
      section->push_back(line);
    }
  }
  return cases;
}

// An option of the loop, or one of the script's own.
void take_option(Player& player, const std::string& line) {
  const std::size_t equals = line.find('=');
  const std::string name = line.substr(0, equals);
  const std::string value = line.substr(equals + 1);
  if (name == "key") {
    player.options.key = value;
  } else if (name == "deny") {
    player.options.rules.push_back({.key = "guest*", .deny = {value}});
  } else if (name == "client_tool") {
    player.request.tools.push_back({.name = value});
  } else if (name == "tool_choice") {
    player.request.tool_choice = {.mode = ToolChoice::Mode::required};
  } else {
    EXPECT_TRUE(set_option(player.options, name, value)) << line;
  }
}

Tool read_tool(const std::string& line) {
  std::istringstream words(line);
  Tool tool;
  words >> tool.spec.name;
  for (std::string word; words >> word;) {
    if (word == "exclusive") {
      tool.exclusive = true;
    } else if (word == "return_direct") {
      tool.return_direct = true;
    } else if (word == "approval") {
      tool.approval = true;
    } else if (word == "pinned") {
      tool.pinned = true;
    } else if (word.starts_with("timeout=")) {
      tool.timeout = std::stoll(word.substr(8));
    } else if (word.starts_with("max_calls=")) {
      tool.max_calls = static_cast<std::uint32_t>(std::stoul(word.substr(10)));
    } else {
      tool.spec.description += (tool.spec.description.empty() ? "" : " ") + word;
    }
  }
  return tool;
}

// `user Hello`, `assistant Hi`, `assistant_call id name`
Message read_message(const std::string& line) {
  const std::size_t space = line.find(' ');
  const std::string role = line.substr(0, space);
  const std::string text = line.substr(space + 1);
  if (role == "assistant_call") {
    Message message{.role = Role::assistant, .content = {"null"}};
    const std::size_t gap = text.find(' ');
    message.calls.push_back({text.substr(0, gap), text.substr(gap + 1), "{}", {}});
    return message;
  }
  return message_of(role == "system"      ? Role::system
                    : role == "assistant" ? Role::assistant
                                          : Role::user,
                    text);
}

std::string play(const Case& golden) {
  Player player;
  player.options.memory = Memory::none;
  for (const std::string& line : golden.options) take_option(player, line);
  for (const std::string& line : golden.tools) player.tools.push_back(read_tool(line));
  for (const std::string& line : golden.messages) {
    player.request.messages.push_back(read_message(line));
  }
  for (const std::string& line : golden.transcript) {
    if (line.starts_with("> ")) player.play(line.substr(2));
  }
  return player.out;
}

void rewrite(const std::string& path, const std::vector<Case>& cases) {
  std::ifstream in(path);
  std::string out;
  auto golden = cases.begin();
  bool in_transcript = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("=== ") || line.empty()) in_transcript = false;
    if (!in_transcript) out += line + "\n";
    if (line != "--- transcript") continue;
    in_transcript = true;
    out += play(*golden++);
  }
  in.close();
  std::ofstream(path) << out;
}

TEST(LoopGolden, every_transcript_comes_out_as_written) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(source_path("golden/loop"))) {
    paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  std::size_t played = 0;
  for (const std::string& path : paths) {
    const std::vector<Case> cases = read_cases(path);
    if (std::getenv("CALLGATE_GOLDEN_UPDATE") != nullptr) rewrite(path, cases);
    for (const Case& golden : read_cases(path)) {
      std::string expected;
      for (const std::string& line : golden.transcript) expected += line + "\n";
      EXPECT_EQ(play(golden), expected) << path << ": " << golden.name;
      ++played;
    }
  }
  EXPECT_GE(played, 30u);
}

}  // namespace
}  // namespace callgate::loop::golden_test
