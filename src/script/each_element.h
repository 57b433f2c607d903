// Each element of an array that is kept as text; a text that is not an array has none.
#pragma once

#include <string_view>

#include "json/reader.h"

namespace callgate::script {

template <class Use>
void each_element(std::string_view array, Use use) {
  json::Reader in(array);
  if (in.peek() != json::Kind::array) return;
  while (in.next_element()) use(in.raw());
}

}  // namespace callgate::script
