// What is said in a room: messages of users, and the turn that runs.
#include <algorithm>
#include <utility>

#include "client/openai_chat/openai_usage.h"
#include "client/protocol.h"
#include "json/writer.h"
#include "room/room.h"
#include "room/rooms.h"
#include "turn/turn_job.h"

namespace callgate::server {
namespace {

using Kind = RoomFrame::Kind;

constexpr std::size_t kMostThinking = std::size_t{256} << 10;  // that a snapshot shows

std::string quoted(std::string_view text) {
  std::string json;
  json::append_string(json, text);
  return json;
}

std::string words_of(const RoomAsk& ask) {
  const bool is_text = ask.content.text.starts_with('"');
  return "\"id\":" + quoted(ask.id) + (is_text ? ",\"text\":" : ",\"content\":") + ask.content.text;
}

// `"name":"value"` with a comma in front.
void add(std::string& members, std::string_view name, std::string_view value) {
  members.append(",\"").append(name).append("\":");
  json::append_string(members, value);
}
void add_number(std::string& members, std::string_view name, std::int64_t value) {
  members.append(",\"").append(name).append("\":");
  json::append_integer(members, value);
}

}  // namespace

Room::Place Room::post(RoomAsk ask) {
  const std::lock_guard lock(mutex_);
  if (!owned_) return Place::moved;
  if (book_ != nullptr && knows_locked(ask.id)) return Place::known;
  if (!ending_) return post_locked(std::move(ask), true);
  held_.push_back(std::move(ask));
  return Place::queued;
}

Room::Place Room::post_locked(RoomAsk ask, bool announce) {
  const auto most = static_cast<std::size_t>(limits_.queue);
  // What is in the book has a place.
  if (book_ == nullptr && running_ && queue_.size() >= most) return Place::refused;
  std::string members = words_of(ask);
  add_number(members, "queued", static_cast<std::int64_t>(queue_.size() + (running_ ? 1 : 0)));
  if (announce) publish(Kind::other, "user_message", members);
  queue_.push_back(std::move(ask));
  return std::exchange(running_, true) ? Place::queued : Place::first;
}

std::optional<RoomAsk> Room::next() {
  const std::lock_guard lock(mutex_);
  if (queue_.empty() || !owned_) {
    running_ = false;
    if (subscribers_.empty()) empty_since_ = std::chrono::steady_clock::now();
    return std::nullopt;
  }
  RoomAsk ask = std::move(queue_.front());
  queue_.pop_front();
  remember(Role::user, ask.id, ask.content);
  return ask;
}

std::string Room::loop_id() const {
  const std::lock_guard lock(mutex_);
  return live_ ? live_->about.loop : std::string();
}

std::vector<Message> Room::conversation() const {
  const std::lock_guard lock(mutex_);
  std::vector<Message> messages;
  for (const Said& said : said_) {
    Message& message = messages.emplace_back();
    message.role = said.role;
    message.content = said.content;
  }
  return messages;
}

bool Room::inject(std::string_view id, std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (!owned_ || ending_) return false;
  std::string members = "\"id\":" + quoted(id);
  add(members, "text", text);
  publish(Kind::other, "user_message", members.append(",\"injected\":true"));
  remember(Role::user, std::string(id), RawJson{quoted(text)});
  return true;
}

bool Room::knows_locked(std::string_view id) const {
  const auto is_it = [&](const auto& message) { return message.id == id; };
  return std::any_of(queue_.begin(), queue_.end(), is_it) ||
         std::any_of(held_.begin(), held_.end(), is_it) ||
         std::any_of(said_.begin(), said_.end(), is_it);
}

bool Room::full() const {
  const std::lock_guard lock(mutex_);
  return running_ && queue_.size() + held_.size() >= static_cast<std::size_t>(limits_.queue);
}

bool Room::knows(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  return knows_locked(id);
}

std::optional<Room::Ending> Room::begin_end() {
  const std::lock_guard lock(mutex_);
  if (!live_) return std::nullopt;
  ending_ = true;
  return Ending{seq_ + 1, quoted(live_->text)};
}

// The oldest go first; what is left begins with a user's message.
void Room::remember(Role role, std::string id, RawJson content) {
  said_bytes_ += content.text.size();
  said_.push_back({role, std::move(id), std::move(content)});
  const auto too_much = [&] {
    return said_.size() > static_cast<std::size_t>(limits_.max_messages) ||
           said_bytes_ > limits_.message_history.count;
  };
  while (said_.size() > 1 && (too_much() || said_.front().role != Role::user)) {
    said_bytes_ -= said_.front().content.text.size();
    said_.pop_front();
  }
}

std::string& Room::members() { return members_.assign(live_->prefix); }

void Room::begin_stream(RoomStream stream) {
  const std::lock_guard lock(mutex_);
  if (!owned_) return;
  live_ = Live();
  live_->about = std::move(stream);
  live_->prefix = "\"stream\":" + quoted(live_->about.stream);
  if (wants_sentences()) live_->sentences.turn_on({});
  std::string& out = members();
  add(out, "model", live_->about.model);
  add(out, "loop", live_->about.loop);
  add(out, "request", live_->about.request);
  add(out, "reply_to", live_->about.reply_to);
  publish(Kind::stream_start, "stream_start", out);
}

void Room::add_text(std::string_view delta) {
  const std::lock_guard lock(mutex_);
  if (!live_) return;
  live_->text += delta;
  live_->text_open = true;
  std::string& out = members();
  add(out, "delta", delta);
  publish(Kind::text, "stream_chunk", out);
  hand_out_sentences(seq_, live_->sentences.push(delta), nullptr);
}

void Room::end_text() {
  const std::lock_guard lock(mutex_);
  if (!live_) return;
  if (!std::exchange(live_->text_open, false)) return;
  const RoomFramePtr frame = publish(Kind::text_end, "text_end", live_->prefix);
  hand_out_sentences(seq_, live_->sentences.pause(live_->text.size()), frame);
}

void Room::begin_thinking() {
  const std::lock_guard lock(mutex_);
  if (!live_) return;
  live_->thinking_open = true;
  publish(Kind::other, "thinking_start", live_->prefix);
}

void Room::add_thinking(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (!live_) return;
  add_thought(text);
  std::string& out = members();
  add(out, "delta", text);
  publish(Kind::other, "thinking_chunk", out);
}

void Room::add_thought(std::string_view text) {
  if (live_->thinking.size() + text.size() <= kMostThinking) live_->thinking += text;
}

void Room::end_thinking() {
  const std::lock_guard lock(mutex_);
  if (!live_) return;
  if (std::exchange(live_->thinking_open, false)) {
    publish(Kind::other, "thinking_end", live_->prefix);
  }
}

void Room::begin_call(const loop::ToolCallNotice& call) {
  const std::lock_guard lock(mutex_);
  if (!live_) return;
  std::string members = "\"id\":" + quoted(call.call_id);
  add(members, "name", call.name);
  add(members, "arguments", call.arguments);
  add_number(members, "round", call.round);
  live_->calls.push_back({std::string(call.call_id), "{" + members + "}"});
  publish(Kind::other, "tool_call_start", live_->prefix + "," + members);
}

void Room::end_call(const loop::ToolResultNotice& result) {
  const std::lock_guard lock(mutex_);
  if (!live_) return;
  std::erase_if(live_->calls, [&](const Call& call) { return call.id == result.call_id; });
  std::string& out = members();
  add(out, "id", result.call_id);
  add(out, "name", result.name);
  add(out, "preview", result.preview);
  out.append(result.is_error ? ",\"is_error\":true" : ",\"is_error\":false");
  add_number(out, "bytes", static_cast<std::int64_t>(result.bytes));
  add_number(out, "duration_ms", result.duration);
  add_number(out, "round", result.round);
  publish(Kind::other, "tool_call_end", out);
}

void Room::ask_approval(const loop::WaitForApproval& wait) {
  const std::lock_guard lock(mutex_);
  if (!live_) return;
  std::string& out = members();
  add_number(out, "run", wait.run);
  add(out, "id", wait.call_id);
  add(out, "name", wait.name);
  add(out, "arguments", wait.arguments);
  publish(Kind::other, "approval_required", out);
}

void Room::end_stream(const RoomStreamEnd& end) {
  const std::lock_guard lock(mutex_);
  if (!live_) return;
  std::string& out = members();
  out.append(",\"message\":{\"role\":\"assistant\",\"content\":");
  json::append_string(out, live_->text);
  out.append("},\"usage\":");
  if (end.usage || end.estimate) {
    AnswerEnd notes;
    notes.estimate = end.estimate;
    client::append_openai_usage(out, {end.usage, {}}, notes);
  } else {
    out.append("null");
  }
  add(out, "finish_reason", client::openai_finish_word(end.reason, false));
  out.append(",\"end_reason\":")
      .append(end.end ? quoted(loop::to_string(*end.end)) : std::string("null"));
  add_number(out, "rounds", end.rounds);
  add_number(out, "calls", end.calls);
  publish(Kind::other, "stream_end", out);
  finish_stream();
}

void Room::fail_stream(const Error& error) {
  const std::lock_guard lock(mutex_);
  if (!live_) return;
  const std::string json = client::find("openai_chat")->error_body(error);  // {"error":{...}}
  const std::string_view body = std::string_view(json).substr(1, json.size() - 2);
  publish(Kind::other, "stream_error", members().append(",").append(body));
  finish_stream();
}

// What was said stays, also of a turn that broke off.
void Room::finish_stream(bool keeps_text) {
  if (keeps_text && !live_->text.empty()) {
    remember(Role::assistant, live_->about.stream, RawJson{quoted(live_->text)});
  }
  live_.reset();
  ending_ = false;
  for (RoomAsk& ask : std::exchange(held_, {})) (void)post_locked(std::move(ask), true);
}

std::uint64_t Room::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void Room::append_live(std::string& out, bool sentences) const {
  if (!live_) {
    out += "null";
    return;
  }
  out.append("{").append(live_->prefix);
  add(out, "model", live_->about.model);
  add(out, "loop", live_->about.loop);
  add(out, "request", live_->about.request);
  add(out, "reply_to", live_->about.reply_to);
  add(out, "text", sentences ? live_->sentences.released() : std::string_view(live_->text));
  add(out, "thinking", live_->thinking);
  out += ",\"calls\":[";
  for (const Call& call : live_->calls) {
    if (out.back() != '[') out += ',';
    out += call.json;
  }
  out += "]}";
}

RoomFramePtr Room::snapshot(const RoomSubscriber& subscriber) const {
  std::string members = "\"room\":" + quoted(name_) + ",\"stream\":";
  append_live(members, subscriber.sentences);
  if (subscriber.relay && live_) {
    members += ",\"pauses\":[";
    for (const std::size_t pause : live_->sentences.pauses()) {
      if (members.back() != '[') members += ',';
      json::append_integer(members, static_cast<std::int64_t>(pause));
    }
    members += ']';
  }
  members += ",\"messages\":[";
  for (const Said& said : said_) {
    if (members.back() != '[') members += ',';
    members.append(said.role == Role::user ? "{\"role\":\"user\",\"id\":"
                                           : "{\"role\":\"assistant\",\"id\":");
    members.append(quoted(said.id)).append(",\"content\":").append(said.content.text).append("}");
  }
  members += "],\"queued\":[";
  for (const RoomAsk& ask : queue_) {
    if (members.back() != '[') members += ',';
    members.append("{").append(words_of(ask)).append("}");
  }
  members += ']';
  return make_frame(Kind::other, "snapshot", members, seq_);
}

}  // namespace callgate::server
