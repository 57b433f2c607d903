// CancelToken: stops the run of a tool. Loop thread only; it outlives the runs that it was given to.
#pragma once

#include <functional>
#include <vector>

namespace callgate::tool {

class CancelToken {
 public:
  class Hook;

  CancelToken() = default;
  CancelToken(const CancelToken&) = delete;
  CancelToken& operator=(const CancelToken&) = delete;

  // Runs the hooks, once. The runs end soon after, never inside cancel().
  void cancel();
  bool cancelled() const { return cancelled_; }

 private:
  std::vector<Hook*> hooks_;
  bool cancelled_ = false;
};

// What to do when the token is cancelled, as long as the hook lives; at once when it was cancelled before.
class CancelToken::Hook {
 public:
  Hook(CancelToken& token, std::function<void()> action);
  ~Hook();
  Hook(const Hook&) = delete;
  Hook& operator=(const Hook&) = delete;

 private:
  friend class CancelToken;
  CancelToken& token_;
  std::function<void()> action_;
};

}  // namespace callgate::tool
