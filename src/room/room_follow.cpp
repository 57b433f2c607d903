// A room whose owner is another gateway: its frames come from there, and make the same room here. Sample:
//   {"type":"stream_chunk","seq":7,"stream":"stream_Ab1","delta":"Let me "}
#include <algorithm>
#include <utility>

#include "client/protocol.h"
#include "json/reader.h"
#include "json/writer.h"
#include "room/room.h"
#include "room/room_heritage.h"
#include "room/rooms.h"
#include "turn/turn_job.h"

namespace callgate::server {
namespace {

using Kind = RoomFrame::Kind;

// The members of a frame that change a room.
struct Told {
  std::string type;
  std::uint64_t seq = 0;
  std::string stream;
  std::string delta;
  std::string id;
  std::string content = "\"\"";  // JSON, of `text` or `content`
  std::string answer;   // JSON, of `message`
  std::string name;
  std::string arguments;
  std::int64_t round = 0;
  bool injected = false;
  bool kept = true;
  RoomStream about;
};

std::string content_of(json::Reader& in) {
  std::string content = "\"\"";
  for (std::string_view key; in.next_member(key);) {
    if (key == "content") {
      content = in.raw();
    } else {
      in.skip();
    }
  }
  return content;
}

std::string* text_member(Told& told, std::string_view key) {
  if (key == "type") return &told.type;
  if (key == "stream") return &told.stream;
  if (key == "delta") return &told.delta;
  if (key == "id") return &told.id;
  if (key == "name") return &told.name;
  if (key == "arguments") return &told.arguments;
  if (key == "model") return &told.about.model;
  if (key == "loop") return &told.about.loop;
  if (key == "request") return &told.about.request;
  if (key == "reply_to") return &told.about.reply_to;
  return nullptr;
}

void read_member(json::Reader& in, const std::string& key, Told& told) {
  const json::Kind kind = in.peek();
  if (std::string* text = text_member(told, key); text != nullptr && kind == json::Kind::string) {
    *text = in.string();
  } else if (key == "seq" && kind == json::Kind::number) {
    told.seq = static_cast<std::uint64_t>(in.integer().value_or(0));
  } else if (key == "round" && kind == json::Kind::number) {
    told.round = in.integer().value_or(0);
  } else if (key == "text" || key == "content") {
    told.content = in.raw();
  } else if (key == "message" && kind == json::Kind::object) {
    told.answer = content_of(in);
  } else if (key == "injected" || key == "kept") {
    (key == "kept" ? told.kept : told.injected) = in.raw() == "true";
  } else {
    in.skip();
  }
}

std::optional<Told> read_told(std::string_view json) {
  json::Reader check(json);
  check.skip();
  if (!check.finish()) return std::nullopt;
  json::Reader in(json);
  if (in.peek() != json::Kind::object) return std::nullopt;
  Told told;
  for (std::string_view key; in.next_member(key);) read_member(in, std::string(key), told);
  told.about.stream = told.stream;
  return told;
}

Kind kind_of(std::string_view type) {
  if (type == "stream_start") return Kind::stream_start;
  if (type == "stream_chunk") return Kind::text;
  if (type == "text_end") return Kind::text_end;
  return Kind::other;
}

std::string call_json(const Told& told) {
  std::string out = "{\"id\":";
  json::append_string(out, told.id);
  json::append_string(out.append(",\"name\":"), told.name);
  json::append_string(out.append(",\"arguments\":"), told.arguments);
  json::append_integer(out.append(",\"round\":"), told.round);
  return out += '}';
}

std::string stream_prefix(std::string_view stream) {
  std::string out = "\"stream\":";
  json::append_string(out, stream);
  return out;
}

}  // namespace

bool Room::follow(std::string_view json) {
  const std::optional<Told> told = read_told(json);
  if (!told) return false;
  if (told->type == "resumed") return true;
  const std::lock_guard lock(mutex_);
  if (owned_) return false;
  if (told->type == "snapshot") {
    follow_snapshot(json);
    return true;
  }
  if (told->seq <= seq_) return told->seq != 0;
  seq_ = told->seq;
  const std::string& type = told->type;
  // An owner that took over says again what waits.
  if (type == "user_message" && knows_locked(told->id)) return true;
  const RoomFramePtr frame = make_frame(kind_of(type), seq_, json);
  if (type == "user_message" && told->injected) {
    remember(Role::user, told->id, RawJson{told->content});
  } else if (type == "user_message") {
    queue_.emplace_back(told->id, RawJson{told->content}, nullptr);
  } else if (type == "stream_start") {
    const auto asked = std::find_if(queue_.begin(), queue_.end(), [&](const RoomAsk& ask) {
      return ask.id == told->about.reply_to;
    });
    if (asked != queue_.end()) {
      remember(Role::user, asked->id, asked->content);
      queue_.erase(asked);
    }
    live_ = Live();
    live_->about = told->about;
    live_->prefix = stream_prefix(told->stream);
    if (wants_sentences()) live_->sentences.turn_on({});
  } else if (live_ && type == "stream_chunk") {
    live_->text += told->delta;
    keep(frame);
    hand_out_sentences(seq_, live_->sentences.push(told->delta), nullptr);
    return true;
  } else if (live_ && type == "text_end") {
    keep(frame);
    hand_out_sentences(seq_, live_->sentences.pause(live_->text.size()), frame);
    return true;
  } else if (live_ && type == "thinking_chunk") {
    add_thought(told->delta);
  } else if (live_ && type == "tool_call_start") {
    live_->calls.push_back({told->id, call_json(*told)});
  } else if (live_ && type == "tool_call_end") {
    std::erase_if(live_->calls, [&](const Call& call) { return call.id == told->id; });
  } else if (type == "stream_end") {
    if (live_) finish_stream(false);
    if (told->answer.size() > 2) remember(Role::assistant, told->stream, RawJson{told->answer});
  } else if (live_ && type == "stream_error") {
    finish_stream(told->kept);
  }
  keep(frame);
  return true;
}

// All that is known begins anew, and subscribers hear so.
void Room::follow_snapshot(std::string_view json) {
  std::vector<std::size_t> pauses;
  said_.clear();
  said_bytes_ = 0;
  queue_.clear();
  live_.reset();
  json::Reader in(json);
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    const json::Kind kind = in.peek();
    if (name == "seq" && kind == json::Kind::number) {
      seq_ = std::max(seq_, static_cast<std::uint64_t>(in.integer().value_or(0)));
    } else if ((name == "messages" || name == "queued") && kind == json::Kind::array) {
      while (in.next_element()) {
        if (in.peek() != json::Kind::object) {
          in.skip();
          continue;
        }
        Told line;
        std::string role;
        for (std::string_view member; in.next_member(member);) {
          const std::string inner(member);
          if (inner == "role" && in.peek() == json::Kind::string) {
            role = in.string();
          } else {
            read_member(in, inner, line);
          }
        }
        if (name == "queued") {
          queue_.emplace_back(line.id, RawJson{line.content}, nullptr);
        } else {
          remember(role == "assistant" ? Role::assistant : Role::user, line.id,
                   RawJson{line.content});
        }
      }
    } else if (name == "stream" && kind == json::Kind::object) {
      follow_live(in);
    } else if (name == "pauses" && kind == json::Kind::array) {
      while (in.next_element())
        pauses.push_back(static_cast<std::size_t>(in.integer().value_or(0)));
    } else {
      in.skip();
    }
  }
  if (live_) {
    std::size_t before = 0;
    for (const std::size_t pause : pauses) {
      if (pause < before || pause > live_->text.size()) break;
      before = pause;
      (void)live_->sentences.pause(pause);
    }
    if (wants_sentences()) live_->sentences.turn_on(live_->text);
  }
  history_.clear();
  history_bytes_ = 0;
  kept_from_ = seq_;
  tell_anew();
}

void Room::follow_live(json::Reader& in) {
  live_ = Live();
  for (std::string_view member; in.next_member(member);) {
    const std::string name(member);
    const json::Kind kind = in.peek();
    if (name == "calls" && kind == json::Kind::array) {
      while (in.next_element()) {
        const std::string call(in.raw());
        const std::optional<Told> told = read_told(call);
        if (told) live_->calls.push_back({told->id, call});
      }
    } else if ((name == "text" || name == "thinking") && kind == json::Kind::string) {
      (name == "text" ? live_->text : live_->thinking) = in.string();
    } else {
      Told told;
      read_member(in, name, told);
      if (name == "stream") live_->about.stream = told.stream;
      if (name == "model") live_->about.model = told.about.model;
      if (name == "loop") live_->about.loop = told.about.loop;
      if (name == "request") live_->about.request = told.about.request;
      if (name == "reply_to") live_->about.reply_to = told.about.reply_to;
    }
  }
  live_->prefix = stream_prefix(live_->about.stream);
}

void Room::tell_anew() {
  for (const auto& subscriber : subscribers_) put(subscriber, snapshot(*subscriber));
}

void Room::own(const RoomHeritage& heritage, std::shared_ptr<RoomBook> book) {
  const std::lock_guard lock(mutex_);
  const bool complete = heritage.is_complete(seq_);
  announced_.clear();
  for (const RoomAsk& ask : queue_) announced_.push_back(ask.id);
  queue_.clear();
  said_.clear();
  said_bytes_ = 0;
  for (const RoomHeritage::Line& line : heritage.said) {
    remember(line.by_user ? Role::user : Role::assistant, line.id, RawJson{line.content});
  }
  live_.reset();
  owned_ = true;
  book_ = std::move(book);
  seq_ = std::max(seq_, heritage.first_seq);
  if (!complete) {
    history_.clear();
    history_bytes_ = 0;
    kept_from_ = heritage.ended_seq == 0 ? seq_ : heritage.ended_seq;
    announced_.clear();
    tell_anew();
  }
  if (!heritage.broken) return;
  const Error error{.code = ErrorCode::unavailable,
                    .message = "the gateway that ran the turn is gone",
                    .upstream_code = "turn_lost"};
  const std::string body = client::find("openai_chat")->error_body(error);  // {"error":{...}}
  std::string members = stream_prefix(heritage.broken->stream) + ",\"reply_to\":";
  json::append_string(members, heritage.broken->message);
  members += ",\"kept\":false,";
  publish(Kind::other, "stream_error", members.append(body, 1, body.size() - 2));
}

Room::Place Room::adopt(RoomAsk ask) {
  const std::lock_guard lock(mutex_);
  const bool heard = std::find(announced_.begin(), announced_.end(), ask.id) != announced_.end();
  return post_locked(std::move(ask), !heard);
}

std::string Room::disown() {
  const std::lock_guard lock(mutex_);
  std::string loop = live_ && owned_ ? live_->about.loop : std::string();
  owned_ = false;
  book_.reset();
  ending_ = false;
  live_.reset();
  queue_.clear();
  held_.clear();
  return loop;
}

std::shared_ptr<RoomBook> Room::book() const {
  const std::lock_guard lock(mutex_);
  return book_;
}

bool Room::owned() const {
  const std::lock_guard lock(mutex_);
  return owned_;
}

bool Room::busy() const {
  const std::lock_guard lock(mutex_);
  return running_;
}

bool Room::ready() const {
  const std::lock_guard lock(mutex_);
  return owned_ || seq_ != 0;
}

void Room::take_seat(std::shared_ptr<RoomSeat> seat) {
  seat_ = std::move(seat);
  const std::lock_guard lock(mutex_);
  owned_ = false;
  seq_ = 0;
  kept_from_ = 0;
}

std::uint64_t Room::last_seq() const {
  const std::lock_guard lock(mutex_);
  return seq_;
}

void Room::close_relays() {
  const std::lock_guard lock(mutex_);
  for (const auto& subscriber : subscribers_) {
    if (!subscriber->relay || subscriber->state != RoomSubscriber::State::open) continue;
    subscriber->state = RoomSubscriber::State::going_away;
    wake(subscriber);
  }
}

}  // namespace callgate::server
