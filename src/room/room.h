// A room: one conversation that several connections follow, and the turn that runs in it. Frames are numbered, kept for
// those who come back, and handed to every subscriber; no subscriber waits for another. Any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_budget.h"
#include "callgate/error.h"
#include "callgate/loop.h"
#include "callgate/request.h"
#include "config/config.h"
#include "room/room_frame.h"
#include "room/room_sentences.h"
#include "room/room_subscriber.h"

namespace callgate::json {
class Reader;
}

namespace callgate::server {

struct LoopWork;
struct RoomCounters;
struct RoomHeritage;
struct RoomSeat;
class RoomBook;

// A message of a user that waits for its turn.
struct RoomAsk {
  RoomAsk(std::string id_in, RawJson content_in, std::unique_ptr<LoopWork> work_in);
  RoomAsk(RoomAsk&&) noexcept;
  RoomAsk& operator=(RoomAsk&&) noexcept;
  ~RoomAsk();

  std::string id;
  RawJson content;
  std::unique_ptr<LoopWork>
      work;  // its request lacks the conversation; nullptr: another gateway has it
};

// What stream_start says.
struct RoomStream {
  std::string stream;
  std::string model;
  std::string loop;
  std::string request;
  std::string reply_to;  // the user's message
};

// What stream_end says beside the message.
struct RoomStreamEnd {
  std::optional<Usage> usage;
  std::optional<Usage> estimate;  // if the upstream stated none
  FinishReason reason = FinishReason::stop;
  std::optional<loop::End> end;
  std::uint32_t rounds = 0;
  std::uint32_t calls = 0;
};

class Room {
 public:
  // Numbers begin after `first_seq`. REQUIRES: the counters outlive the room.
  Room(std::string name, const RoomsConfig& limits, std::uint64_t first_seq,
       RoomCounters& counters);
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  const std::string& name() const { return name_; }

  // Gives the subscriber what came after `last_seq` if all of it is kept, else a snapshot. False when the room is full.
  bool join(const std::shared_ptr<RoomSubscriber>& subscriber,
            std::optional<std::uint64_t> last_seq);
  void leave(const RoomSubscriber& subscriber);
  // What a list shows of it.
  struct Sight {
    std::size_t subscribers = 0;
    std::size_t messages = 0;
    std::size_t queued = 0;
    std::string loop;   // of the running turn; empty if none runs
    std::string model;  // its model
  };
  Sight look() const;
  // Since when it has no subscribers and no turn.
  std::optional<std::chrono::steady_clock::time_point> empty_since() const;
  void close_all();

  struct Mail {
    std::vector<RoomFramePtr> frames;
    RoomSubscriber::State state = RoomSubscriber::State::open;
  };
  // About how many bytes wait for it.
  Mail take(RoomSubscriber& subscriber, std::size_t bytes);
  RoomSubscriber::State state_of(const RoomSubscriber& subscriber) const;
  // A frame for this one alone.
  void tell(const std::shared_ptr<RoomSubscriber>& subscriber, std::string_view json);

  // known: a message of that id is there already. moved: another gateway owns the room.
  enum class Place : std::uint8_t { first, queued, refused, known, moved };
  // Tells everybody of the message, and queues it. first: nothing runs, so the caller runs what next() gives, until it
  // gives nothing.
  Place post(RoomAsk ask);
  std::optional<RoomAsk> next();
  // The running loop; empty if none runs.
  std::string loop_id() const;
  // What was said, the message of the running turn included, for the model.
  std::vector<Message> conversation() const;
  // A message into the running turn. False: it has ended meanwhile.
  bool inject(std::string_view id, std::string_view text);
  // Whether a message of that id waits, runs or was answered.
  bool knows(std::string_view id) const;

  // The running turn. The task that runs it calls these, in the order of a turn.
  void begin_stream(RoomStream stream);
  void add_text(std::string_view delta);
  void end_text();
  void begin_thinking();
  void add_thinking(std::string_view text);
  void end_thinking();
  void begin_call(const loop::ToolCallNotice& call);
  void end_call(const loop::ToolResultNotice& result);
  void ask_approval(const loop::WaitForApproval& wait);
  void end_stream(const RoomStreamEnd& end);
  void fail_stream(const Error& error);  // nothing happens when no turn has begun
  // The number of the frame that ends the turn, which the next one will be: what is said meanwhile waits for it. And the
  // answer so far, as JSON. Nothing when no turn has begun.
  struct Ending {
    std::uint64_t seq = 0;
    std::string answer;
  };
  std::optional<Ending> begin_end();
  // Bytes of frames so far, each counted once.
  std::uint64_t bytes() const;

  // Gateways that share a store (docs/adr/0063): one of them owns the room, those of the others follow it.
  //
  // What the owner says, a frame of its own or the snapshot that a relay begins with. False: it makes no sense.
  bool follow(std::string_view json);
  // From now on this gateway owns the room. `book` is where turns are noted; nullptr: nowhere.
  void own(const RoomHeritage& heritage, std::shared_ptr<RoomBook> book);
  // A message that waited when its owner went; runs as after post().
  Place adopt(RoomAsk ask);
  // No more messages may wait.
  bool full() const;
  // Another gateway owns it: whatever runs here is not heard any more.
  // Gives the id of its tool loop, to be ended; empty: none runs.
  std::string disown();
  // Where the owner notes turns; nullptr: this gateway is alone, or does not own the room.
  std::shared_ptr<RoomBook> book() const;
  bool owned() const;
  bool busy() const;  // a turn runs here
  // The number of the last frame; 0: nothing was ever heard of the room.
  std::uint64_t last_seq() const;
  // It knows what is said in it: it owns the room, or has heard its owner.
  bool ready() const;
  // Ends the relays to others.
  void close_relays();
  // How the room hears of its owner; nullptr: this gateway is alone.
  const std::shared_ptr<RoomSeat>& seat() const { return seat_; }
  // Before anybody else has the room: another gateway may own it.
  void take_seat(std::shared_ptr<RoomSeat> seat);
  // The room is forgotten and cannot be joined any more.
  void retire() { retired_ = true; }
  bool retired() const { return retired_.load(); }

 private:
  struct Said {  // a message of the conversation
    Role role = Role::user;
    std::string id;  // the message's or the stream's
    RawJson content;
  };
  struct Call {
    std::string id;
    std::string json;  // as tool_call_start says it
  };
  struct Live {
    RoomStream about;
    std::string prefix;  // of its frames: "stream":"..."
    std::string text;
    std::string thinking;
    std::vector<Call> calls;  // in progress
    bool text_open = false;
    bool thinking_open = false;
    RoomSentences sentences;
  };

  RoomFramePtr make_frame(RoomFrame::Kind kind, std::string_view type, std::string_view members,
                          std::uint64_t seq) const;
  RoomFramePtr make_frame(RoomFrame::Kind kind, std::uint64_t seq, std::string_view json) const;
  void keep(const RoomFramePtr& frame);
  void follow_snapshot(std::string_view json);
  void follow_live(json::Reader& in);
  void add_thought(std::string_view text);
  // A snapshot to all, in place of what cannot be sent frame by frame.
  void tell_anew();
  bool knows_locked(std::string_view id) const;
  Place post_locked(RoomAsk ask, bool announce);
  // Numbers a frame, keeps it and hands it out. `members` are JSON without the braces.
  RoomFramePtr publish(RoomFrame::Kind kind, std::string_view type, std::string_view members);
  void hand_out(const RoomFramePtr& frame, bool to_sentences);
  // To those who want sentences; without any, `otherwise`, which may be nullptr.
  void hand_out_sentences(std::uint64_t seq, const std::vector<std::string>& sentences,
                          const RoomFramePtr& otherwise);
  // What a frame counts in a backlog.
  std::size_t cost_of(const RoomFrame& frame) const;
  // `waiting`: bytes that wait for it.
  bool is_too_slow(const RoomSubscriber& subscriber, std::size_t waiting) const;
  void put(const std::shared_ptr<RoomSubscriber>& subscriber, const RoomFramePtr& frame);
  void wake(const std::shared_ptr<RoomSubscriber>& subscriber);
  bool resume(const std::shared_ptr<RoomSubscriber>& subscriber, std::uint64_t last_seq);
  bool resume_sentences(const std::shared_ptr<RoomSubscriber>& subscriber, std::uint64_t last_seq);
  RoomFramePtr snapshot(const RoomSubscriber& subscriber) const;
  void append_live(std::string& out, bool sentences) const;
  void remember(Role role, std::string id, RawJson content);
  // Reserves what the room keeps. Without memory it forgets its frames: subscribers that return get a snapshot.
  void reserve();
  // What every frame of the running turn begins with.
  std::string& members();
  void finish_stream(bool keeps_text = true);
  bool wants_sentences() const;

  const std::string name_;
  const RoomsConfig limits_;
  RoomCounters& counters_;
  std::shared_ptr<RoomSeat> seat_;
  std::atomic<bool> retired_ = false;

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<RoomSubscriber>> subscribers_;
  std::deque<RoomFramePtr> history_;
  std::size_t history_bytes_ = 0;
  std::uint64_t seq_;
  std::uint64_t kept_from_;  // a subscriber that has this number can get the rest
  std::uint64_t bytes_ = 0;
  std::deque<Said> said_;
  std::size_t said_bytes_ = 0;
  std::deque<RoomAsk> queue_;
  bool running_ = false;
  bool owned_ = true;
  bool ending_ = false;                 // the next frame ends the turn
  std::vector<RoomAsk> held_;           // said meanwhile
  std::vector<std::string> announced_;  // ids of what waited when this gateway became the owner
  std::shared_ptr<RoomBook> book_;
  std::optional<Live> live_;
  Reservation memory_;
  std::chrono::steady_clock::time_point empty_since_;
  // Reused, so that a frame costs no more than itself.
  std::string members_;
  mutable std::string json_;
};

}  // namespace callgate::server
