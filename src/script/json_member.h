// Looking into the JSON of a request, leniently: what is missing, null or of another kind reads as nothing.
#pragma once

#include <string>
#include <string_view>

#include "json/reader.h"

namespace callgate::script {

inline std::string_view member_of(std::string_view object, std::string_view name) {
  json::Reader in(object);
  std::string_view found;
  if (in.peek() != json::Kind::object) return found;
  for (std::string_view key; in.next_member(key);) {
    const bool wanted = key == name;
    const std::string_view value = in.raw();
    if (wanted && value != "null") found = value;
  }
  return found;
}

inline std::string member_text(std::string_view object, std::string_view name) {
  json::Reader in(member_of(object, name));
  return in.peek() == json::Kind::string ? std::string(in.string()) : std::string();
}

template <class Use>
void each_element(std::string_view array, Use use) {
  json::Reader in(array);
  if (in.peek() != json::Kind::array) return;
  while (in.next_element()) use(in.raw());
}

}  // namespace callgate::script
