// Which models upstreams serve, as they said last. What one said is kept while it is down. Safe for threads.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "upstream/model_list.h"

namespace callgate::server {

class ModelCatalogue {
 public:
  struct Models {
    explicit Models(std::vector<upstream::ServedModel> given) : all(std::move(given)) {
      for (const upstream::ServedModel& model : all) ids.insert(model.id);
    }
    const std::vector<upstream::ServedModel> all;
    std::unordered_set<std::string> ids;
  };
  using List = std::shared_ptr<const Models>;

  // nullptr: it has never said.
  List of(std::string_view upstream) const {
    const std::lock_guard lock(mutex_);
    const auto found = lists_.find(upstream);
    return found == lists_.end() ? nullptr : found->second;
  }
  // True: it is another list than before.
  bool set(const std::string& upstream, std::vector<upstream::ServedModel> models) {
    auto next = std::make_shared<const Models>(std::move(models));
    const std::lock_guard lock(mutex_);
    List& known = lists_[upstream];
    const bool same = known != nullptr && known->all == next->all;
    known = std::move(next);
    return !same;
  }
  // Another server has that name from now on.
  void forget(const std::string& upstream) {
    const std::lock_guard lock(mutex_);
    lists_.erase(upstream);
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, List, std::less<>> lists_;
};

}  // namespace callgate::server
