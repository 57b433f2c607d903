// A policy: every call of a turn has an id, and no two have the same. Clients refuse anything else.
// The upstream's or the model's own id is kept where it can be, unless the style says otherwise; the rest are minted.
#pragma once

#include <string>
#include <unordered_set>

#include "base/ids.h"
#include "callgate/event.h"
#include "callgate/policy.h"

namespace callgate::policy {

class UniqueCallIds final : public Stage {
 public:
  // `mint` outlives the stage.
  UniqueCallIds(CallIdStyle style, IdMint& mint) : style_(style), mint_(mint) {}

  void push(const Event& event, EventSink& next) override;

 private:
  CallIdStyle style_;
  IdMint& mint_;
  std::unordered_set<std::string> used_;
};

}  // namespace callgate::policy
