#include "room/room.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "json/reader.h"
#include "json/writer.h"
#include "net/websocket_codec.h"
#include "room/rooms.h"
#include "turn/turn_job.h"

namespace callgate::server {
namespace {

using Kind = RoomFrame::Kind;

std::string member_of(const RoomFrame& frame, std::string_view name) {
  std::string value;
  json::Reader in(frame.json());
  for (std::string_view key; in.next_member(key);) {
    if (key == name) {
      value = in.string();
    } else {
      in.skip();
    }
  }
  return value;
}

std::string sentence_members(std::string_view stream, const std::vector<std::string>& sentences) {
  std::string joined;
  for (const std::string& sentence : sentences) joined += sentence;
  std::string members = "\"stream\":";
  json::append_string(members, stream);
  json::append_string(members.append(",\"delta\":"), joined);
  members += ",\"sentences\":[";
  for (const std::string& sentence : sentences) {
    if (members.back() != '[') members += ',';
    json::append_string(members, sentence);
  }
  return members += ']';
}

}  // namespace

RoomAsk::RoomAsk(std::string id_in, RawJson content_in, std::unique_ptr<LoopWork> work_in)
    : id(std::move(id_in)), content(std::move(content_in)), work(std::move(work_in)) {}
RoomAsk::RoomAsk(RoomAsk&&) noexcept = default;
RoomAsk& RoomAsk::operator=(RoomAsk&&) noexcept = default;
RoomAsk::~RoomAsk() = default;

Room::Room(std::string name, const RoomsConfig& limits, std::uint64_t first_seq,
           RoomCounters& counters)
    : name_(std::move(name)),
      limits_(limits),
      counters_(counters),
      seq_(first_seq),
      kept_from_(first_seq),
      memory_(counters.memory, MemoryUse::copy),
      empty_since_(std::chrono::steady_clock::now()) {}

bool Room::join(const std::shared_ptr<RoomSubscriber>& subscriber,
                std::optional<std::uint64_t> last_seq) {
  const std::lock_guard lock(mutex_);
  const bool full = subscribers_.size() >= static_cast<std::size_t>(limits_.max_subscribers);
  if (full && !subscriber->relay) return false;
  subscribers_.push_back(subscriber);
  if (!subscriber->relay) counters_.subscribers.fetch_add(1, std::memory_order_relaxed);
  if (subscriber->sentences && live_) live_->sentences.turn_on(live_->text);
  subscriber->joined_with = SIZE_MAX;
  const bool resumed = last_seq && resume(subscriber, *last_seq);
  if (!resumed) put(subscriber, snapshot(*subscriber));
  subscriber->joined_with = subscriber->outbox_bytes;
  return true;
}

void Room::leave(const RoomSubscriber& subscriber) {
  const std::lock_guard lock(mutex_);
  const auto gone =
      std::erase_if(subscribers_, [&](const auto& s) { return s.get() == &subscriber; });
  if (!subscriber.relay) {
    counters_.subscribers.fetch_sub(static_cast<std::int64_t>(gone), std::memory_order_relaxed);
  }
  if (subscribers_.empty()) empty_since_ = std::chrono::steady_clock::now();
}

Room::Sight Room::look() const {
  const std::lock_guard lock(mutex_);
  const auto relays = std::count_if(subscribers_.begin(), subscribers_.end(),
                                    [](const auto& subscriber) { return subscriber->relay; });
  Sight sight{.subscribers = subscribers_.size() - static_cast<std::size_t>(relays),
              .messages = said_.size(),
              .queued = queue_.size(),
              .loop = {},
              .model = {}};
  if (live_) sight.loop = live_->about.loop;
  if (live_) sight.model = live_->about.model;
  return sight;
}

std::optional<std::chrono::steady_clock::time_point> Room::empty_since() const {
  const std::lock_guard lock(mutex_);
  if (!subscribers_.empty() || running_) return std::nullopt;
  return empty_since_;
}

void Room::close_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& subscriber : subscribers_) {
    if (subscriber->state != RoomSubscriber::State::open) continue;
    subscriber->state = RoomSubscriber::State::going_away;
    wake(subscriber);
  }
}

Room::Mail Room::take(RoomSubscriber& subscriber, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  Mail mail;
  std::size_t taken = 0;
  std::size_t cost = 0;
  while (!subscriber.outbox.empty() && taken < bytes) {
    mail.frames.push_back(std::move(subscriber.outbox.front()));
    subscriber.outbox.pop_front();
    taken += mail.frames.back()->plain.size();
    cost += cost_of(*mail.frames.back());
  }
  if (!mail.frames.empty()) subscriber.progress_at = std::chrono::steady_clock::now();
  subscriber.outbox_bytes -= cost;
  subscriber.joined_with -= std::min(subscriber.joined_with, cost);
  if (mail.frames.empty()) {
    subscriber.woken = false;
    mail.state = subscriber.state;
  }
  return mail;
}

RoomSubscriber::State Room::state_of(const RoomSubscriber& subscriber) const {
  const std::lock_guard lock(mutex_);
  return subscriber.state;
}

void Room::tell(const std::shared_ptr<RoomSubscriber>& subscriber, std::string_view json) {
  auto frame = std::make_shared<RoomFrame>();
  net::append_frame(frame->plain, net::Opcode::text, json);
  frame->json_size = json.size();
  const std::lock_guard lock(mutex_);
  put(subscriber, frame);
}

// One long frame, with what comes beside it, does not mean that a subscriber is slow.
std::size_t Room::cost_of(const RoomFrame& frame) const {
  return std::min(frame.plain.size(), std::max<std::size_t>(1, limits_.backlog.count / 2));
}

// A burst may be faster than any reader, on a busy machine for seconds: only one that takes nothing for long is slow, and one
// that the room could not hold frames for.
bool Room::is_too_slow(const RoomSubscriber& subscriber, std::size_t waiting) const {
  constexpr std::uint64_t kBurst = 16;
  if (waiting <= subscriber.joined_with) return false;
  const std::uint64_t backlog = waiting - subscriber.joined_with;
  if (backlog <= limits_.backlog.count) return false;
  if (backlog / kBurst > limits_.backlog.count) return true;
  return std::chrono::steady_clock::now() - subscriber.progress_at >= limits_.stall_timeout;
}

// A subscriber that does not keep up loses what waits for it; that is how the others do not wait for it.
void Room::put(const std::shared_ptr<RoomSubscriber>& subscriber, const RoomFramePtr& frame) {
  if (subscriber->state != RoomSubscriber::State::open) return;
  const std::size_t cost = cost_of(*frame);
  if (subscriber->outbox.empty()) subscriber->progress_at = std::chrono::steady_clock::now();
  if (is_too_slow(*subscriber, subscriber->outbox_bytes + cost)) {
    subscriber->state = RoomSubscriber::State::too_slow;
    subscriber->outbox.clear();
    subscriber->outbox_bytes = 0;
    counters_.dropped.fetch_add(1, std::memory_order_relaxed);
    return wake(subscriber);
  }
  subscriber->outbox_bytes += cost;
  subscriber->outbox.push_back(frame);
  counters_.frames.fetch_add(1, std::memory_order_relaxed);
  if (!subscriber->woken) wake(subscriber);
}

void Room::wake(const std::shared_ptr<RoomSubscriber>& subscriber) {
  subscriber->woken = true;
  subscriber->loop.post([subscriber] {
    if (subscriber->wake) subscriber->wake();
  });
}

RoomFramePtr Room::make_frame(Kind kind, std::string_view type, std::string_view members,
                              std::uint64_t seq) const {
  std::string& json = json_;
  json.assign("{\"type\":\"").append(type).append("\",\"seq\":");
  json::append_integer(json, static_cast<std::int64_t>(seq));
  if (!members.empty()) json.append(",").append(members);
  json.append("}");
  return make_frame(kind, seq, json);
}

RoomFramePtr Room::make_frame(Kind kind, std::uint64_t seq, std::string_view json) const {
  auto frame = std::make_shared<RoomFrame>();
  frame->seq = seq;
  frame->kind = kind;
  frame->json_size = json.size();
  net::append_frame(frame->plain, net::Opcode::text, json);
  const bool deflate = std::any_of(subscribers_.begin(), subscribers_.end(),
                                   [](const auto& subscriber) { return subscriber->deflates; });
  if (deflate) net::append_deflated_frame(frame->deflated, net::Opcode::text, json);
  return frame;
}

RoomFramePtr Room::publish(Kind kind, std::string_view type, std::string_view members) {
  const RoomFramePtr frame = make_frame(kind, type, members, ++seq_);
  keep(frame);
  return frame;
}

void Room::keep(const RoomFramePtr& frame) {
  const Kind kind = frame->kind;
  bytes_ += frame->json_size;
  history_.push_back(frame);
  history_bytes_ += frame->plain.size() + frame->deflated.size();
  while (history_.size() > static_cast<std::size_t>(limits_.history_frames) ||
         (history_bytes_ > limits_.history_bytes.count && !history_.empty())) {
    history_bytes_ -= history_.front()->plain.size() + history_.front()->deflated.size();
    kept_from_ = history_.front()->seq;
    history_.pop_front();
  }
  reserve();
  hand_out(frame, kind != Kind::text && kind != Kind::text_end);
}

void Room::reserve() {
  const std::size_t said = said_bytes_ + (live_ ? live_->text.size() + live_->thinking.size() : 0);
  if (memory_.fit(said + history_bytes_)) return;
  history_.clear();
  history_bytes_ = 0;
  kept_from_ = seq_;
  (void)memory_.fit(said);
}

void Room::hand_out(const RoomFramePtr& frame, bool to_sentences) {
  for (const auto& subscriber : subscribers_) {
    if (to_sentences || !subscriber->sentences) put(subscriber, frame);
  }
}

// Sentences have the number of the frame that made them sure.
void Room::hand_out_sentences(std::uint64_t seq, const std::vector<std::string>& sentences,
                              const RoomFramePtr& otherwise) {
  if (!wants_sentences()) return;
  RoomFramePtr frame = otherwise;
  if (!sentences.empty()) {
    frame = make_frame(Kind::text, "stream_chunk",
                       sentence_members(live_ ? live_->about.stream : "", sentences), seq);
  }
  if (frame == nullptr) return;
  for (const auto& subscriber : subscribers_) {
    if (subscriber->sentences) put(subscriber, frame);
  }
}

bool Room::wants_sentences() const {
  return std::any_of(subscribers_.begin(), subscribers_.end(),
                     [](const auto& subscriber) { return subscriber->sentences; });
}

// The frames after `last_seq`, if all of them are kept.
bool Room::resume(const std::shared_ptr<RoomSubscriber>& subscriber, std::uint64_t last_seq) {
  if (last_seq > seq_ || last_seq < kept_from_) return false;
  if (subscriber->sentences) return resume_sentences(subscriber, last_seq);
  auto frame =
      std::upper_bound(history_.begin(), history_.end(), last_seq,
                       [](std::uint64_t seq, const RoomFramePtr& kept) { return seq < kept->seq; });
  for (; frame != history_.end(); ++frame) put(subscriber, *frame);
  return true;
}

// Where the text was cut makes no difference to sentences, so they are found again in what is kept. That needs the
// beginning of the turn.
bool Room::resume_sentences(const std::shared_ptr<RoomSubscriber>& subscriber,
                            std::uint64_t last_seq) {
  std::vector<RoomFramePtr> frames;
  std::optional<policy::SentenceSplitter> splitter;
  std::string stream;
  for (const RoomFramePtr& frame : history_) {
    const bool is_new = frame->seq > last_seq;
    if (frame->kind == Kind::stream_start) {
      splitter.emplace();
      stream = member_of(*frame, "stream");
    }
    if (frame->kind != Kind::text && frame->kind != Kind::text_end) {
      if (is_new) frames.push_back(frame);
      continue;
    }
    if (!splitter && is_new) return false;
    if (!splitter) continue;
    std::vector<std::string> out;
    const auto add = [&](std::string_view sentence) { out.emplace_back(sentence); };
    if (frame->kind == Kind::text) {
      splitter->push(member_of(*frame, "delta"), add);
    } else {
      splitter->flush(add);
    }
    if (!is_new) continue;
    if (!out.empty()) {
      frames.push_back(
          make_frame(Kind::text, "stream_chunk", sentence_members(stream, out), frame->seq));
    } else if (frame->kind == Kind::text_end) {
      frames.push_back(frame);
    }
  }
  for (const RoomFramePtr& frame : frames) put(subscriber, frame);
  return true;
}

}  // namespace callgate::server
