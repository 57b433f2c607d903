// Notices a model that goes in circles: the same call with the same arguments, the same result again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "callgate/loop.h"

namespace callgate::loop {

class Repeats {
 public:
  // How often this call was made, this time included. Arguments count as the same when they mean the same.
  std::uint32_t add_call(std::string_view name, std::string_view arguments);
  std::uint32_t add_result(std::string_view name, std::string_view text);

  void load(const State& state);
  void save(State& state) const;

 private:
  std::unordered_map<std::string, std::uint32_t> calls_;    // by digest
  std::unordered_map<std::string, std::uint32_t> results_;  // by digest
};

}  // namespace callgate::loop
