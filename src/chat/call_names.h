// Which tool a result belongs to: the names of a conversation's calls by their ids, each found in one step.
#pragma once

#include <string_view>
#include <unordered_map>

#include "callgate/request.h"

namespace callgate {

class CallNames {
 public:
  // The message's calls are the newest ones. REQUIRES: it outlives this.
  void add(const Message& message) {
    // Of two calls with one id in a message the first counts.
    for (auto call = message.calls.rbegin(); call != message.calls.rend(); ++call) {
      names_.insert_or_assign(call->id, call->name);
    }
  }
  // The name of the newest call with that id; empty: there is none.
  std::string_view find(std::string_view id) const {
    const auto found = names_.find(id);
    return found == names_.end() ? std::string_view() : found->second;
  }

 private:
  std::unordered_map<std::string_view, std::string_view> names_;
};

}  // namespace callgate
