// Skills: folders with instructions, and tools that go with them.
//
//   skills/invoices/SKILL.md         ---
//                                    name: invoices
//                                    description: Find, check and correct invoices.
//                                    ---
//                                    First look the customer up with find_customer. ...
//   skills/invoices/tools.toml       [[tool]] tables; may be missing
//
// A skill becomes a tool that gives the instructions; its own tools stand beside it. Where the catalogue of tools is big,
// a model finds all of them with find_tools.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "callgate/result.h"
#include "config/config.h"
#include "config/mistakes.h"

namespace callgate::server {

inline constexpr std::size_t kMaxSkills = 100;
inline constexpr std::size_t kMaxSkillBytes = std::size_t{64} << 10;

struct Skill {
  std::string name;
  std::string description;
  std::string instructions;
};

// The text of a SKILL.md. The error says which line is wrong.
Result<Skill> read_skill(std::string_view text);

// Adds the tools of all skills in the folders of `loop.skills`.
void add_skills(Config& config, std::vector<Mistake>& mistakes);

}  // namespace callgate::server
