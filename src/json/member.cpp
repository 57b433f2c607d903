#include "json/member.h"

#include "json/reader.h"

namespace callgate::json {
namespace {

std::string_view last_member(std::string_view object, std::string_view name, bool with_null) {
  Reader in(object);
  if (in.peek() != Kind::object) return {};
  std::string_view found;
  for (std::string_view key; in.next_member(key);) {
    const bool wanted = key == name && (with_null || in.peek() != Kind::null);
    const std::string_view value = in.raw();
    if (wanted) found = value;
  }
  return found;
}

}  // namespace

std::string_view member_json(std::string_view object, std::string_view name) {
  return last_member(object, name, true);
}

std::string_view given_member(std::string_view object, std::string_view name) {
  return last_member(object, name, false);
}

std::string member_text(std::string_view object, std::string_view name) {
  Reader in(given_member(object, name));
  return in.peek() == Kind::string ? std::string(in.string()) : std::string();
}

}  // namespace callgate::json
