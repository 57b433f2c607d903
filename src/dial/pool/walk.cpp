#include "dial/pool/walk.h"

#include <algorithm>
#include <utility>

namespace callgate::server {
namespace {

constexpr std::uint64_t kLongestNamedPause = 10'000;
constexpr std::int64_t kMostBackoffDoublings = 6;
constexpr std::size_t kNamedFailures = 8;

// What is said of a failure beside another one.
std::string brief(const Error& error) {
  if (error.status != 0) return std::to_string(error.status);
  switch (error.code) {
    case ErrorCode::timed_out:
      return "timed out";
    case ErrorCode::rate_limited:
      return "at its limit";
    default:
      return error.upstream_code.empty() ? "failed" : error.upstream_code;
  }
}

}  // namespace

PoolWalk::PoolWalk(std::vector<PoolPlace> places, const Options& options)
    : places_(std::move(places)), options_(options), records_(places_.size()) {}

PoolWalk::Step PoolWalk::ask(std::size_t place) {
  current_ = place;
  ++tries_;
  records_[place].asked = true;
  return Ask{place};
}

PoolWalk::Step PoolWalk::next(std::span<const PlaceView> views, std::uint64_t now,
                              PoolChance& chance) {
  if (stopped_ || (options_.deadline != 0 && now >= options_.deadline)) return Stop{};
  if (std::exchange(again_, false)) return ask(current_);
  if (after_pause_) return ask(*std::exchange(after_pause_, std::nullopt));
  if (const auto ready = best_ready(views, now, chance)) return ask(*ready);
  if (const auto line = best_queue(views, now)) {
    (void)ask(*line);
    return Queue{*line};
  }
  if (const auto out = best_out(views, now)) return ask(*out);
  return wait_or_repeat(views, now, chance);
}

std::uint64_t PoolWalk::free_at(std::size_t place, std::span<const PlaceView> views) const {
  return std::max(views[place].free_at, records_[place].not_before);
}

std::optional<std::size_t> PoolWalk::best_ready(std::span<const PlaceView> views, std::uint64_t now,
                                                PoolChance& chance) {
  std::optional<std::size_t> first;  // of the best priority
  std::vector<std::size_t> group;    // all of them, where there are several
  std::optional<std::size_t> trial;
  const auto is_before = [&](std::size_t place, std::size_t other) {
    return places_[place].priority < places_[other].priority;
  };
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const PlaceView& view = views[i];
    if (!is_open(i) || view.full || free_at(i, views) > now) continue;
    if (view.out && view.due && (!trial || is_before(i, *trial))) trial = i;
    if (view.out || i == skipped_) continue;
    if (!first || is_before(i, *first)) {
      first = i;
      group.clear();
    } else if (places_[i].priority == places_[*first].priority) {
      if (group.empty()) group.push_back(*first);
      group.push_back(i);
    }
  }
  // Somebody has to notice that it is well again. This request goes on elsewhere if it is not.
  if (trial && (!first || !is_before(*first, *trial))) return trial;
  if (!first) return std::exchange(skipped_, std::nullopt);
  const std::size_t best = group.empty() ? *first : choose_among(group, views, chance);
  if (options_.skip_first && tries_ == 0 && !skipped_) {
    skipped_ = best;
    return best_ready(views, now, chance);
  }
  return best;
}

std::size_t PoolWalk::choose_among(const std::vector<std::size_t>& group,
                                   std::span<const PlaceView> views, PoolChance& chance) const {
  std::vector<Candidate> candidates;
  for (const std::size_t place : group) {
    candidates.push_back({.place = place,
                          .weight = places_[place].weight,
                          .in_flight = views[place].in_flight,
                          .first_token = views[place].first_token,
                          .name = hash_of(places_[place].upstream)});
  }
  return group[choose(options_.balance, candidates, options_.affinity, chance.rotation(),
                      places_.size(), chance.random())];
}

std::optional<std::size_t> PoolWalk::best_queue(std::span<const PlaceView> views,
                                                std::uint64_t now) const {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const bool fits = is_open(i) && views[i].full && !views[i].queue_full && !views[i].out &&
                      free_at(i, views) <= now;
    if (fits && (!best || places_[i].priority < places_[*best].priority)) best = i;
  }
  return best;
}

std::optional<std::size_t> PoolWalk::best_out(std::span<const PlaceView> views,
                                              std::uint64_t now) const {
  std::optional<std::size_t> best;
  const auto is_better = [&](std::size_t place, std::size_t other) {
    if (views[place].trouble != views[other].trouble) {
      return views[place].trouble < views[other].trouble;
    }
    return places_[place].priority < places_[other].priority;
  };
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const bool fits = is_open(i) && views[i].out && !views[i].full && free_at(i, views) <= now;
    if (fits && (!best || is_better(i, *best))) best = i;
  }
  return best;
}

// Nobody can be asked now. A limit may end soon, or a failure pass.
PoolWalk::Step PoolWalk::wait_or_repeat(std::span<const PlaceView> views, std::uint64_t now,
                                        PoolChance& chance) {
  std::uint64_t soonest = 0;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (!is_open(i) || (views[i].full && views[i].queue_full)) continue;
    const std::uint64_t at = free_at(i, views);
    if (soonest != 0 && at >= soonest) continue;
    soonest = at;
    limit_ = ": upstream \"" + places_[i].upstream + "\": " + views[i].limit;
  }
  soonest_ = soonest;
  const auto fits = [&](std::uint64_t pause) {
    return pause <= kLongestNamedPause &&
           (options_.deadline == 0 || now + pause < options_.deadline);
  };
  const auto repeat = repeats_ < options_.retries ? best_repeat(views) : std::nullopt;
  if (soonest > now && fits(soonest - now) && !repeat) {
    return Pause{Milliseconds(static_cast<std::int64_t>(soonest - now))};
  }
  if (!repeat) return Stop{};
  const std::uint64_t due = free_at(*repeat, views);
  std::uint64_t pause = static_cast<std::uint64_t>(backoff(chance.random()).count());
  if (due > now) pause = std::max(pause, due - now);
  if (!fits(pause)) return Stop{};
  if (!chance.take_repeat()) {
    budget_was_empty_ = true;
    return Stop{};
  }
  ++repeats_;
  after_pause_ = repeat;
  return Pause{Milliseconds(static_cast<std::int64_t>(pause))};
}

// The one that may be asked first; of several the next in the list that is well.
std::optional<std::size_t> PoolWalk::best_repeat(std::span<const PlaceView> views) const {
  std::optional<std::size_t> best;
  for (std::size_t i = 1; i <= places_.size(); ++i) {
    const std::size_t at = (current_ + i) % places_.size();
    if (!records_[at].asked || records_[at].hopeless || views[at].queue_full) continue;
    if (!best) {
      best = at;
      continue;
    }
    const std::uint64_t mine = free_at(at, views);
    const std::uint64_t others = free_at(*best, views);
    if (mine < others || (mine == others && !views[at].out && views[*best].out)) best = at;
  }
  return best;
}

Milliseconds PoolWalk::backoff(std::uint64_t random) const {
  const Milliseconds base =
      options_.backoff * (std::int64_t{1} << std::min(repeats_, kMostBackoffDoublings));
  const auto spread = static_cast<std::uint64_t>(base.count() + 1);
  return base / 2 + Milliseconds(static_cast<std::int64_t>(random % spread));
}

void PoolWalk::failed(const Failure& failure, std::uint64_t now) {
  Remedy remedy = remedy_for(failure.error);
  if (!failure.asked) remedy = Remedy::elsewhere;
  stopped_ = remedy == Remedy::none;
  Record& record = records_[current_];
  record.hopeless = remedy != Remedy::later;
  record.error = std::make_unique<Error>(failure.error);
  if (const auto wait = named_pause(failure.error)) {
    record.not_before = now + static_cast<std::uint64_t>(wait->count());
  }
}

Error PoolWalk::error(std::uint64_t now) const {
  const Record* best = nullptr;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    // The last one is the freshest.
    const Record& record = records_[(current_ + i) % records_.size()];
    if (!record.error) continue;
    if (best == nullptr || usefulness(*record.error) > usefulness(*best->error)) best = &record;
  }
  if (best == nullptr) {
    Error limited{.code = ErrorCode::rate_limited,
                  .message = "all upstreams of this model are at their limits" + limit_,
                  .upstream_code = "upstream_limit"};
    const std::uint64_t wait = soonest_ > now ? soonest_ - now : 1'000;
    limited.retry_after = std::to_string((wait + 999) / 1000);
    return limited;
  }
  Error error = *best->error;
  if (remedy_for(error) == Remedy::none) return error;
  std::string others;
  std::size_t named = 0;
  for (std::size_t i = 0; i < records_.size() && named < kNamedFailures; ++i) {
    if (!records_[i].error || &records_[i] == best) continue;
    others += (named++ == 0 ? "; also asked: \"" : ", \"") + places_[i].upstream + "\" (" +
              brief(*records_[i].error) + ")";
  }
  error.message += others;
  return error;
}

}  // namespace callgate::server
