#include "store/entry_fold.h"

#include <algorithm>
#include <string_view>

namespace callgate::store {
namespace {

// Entries whose complete was lost stay for good; beyond this none is remembered.
constexpr std::size_t kMostOpen = 1'000'000;

}  // namespace

std::vector<Write> EntryFold::fold(const std::vector<Entry>& entries, std::int64_t run) {
  std::vector<Write> writes;
  writes.reserve(entries.size());
  std::unordered_multimap<std::string_view, std::size_t> begun;
  begun.reserve(entries.size());
  for (const Entry& entry : entries) {
    if (const auto* record = std::get_if<RequestRecord>(&entry)) {
      begun.emplace(record->id, writes.size());
      writes.push_back({.record = record, .key = next_key(run, record->received_at)});
      continue;
    }
    const auto& outcome = std::get<RequestOutcome>(entry);
    const auto is_same_key = [&](const auto& each) {
      return writes[each.second].record->key_name == outcome.key_name;
    };
    const auto [first, last] = begun.equal_range(outcome.id);
    if (const auto here = std::find_if(first, last, is_same_key); here != last) {
      writes[here->second].outcome = &outcome;
      begun.erase(here);
      continue;
    }
    writes.push_back({.outcome = &outcome});
    find_earlier(writes.back());
  }
  for (const auto& [id, index] : begun) {
    if (open_.size() >= kMostOpen) break;
    open_.emplace(id, Open{writes[index].record->key_name, writes[index].key});
  }
  return writes;
}

void EntryFold::find_earlier(Write& write) {
  const auto [first, last] = open_.equal_range(write.outcome->id);
  const auto earlier = std::find_if(first, last, [&](const auto& each) {
    return each.second.key_name == write.outcome->key_name;
  });
  if (earlier == last) return;
  write.key = earlier->second.row;
  open_.erase(earlier);
}

}  // namespace callgate::store
