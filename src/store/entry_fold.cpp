#include "store/entry_fold.h"

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
    if (const auto here = begun.find(outcome.id); here != begun.end()) {
      writes[here->second].outcome = &outcome;
      begun.erase(here);
      continue;
    }
    writes.push_back({.outcome = &outcome});
    if (const auto earlier = open_.find(outcome.id); earlier != open_.end()) {
      writes.back().key = earlier->second;
      open_.erase(earlier);
    }
  }
  for (const auto& [id, index] : begun) {
    if (open_.size() < kMostOpen) open_.emplace(id, writes[index].key);
  }
  return writes;
}

}  // namespace callgate::store
