#include "upstream/dropped_members.h"

#include <algorithm>

namespace callgate::upstream {
namespace {

constexpr std::size_t kMaxNames = 32;
constexpr std::size_t kMaxLength = 64;

bool is_word(std::string_view name) {
  return !name.empty() && name.size() <= kMaxLength &&
         std::all_of(name.begin(), name.end(), [](char c) {
           const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
           return letter || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
         });
}

}  // namespace

bool DroppedMembers::has(std::string_view name) const {
  return std::find(names_.begin(), names_.end(), name) != names_.end();
}

void DroppedMembers::add(std::string_view name) {
  if (names_.size() < kMaxNames && is_word(name) && !has(name)) names_.emplace_back(name);
}

void DroppedMembers::skip(json::Reader& in, std::string_view name) {
  if (has(name) || names_.size() == kMaxNames) return in.skip();
  const std::string copy(name.substr(0, kMaxLength + 1));
  const std::string_view value = in.raw();
  const bool empty = value.empty() || value == "null" || value == "[]" || value == "{}" ||
                     value == "\"\"" || value == "false";
  if (!empty) add(copy);
}

std::string DroppedMembers::print() const {
  std::string text;
  for (const std::string& name : names_) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

}  // namespace callgate::upstream
