#include "client/call_ids.h"

#include <utility>

namespace callgate::client {

// As long as the ids that callgate mints for answers, so that a wire format which sends no foreign ids knows it.
std::string CallIds::mint() {
  const std::string number = std::to_string(minted_++);
  constexpr std::size_t kLength = 24;
  std::string id = "call_";
  id.append(kLength - number.size(), '0');
  return id + number;
}

std::string CallIds::called(std::string_view name, std::string_view given) {
  const std::size_t at = calls_.size();
  std::string id = given.empty() ? mint() : std::string(given);
  calls_.push_back({id, std::string(name)});
  by_id_[id] = at;
  by_name_[std::string(name)].push_back(at);
  open_.push_back(at);
  return id;
}

std::string CallIds::take(std::deque<std::size_t>& open) {
  while (!open.empty()) {
    const std::size_t at = open.front();
    open.pop_front();
    if (!std::exchange(calls_[at].answered, true)) return calls_[at].id;
  }
  return {};
}

std::string CallIds::answered(std::string_view name, std::string_view given) {
  if (!given.empty()) {
    if (const auto known = by_id_.find(std::string(given)); known != by_id_.end()) {
      calls_[known->second].answered = true;
    }
    return std::string(given);
  }
  std::string id;
  if (const auto same = by_name_.find(std::string(name)); same != by_name_.end()) {
    id = take(same->second);
  }
  if (id.empty()) id = take(open_);
  return id.empty() ? mint() : id;
}

std::string_view CallIds::name_of(std::string_view id) const {
  const auto known = by_id_.find(std::string(id));
  return known == by_id_.end() ? std::string_view() : calls_[known->second].name;
}

}  // namespace callgate::client
