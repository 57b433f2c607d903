#include "session/conversations.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace callgate::server {
namespace {

constexpr std::size_t kMaxAlike = 64;  // answers with the same words

std::uint64_t steady_ms() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

std::string place_of(const KeptAnswer& kept) { return kept.chat + '\n' + kept.parent; }

std::size_t size_of(const CanonicalAnswer& answer) {
  return answer.text.size() + answer.calls.size();
}

}  // namespace

std::size_t MemoryConversations::IdentityHash::operator()(const Identity& identity) const {
  std::size_t hash = 0;
  std::memcpy(&hash, identity.data(), sizeof hash);
  return hash;
}

MemoryConversations::MemoryConversations(ConversationLimits limits, Clock now_ms)
    : limits_(limits), now_ms_(now_ms ? std::move(now_ms) : Clock(steady_ms)) {}

void MemoryConversations::set_limits(ConversationLimits limits) {
  const std::lock_guard lock(mutex_);
  limits_ = limits;
  trim();
}

std::size_t MemoryConversations::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

std::optional<FoundAnswer> MemoryConversations::find(const ConversationIdentity& who,
                                                     std::string_view session) {
  if (who.answered == 0) return std::nullopt;
  const std::lock_guard lock(mutex_);
  trim();
  const auto rank = [&](const Entry& entry) {
    return (!session.empty() && entry.kept.session == session ? 2 : 0) + (entry.continued ? 0 : 1);
  };
  const auto best = [&](const Identity& key, auto fits) {
    Entries::iterator chosen = entries_.end();
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return chosen;
    for (const Entries::iterator entry : found->second) {
      if (!fits(*entry)) continue;
      if (chosen == entries_.end() || rank(*entry) >= rank(*chosen)) chosen = entry;
    }
    return chosen;
  };
  Entries::iterator entry =
      best(who.answer, [](const Entry& each) { return !each.cut && !each.running; });
  if (entry == entries_.end()) {
    entry = best(who.before, [&](const Entry& each) {
      return each.running || (each.cut && each.answer.begins_with(who.last));
    });
  }
  if (entry == entries_.end()) return std::nullopt;
  touch(entry);
  return FoundAnswer{entry->kept, entry->continued, entry->running};
}

std::optional<FoundAnswer> MemoryConversations::find_opening(const Identity& opening) {
  const std::lock_guard lock(mutex_);
  trim();
  const auto found = by_opening_.find(opening);
  if (found == by_opening_.end()) return std::nullopt;
  const Entry& entry = *found->second;
  return FoundAnswer{entry.kept, entry.continued, entry.running};
}

std::optional<std::string> MemoryConversations::find_name(std::string_view session) {
  const std::lock_guard lock(mutex_);
  const auto found = by_session_.find(std::string(session));
  if (found == by_session_.end()) return std::nullopt;
  return found->second.back()->kept.name;
}

void MemoryConversations::begin(const ConversationIdentity& who, KeptAnswer kept) {
  add({.key = who.whole, .running = true, .kept = std::move(kept)});
}

void MemoryConversations::drop(const KeptAnswer& kept) {
  const std::lock_guard lock(mutex_);
  const auto known = by_place_.find(place_of(kept));
  if (known != by_place_.end()) erase(known->second);
}

void MemoryConversations::remember(const ConversationIdentity& who, CanonicalAnswer answer,
                                   bool cut, KeptAnswer kept) {
  if (cut && size_of(answer) > kMaxCutBytes) return drop(kept);
  const Identity key = cut ? who.whole : follow(who.whole, answer);
  const Identity opening = opening_of(who, answer);
  if (!cut) answer = {};
  add({.key = key,
       .cut = cut,
       .answer = std::move(answer),
       .kept = std::move(kept),
       .opening = opening});
}

void MemoryConversations::load(const Identity& key, CanonicalAnswer answer, bool cut,
                               FoundAnswer found) {
  add({.key = key,
       .cut = cut,
       .continued = found.continued,
       .answer = std::move(answer),
       .kept = std::move(found.answer)});
}

// Takes the place of what is known of the same answer.
void MemoryConversations::add(Entry entry) {
  const std::lock_guard lock(mutex_);
  const std::string place = place_of(entry.kept);
  if (const auto known = by_place_.find(place); known != by_place_.end()) erase(known->second);
  if (const auto alike = by_key_.find(entry.key);
      alike != by_key_.end() && alike->second.size() >= kMaxAlike) {
    erase(alike->second.front());
  }
  entry.used_ms = now_ms_();
  cut_bytes_ += size_of(entry.answer);
  entries_.push_front(std::move(entry));
  by_key_[entries_.front().key].push_back(entries_.begin());
  by_place_[place] = entries_.begin();
  if (entries_.front().opening != Identity{}) {
    by_opening_[entries_.front().opening] = entries_.begin();
  }
  if (const std::string& session = entries_.front().kept.session; !session.empty()) {
    by_session_[session].push_back(entries_.begin());
  }
  trim();
}

void MemoryConversations::mark_continued(const KeptAnswer& kept, bool continued) {
  const std::lock_guard lock(mutex_);
  const auto found = by_place_.find(place_of(kept));
  if (found == by_place_.end()) return;
  found->second->continued = continued;
  found->second->kept.version = kept.version;
}

template <class Condition>
void MemoryConversations::erase_if(Condition condition) {
  const std::lock_guard lock(mutex_);
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    if (condition(*entry)) erase(entry);
    entry = next;
  }
}

void MemoryConversations::forget(std::string_view chat) {
  erase_if([&](const Entry& entry) { return entry.kept.chat == chat; });
}

void MemoryConversations::forget_session(std::string_view session) {
  erase_if([&](const Entry& entry) { return entry.kept.session == session; });
}

void MemoryConversations::touch(Entries::iterator entry) {
  entry->used_ms = now_ms_();
  entries_.splice(entries_.begin(), entries_, entry);
}

void MemoryConversations::erase(Entries::iterator entry) {
  const auto alike = by_key_.find(entry->key);
  std::erase(alike->second, entry);
  if (alike->second.empty()) by_key_.erase(alike);
  by_place_.erase(place_of(entry->kept));
  if (const auto opened = by_opening_.find(entry->opening);
      opened != by_opening_.end() && opened->second == entry) {
    by_opening_.erase(opened);
  }
  if (const auto session = by_session_.find(entry->kept.session); session != by_session_.end()) {
    std::erase(session->second, entry);
    if (session->second.empty()) by_session_.erase(session);
  }
  cut_bytes_ -= size_of(entry->answer);
  entries_.erase(entry);
}

void MemoryConversations::trim() {
  const std::uint64_t now = now_ms_();
  while (!entries_.empty()) {
    const Entry& last = entries_.back();
    const bool old = now - last.used_ms > limits_.ttl_ms;
    if (!old && entries_.size() <= limits_.answers && cut_bytes_ <= limits_.bytes) return;
    erase(std::prev(entries_.end()));
  }
}

}  // namespace callgate::server
