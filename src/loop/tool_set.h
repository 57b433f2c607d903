// The tools of one loop: whose they are, which of them the caller may use, and which the model is shown. In a big
// catalogue the model sees `find_tools` and what it found with it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "callgate/loop.h"
#include "loop/evicted_results.h"

namespace callgate::loop {

inline constexpr std::string_view kFindTools = "find_tools";

enum class ToolOwner : std::uint8_t {
  client,
  callgate,
  read_result,  // answered by the loop itself, as the next
  find_tools,
  denied,  // callgate's, but not for this caller
  unknown,
};

class ToolSet {
 public:
  // What the client declares is the client's, also where callgate has a tool of that name.
  ToolSet(const Request& request, std::vector<Tool> tools, const Options& options);

  ToolOwner owner_of(std::string_view name, bool has_evicted) const;
  // REQUIRES: owner_of(name) is callgate.
  const Tool& tool(std::string_view name) const;
  // Callgate's tools that the model is shown now, in an order that never changes, the built-in ones last.
  std::vector<ToolSpec> shown(bool has_evicted) const;
  // The model may call it from now on, whether it searched for it or not.
  void show(std::string_view name);
  // The answer to a call of find_tools; shows what was found.
  ToolResult find(std::string_view arguments);
  // For a model that called something else: the first of those that it is shown.
  std::string names(bool has_evicted) const;

  void load(const State& state);
  void save(State& state) const;

 private:
  struct Entry {
    Tool tool;
    std::unordered_map<std::string, double> words;  // their weight in this tool
    bool shown = false;
    bool found = false;
  };

  bool allows(const Options& options, std::string_view name) const;
  bool shows_read_result(bool has_evicted) const;
  void index();
  std::vector<std::size_t> search(std::string_view query, std::size_t limit) const;

  std::unordered_set<std::string> client_;
  std::unordered_set<std::string> denied_;
  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::unordered_map<std::string, std::uint32_t> tools_with_;  // a word
  std::uint32_t find_limit_;
  bool searched_ = false;  // the catalogue is too big to be shown
};

}  // namespace callgate::loop
