#include "dial/pool/board.h"

#include <algorithm>
#include <utility>

namespace callgate::server {

PoolTicket::PoolTicket(PoolTicket&& other) noexcept
    : board_(std::exchange(other.board_, nullptr)),
      lane_(std::move(other.lane_)),
      attempt_(other.attempt_) {}

PoolTicket& PoolTicket::operator=(PoolTicket&& other) noexcept {
  if (this == &other) return *this;
  abandon();
  board_ = std::exchange(other.board_, nullptr);
  lane_ = std::move(other.lane_);
  attempt_ = other.attempt_;
  return *this;
}

void PoolTicket::heard(std::uint64_t now) {
  if (board_ == nullptr || attempt_.heard) return;
  std::unique_lock lock(board_->mutex_);
  board_->note(*lane_, lane_->heard(attempt_, now, board_->mint_.next()), now);
  board_->settle(lock);
}

void PoolTicket::succeeded(std::optional<std::int64_t> tokens, std::uint64_t now) {
  Board* board = std::exchange(board_, nullptr);
  if (board == nullptr) return;
  std::unique_lock lock(board->mutex_);
  board->note(*lane_, lane_->succeeded(attempt_, tokens, now), now);
  board->admit(*lane_, now);
  board->settle(lock);
}

void PoolTicket::failed(const Error& error, std::uint64_t now) {
  Board* board = std::exchange(board_, nullptr);
  if (board == nullptr) return;
  std::unique_lock lock(board->mutex_);
  board->note(*lane_, lane_->failed(attempt_, error, now, board->mint_.next()), now);
  board->admit(*lane_, now);
  board->settle(lock);
}

void PoolTicket::abandon() {
  Board* board = std::exchange(board_, nullptr);
  if (board == nullptr) return;
  std::unique_lock lock(board->mutex_);
  lane_->abandoned(attempt_, board->now_);
  board->admit(*lane_, board->now_);
  board->settle(lock);
}

PoolWait::~PoolWait() {
  (void)take();  // room that came too late goes back
  const std::lock_guard lock(board_.mutex_);
  lane_->leave_line(*waiting_);
}

PoolTicket PoolWait::take() {
  const std::lock_guard lock(board_.mutex_);
  if (!waiting_->room) return {};
  return PoolTicket(board_, lane_, *std::exchange(waiting_->room, std::nullopt));
}

// What the walk of one request may use, under the lock.
class Board::Chance final : public PoolChance {
 public:
  Chance(Board& board, std::string_view model, std::uint64_t now)
      : board_(board), model_(model), now_(now) {}
  Rotation& rotation() override { return board_.rotations_[std::string(model_)]; }
  std::uint64_t random() override { return board_.mint_.next(); }
  bool take_repeat() override { return board_.budget_.take(now_); }

 private:
  Board& board_;
  std::string_view model_;
  std::uint64_t now_;
};

void Board::use(const std::vector<UpstreamConfig>& upstreams, std::int64_t retry_percent,
                std::uint64_t now) {
  const std::lock_guard lock(mutex_);
  budget_.set_percent(retry_percent);
  std::map<std::string, std::shared_ptr<Lane>, std::less<>> next;
  for (const UpstreamConfig& upstream : upstreams) {
    std::shared_ptr<Lane> known = lane(upstream.name, now);
    if (!(known->config() == upstream)) known->use(upstream, now);
    next.emplace(upstream.name, std::move(known));
  }
  lanes_ = std::move(next);
}

std::shared_ptr<Lane> Board::lane(const std::string& upstream, std::uint64_t now) {
  now_ = std::max(now_, now);
  std::shared_ptr<Lane>& lane = lanes_[upstream];
  if (lane == nullptr) {
    lane = std::make_shared<Lane>();
    UpstreamConfig config;
    config.name = upstream;
    lane->use(config, now);
  }
  return lane;
}

// What its peers of the same priority that are well make of a first token. 0: they make nothing of it.
std::uint64_t Board::slow_after(const PoolWalk& walk, std::size_t place) const {
  std::optional<std::uint64_t> least;
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    const Lane& peer = *seen_[i].lane;
    const bool counts = i != place && peer.first_tokens().least() && !peer.breaker().is_open() &&
                        walk.places()[i].priority == walk.places()[place].priority;
    if (!counts) continue;
    const std::uint64_t its = *peer.first_tokens().least();
    least = std::min(least.value_or(its), its);
  }
  const std::int64_t factor = seen_[place].lane->config().slow_factor;
  return least && factor > 0 ? slow_limit(*least, factor) : 0;
}

void Board::look(const PoolWalk& walk, std::uint64_t now) {
  seen_.clear();
  for (const PoolPlace& place : walk.places()) seen_.push_back({lane(place.upstream, now), 0});
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    Lane& lane = *seen_[i].lane;
    const std::uint64_t limit = slow_after(walk, i);
    seen_[i].slow_after = limit;
    note(lane, lane.look_at_waits(limit, now, mint_.next()), now);
    if (lane.is_slower_than(limit)) note(lane, lane.eject_slow(limit, now, mint_.next()), now);
  }
}

void Board::view(const Question& question, std::uint64_t now) {
  views_.clear();
  for (const Seen& seen : seen_) {
    Lane& lane = *seen.lane;
    const Breaker& breaker = lane.breaker();
    const std::uint64_t free_at = lane.free_at(question.tokens, now);
    const bool limited = free_at > now || lane.is_full();
    views_.push_back({.out = breaker.is_open(),
                      .due = lane.may_be_tried(now) && lane.tries_in_earnest(),
                      .trouble = breaker.trouble(),
                      .free_at = free_at,
                      .limit = limited ? lane.limit_reason(now) : std::string(),
                      .full = lane.is_full(),
                      .queue_full = lane.is_full() && lane.is_queue_full(),
                      .in_flight = lane.in_flight(),
                      .first_token = lane.first_tokens().average()});
  }
}

Board::Answer Board::next(PoolWalk& walk, const Question& question, std::uint64_t now) {
  std::unique_lock lock(mutex_);
  const bool fresh = walk.tries() == 0;
  if (fresh) budget_.add_request();
  look(walk, now);
  view(question, now);
  Chance chance(*this, question.model, now);
  Answer answer{walk.next(views_, now, chance), {}, std::nullopt};
  if (const auto* ask = std::get_if<PoolWalk::Ask>(&answer.step)) {
    const Seen& seen = seen_[ask->place];
    const bool trial = seen.lane->may_be_tried(now);
    answer.ticket =
        PoolTicket(*this, seen.lane,
                   seen.lane->begin(question.stream, trial, question.tokens, seen.slow_after, now));
    const bool well = !seen.lane->breaker().is_open();
    if (fresh && well && question.may_copy) answer.copy = copy_of(question, now);
  }
  seen_.clear();  // the lanes may go
  settle(lock);
  return answer;
}

std::optional<Board::Copy> Board::copy_of(const Question& question, std::uint64_t now) {
  for (const Seen& seen : seen_) {
    Lane& lane = *seen.lane;
    if (!lane.may_be_tried(now) || lane.tries_in_earnest() || lane.is_full()) continue;
    if (lane.free_at(question.tokens, now) > now) continue;
    Copy copy;
    copy.upstream = lane.config().name;
    copy.patience = lane.trial_patience();
    copy.whole = lane.breaker().trouble() == Trouble::cut;
    copy.ticket =
        PoolTicket(*this, seen.lane, lane.begin(question.stream, true, question.tokens, 0, now));
    return copy;
  }
  return std::nullopt;
}

std::unique_ptr<PoolWait> Board::join_line(const std::string& upstream, const Question& question,
                                           std::function<void()> wake, std::uint64_t now) {
  std::unique_lock lock(mutex_);
  std::shared_ptr<Lane> known = lane(upstream, now);
  auto waiting = std::make_shared<Lane::Waiting>();
  waiting->stream = question.stream;
  waiting->tokens = question.tokens;
  waiting->wake = std::move(wake);
  known->join_line(waiting);
  admit(*known, now);
  auto wait = std::make_unique<PoolWait>(*this, std::move(known), std::move(waiting));
  settle(lock);
  return wait;
}

void Board::checked(const std::string& upstream, bool well, std::string reason, std::uint64_t now) {
  std::unique_lock lock(mutex_);
  Lane& known = *lane(upstream, now);
  note(known, known.checked(well, std::move(reason), now, mint_.next()), now);
  settle(lock);
}

void Board::note(const Lane& lane, Lane::News news, std::uint64_t now) {
  now_ = std::max(now_, now);
  if (news == Lane::News::none) return;
  const Breaker& breaker = lane.breaker();
  news_.push_back({.upstream = lane.config().name,
                   .what = news,
                   .trouble = breaker.trouble(),
                   .reason = breaker.reason(),
                   .out_ms = news == Lane::News::restored ? breaker.was_out() : 0});
}

void Board::admit(Lane& lane, std::uint64_t now) {
  while (auto admitted = lane.admit_next(now)) admitted_.push_back(std::move(admitted));
}

void Board::settle(std::unique_lock<std::mutex>& lock) {
  const auto news = std::exchange(news_, {});
  const auto admitted = std::exchange(admitted_, {});
  lock.unlock();
  for (const auto& waiting : admitted) waiting->wake();
  if (!listener_) return;
  for (const PoolNews& item : news) listener_(item);
}

UpstreamStatus Board::describe(const std::string& name, Lane& lane, std::uint64_t now) const {
  const Breaker& breaker = lane.breaker();
  UpstreamStatus status;
  status.name = name;
  const std::uint64_t free_at = lane.free_at(1, now);
  if (free_at > now) status.limited_ms = free_at - now;
  status.state = status.limited_ms > 0 || lane.is_full() ? "limited" : "well";
  if (breaker.is_open()) {
    status.state = breaker.state() == Breaker::State::trying ? "trying" : "ejected";
    status.trouble = to_string(breaker.trouble());
    status.for_ms = now - std::min(now, breaker.since());
    status.next_try_ms = breaker.due() > now ? breaker.due() - now : 0;
  }
  if (status.state == "limited") status.reason = lane.limit_reason(now);
  if (breaker.is_open() || breaker.failures() > 0) status.reason = breaker.reason();
  status.failures_in_a_row = breaker.failures();
  status.in_flight = lane.in_flight();
  status.queued = static_cast<std::int64_t>(lane.queued());
  status.requests = lane.requests();
  status.failures = lane.failures();
  status.first_token_ms = lane.first_tokens().average();
  return status;
}

std::vector<UpstreamStatus> Board::status(std::uint64_t now) const {
  const std::lock_guard lock(mutex_);
  std::vector<UpstreamStatus> all;
  for (const auto& [name, lane] : lanes_) all.push_back(describe(name, *lane, now));
  return all;
}

}  // namespace callgate::server
