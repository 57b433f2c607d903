// The elements of an array and the members of an object that are kept as text. A text that is something else has none.
#pragma once

#include <string>
#include <string_view>

#include "json/reader.h"

namespace callgate::json {

// Calls visit(element) with the JSON of each.
template <class Visit>
void each_element(std::string_view array, Visit visit) {
  Reader in(array);
  if (array.empty() || in.peek() != Kind::array) return;
  while (in.next_element()) visit(in.raw());
}

// Calls visit(name, value) with the name unescaped and the JSON of the value.
template <class Visit>
void each_member(std::string_view object, Visit visit) {
  Reader in(object);
  if (object.empty() || in.peek() != Kind::object) return;
  std::string name;
  for (std::string_view key; in.next_member(key);) {
    name = key;
    visit(std::string_view(name), in.raw());
  }
}

}  // namespace callgate::json
