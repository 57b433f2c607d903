#include "tool/cancel.h"

#include <algorithm>

namespace callgate::tool {

void CancelToken::cancel() {
  if (cancelled_) return;
  cancelled_ = true;
  // A hook may let go of itself or of others.
  const std::vector<Hook*> hooks = hooks_;
  for (Hook* hook : hooks) {
    if (std::find(hooks_.begin(), hooks_.end(), hook) != hooks_.end()) hook->action_();
  }
}

CancelToken::Hook::Hook(CancelToken& token, std::function<void()> action)
    : token_(token), action_(std::move(action)) {
  token_.hooks_.push_back(this);
  if (token_.cancelled_) action_();
}

CancelToken::Hook::~Hook() { std::erase(token_.hooks_, this); }

}  // namespace callgate::tool
