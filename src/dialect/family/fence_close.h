// The fence behind JSON that a model put into a code block: white space and three backticks are structure.
//
//   ```json\n{"city": "Paris"}|\n```|<｜tool▁call▁end｜>
#pragma once

#include <cstddef>
#include <string_view>

#include "dialect/call_reader.h"

namespace callgate::dialect {

class FenceClose {
 public:
  void begin() { ticks_ = 0; }
  Step push(std::string_view bytes, Output& out) {
    std::size_t at = 0;
    while (at < bytes.size()) {
      const char c = bytes[at];
      if (c != '`' && (ticks_ > 0 || !is_space(c))) return {at, Step::Next::closed};
      out.hold(bytes.substr(at++, 1));
      if (c != '`' || ++ticks_ < 3) continue;
      out.drop_held();
      return {at, Step::Next::closed};
    }
    return {at};
  }

 private:
  int ticks_ = 0;
};

}  // namespace callgate::dialect
