// A policy: a turn that fails after complete calls ends with them, if no other call was begun. The client can run them.
#pragma once

#include "callgate/event.h"

namespace callgate::policy {

class ErrorAfterToolCalls final : public Stage {
 public:
  void push(const Event& event, EventSink& next) override;

 private:
  bool has_calls_ = false;
  bool all_complete_ = true;
};

}  // namespace callgate::policy
