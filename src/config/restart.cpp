#include "config/restart.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <tuple>

#include "config/config_fields.h"

namespace callgate::server {
namespace {

// Adds the keys of a table whose values differ, but for those that are `taken_up` by a reload.
template <class T>
void add_changes(const T& running, const T& wanted,
                 std::initializer_list<std::string_view> taken_up,
                 std::vector<std::string>& changes) {
  const auto add = [&](const auto& field) {
    if (running.*field.member == wanted.*field.member) return;
    if (std::find(taken_up.begin(), taken_up.end(), field.key) != taken_up.end()) return;
    changes.push_back(std::string(Section<T>::name) + "." + std::string(field.key));
  };
  std::apply([&](const auto&... field) { (add(field), ...); }, Section<T>::fields);
}

}  // namespace

std::vector<std::string> changes_for_restart(const Config& running, const Config& wanted) {
  std::vector<std::string> changes;
  if (running.listen != wanted.listen) changes.emplace_back("listen");
  if (running.threads != wanted.threads) changes.emplace_back("threads");
  if (running.tls.cert.empty() != wanted.tls.cert.empty()) changes.emplace_back("tls");
  add_changes(running.log, wanted.log, {"level"}, changes);
  add_changes(running.store, wanted.store, {"content", "overflow", "block_for"}, changes);
  add_changes(running.otlp, wanted.otlp, {}, changes);
  if (running.rooms.advertise != wanted.rooms.advertise) changes.emplace_back("rooms.advertise");
  return changes;
}

}  // namespace callgate::server
