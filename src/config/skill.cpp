#include "config/skill.h"

#include <algorithm>
#include <filesystem>

#include "base/quoted.h"
#include "base/text.h"
#include "base/utf8.h"
#include "config/small_file.h"

namespace callgate::server {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxSkillName = 64;
constexpr std::size_t kMaxSkillDescription = 1024;

tl::unexpected<Error> wrong(std::size_t line, const std::string& message) {
  return fail(ErrorCode::invalid_request, "line " + std::to_string(line) + ": " + message);
}

std::string_view take_line(std::string_view& text) {
  std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// `"a"` is a.
std::string_view unquoted(std::string_view value) {
  const bool quoted = value.size() > 1 && (value.front() == '"' || value.front() == '\'') &&
                      value.back() == value.front();
  return quoted ? value.substr(1, value.size() - 2) : value;
}

bool is_skill_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxSkillName &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
                  c == '-';
         });
}

Result<void> check(const Skill& skill) {
  if (!is_skill_name(skill.name)) {
    return wrong(1, "name: expected up to " + std::to_string(kMaxSkillName) +
                        " letters, digits, `_` and `-`, got " + in_quotes(skill.name));
  }
  if (skill.description.empty() || skill.description.size() > kMaxSkillDescription) {
    return wrong(1, "description: expected 1 to " + std::to_string(kMaxSkillDescription) +
                        " bytes, got " + std::to_string(skill.description.size()));
  }
  if (skill.instructions.empty()) return wrong(1, "there are no instructions after the head");
  return {};
}

class SkillLoader {
 public:
  SkillLoader(Config& config, std::vector<Mistake>& mistakes)
      : config_(config), mistakes_(mistakes) {}

  void add_all(const std::string& folder) {
    std::error_code fault;
    std::vector<fs::path> found;
    for (fs::directory_iterator at(folder, fault), end; !fault && at != end; at.increment(fault)) {
      if (fs::exists(at->path() / "SKILL.md", fault)) found.push_back(at->path());
    }
    if (fault) return complain("skills folder " + folder + ": " + fault.message());
    std::sort(found.begin(), found.end());
    for (const fs::path& each : found) add(each);
  }

 private:
  void complain(std::string message) {
    mistakes_.push_back({.path = "loop.skills", .message = std::move(message)});
  }
  void add(const fs::path& folder);
  std::vector<ToolTable> tools_of(const fs::path& folder, const std::string& skill);

  Config& config_;
  std::vector<Mistake>& mistakes_;
  std::size_t count_ = 0;
};

std::vector<ToolTable> SkillLoader::tools_of(const fs::path& folder, const std::string& skill) {
  const std::string file = (folder / "tools.toml").string();
  std::error_code fault;
  if (!fs::exists(file, fault)) return {};
  std::vector<Mistake> found;
  std::vector<ToolTable> tools = read_tool_tables(file, found);
  for (const Mistake& each : found) {
    complain(file + ":" + std::to_string(each.line) + ": " + each.message);
  }
  for (ToolTable& tool : tools) {
    tool.skill = skill;
    if (tool.folder.empty() && !tool.command.empty()) tool.folder = folder.string();
  }
  return tools;
}

void SkillLoader::add(const fs::path& folder) {
  const std::string file = (folder / "SKILL.md").string();
  if (++count_ > kMaxSkills) {
    if (count_ == kMaxSkills + 1) {
      complain("skills: expected at most " + std::to_string(kMaxSkills) + "; " + file +
               " is one more");
    }
    return;
  }
  const Result<std::string> text = read_small_file(file, kMaxSkillBytes);
  if (!text) return complain(file + ": " + text.error().message);
  Result<Skill> skill = read_skill(*text);
  if (!skill) return complain(file + ": " + skill.error().message);
  std::vector<ToolTable> tools = tools_of(folder, skill->name);
  ToolTable table;
  table.name = skill->name;
  table.kind = "builtin";
  table.builtin = "skill";
  table.skill = skill->name;
  table.description = "Skill: " + skill->description + " Call it to read how.";
  table.instructions = std::move(skill->instructions);
  std::string names;
  for (const ToolTable& tool : tools) names.append(names.empty() ? "" : ", ").append(tool.name);
  if (!names.empty()) table.instructions += "\n\nTools of this skill: " + names;
  config_.tools.push_back(std::move(table));
  std::move(tools.begin(), tools.end(), std::back_inserter(config_.tools));
}

}  // namespace

Result<Skill> read_skill(std::string_view text) {
  if (!utf8::is_valid(text)) return wrong(1, "it is not UTF-8");
  if (take_line(text) != "---") return wrong(1, "expected `---`, then name: and description:");
  Skill skill;
  std::size_t number = 1;
  for (bool closed = false; !closed;) {
    if (text.empty()) return wrong(number, "the head is not closed with `---`");
    const std::string_view line = take_line(text);
    ++number;
    closed = line == "---";
    if (closed || is_blank(line)) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      return wrong(number, "expected `name: value`, got " + in_quotes(line));
    }
    const std::string_view key = trimmed(line.substr(0, colon));
    const std::string value(unquoted(trimmed(line.substr(colon + 1))));
    if (key == "name") skill.name = value;
    if (key == "description") skill.description = value;
  }
  skill.instructions = trimmed(text);
  if (auto good = check(skill); !good) return tl::unexpected(good.error());
  return skill;
}

void add_skills(Config& config, std::vector<Mistake>& mistakes) {
  SkillLoader loader(config, mistakes);
  for (const std::string& folder : config.loop.skills) loader.add_all(folder);
}

}  // namespace callgate::server
