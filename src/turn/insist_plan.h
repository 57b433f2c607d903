// A turn that must make a call is not taken without one: the model is asked once more. Only where it was asked in words;
// an upstream that takes `tool_choice` has its own way.
#pragma once

#include "callgate/request.h"

namespace callgate::server {

class InsistPlan {
 public:
  explicit InsistPlan(const ToolChoice& choice)
      : wanted_(choice.mode == ToolChoice::Mode::required ||
                choice.mode == ToolChoice::Mode::named) {}

  // Whether a turn is held back until it makes a call. `in_words`: the model knows its tools from its prompt alone.
  bool holds(bool in_words) const { return wanted_ && in_words; }
  // A turn without a call was thrown away. The next one is taken as it is.
  bool insisted() const { return insisted_; }
  void insist() { insisted_ = true; }

 private:
  bool wanted_;
  bool insisted_ = false;
};

}  // namespace callgate::server
