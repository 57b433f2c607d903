#include "upstream/anthropic_messages/anthropic_frames.h"

#include <algorithm>
#include <array>
#include <span>

#include "chat/messages_frame.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::upstream {
namespace {

constexpr std::array<std::string_view, 8> kMessageMembers = {
    "id", "type", "role", "content", "model", "stop_reason", "stop_sequence", "usage"};
constexpr std::array<std::string_view, 7> kBlockMembers = {"text", "thinking", "signature", "data",
                                                           "id",   "name",     "input"};

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The members of an object that are not among those `known`. False: there are none.
bool append_others(json::ObjectWriter& to, std::string_view object,
                   std::span<const std::string_view> known) {
  bool any = false;
  json::Reader in(object);
  if (object.empty() || in.peek() != json::Kind::object) return false;
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    const std::string_view value = in.raw();
    if (is_one_of(known, name)) continue;
    any = any || name != "type";
    to.raw_escaped(name, value);
  }
  return any;
}

}  // namespace

void AnthropicFrames::tell(std::string_view frame, EventSink& sink) {
  sink.accept(FieldReported{FieldReported::Scope::message, kMessagesFrame, frame});
}

void AnthropicFrames::tell_message(std::string_view message, EventSink& sink) {
  frame_.clear();
  json::ObjectWriter object(frame_);
  object.string("type", "message_start");
  json::ObjectWriter members(object.key("message"));
  const bool any = append_others(members, message, kMessageMembers);
  members.close();
  object.close();
  if (any) tell(frame_, sink);
}

void AnthropicFrames::tell_start(std::string_view block, EventSink& sink) {
  frame_.clear();
  json::ObjectWriter object(frame_);
  object.string("type", "content_block_start");
  json::ObjectWriter members(object.key("content_block"));
  const bool any = append_others(members, block, kBlockMembers);
  members.close();
  object.close();
  if (any) tell(frame_, sink);
}

void AnthropicFrames::tell_members(std::string_view type, std::string_view frame, EventSink& sink) {
  static constexpr std::array<std::string_view, 7> kOfFrame = {
      "type", "index", "message", "content_block", "delta", "usage", "error"};
  static constexpr std::array<std::string_view, 6> kOfDelta = {
      "type", "text", "partial_json", "thinking", "signature", "citation"};
  frame_.clear();
  json::ObjectWriter object(frame_);
  object.string("type", type);
  bool any = append_others(object, frame, kOfFrame);
  if (type == "content_block_delta") {
    json::ObjectWriter delta(object.key("delta"));
    any = append_others(delta, json::member_json(frame, "delta"), kOfDelta) || any;
    delta.close();
  }
  object.close();
  if (any) sink.accept(FieldReported{FieldReported::Scope::message, kMessagesMembers, frame_});
}

void AnthropicFrames::tell_stop(EventSink& sink) { tell(R"({"type":"content_block_stop"})", sink); }

bool AnthropicFrames::is_strange_delta(std::string_view frame) {
  static constexpr std::array<std::string_view, 4> kKnown = {"text_delta", "input_json_delta",
                                                             "thinking_delta", "signature_delta"};
  const std::string type = json::member_text(json::member_json(frame, "delta"), "type");
  return !type.empty() && !is_one_of(kKnown, type);
}

void AnthropicFrames::begin_whole(std::string_view message, EventSink& sink) {
  tell_message(message, sink);
  const std::string_view reason = json::given_member(message, "stop_reason");
  if (!reason.empty()) {
    frame_.assign(R"({"type":"message_delta","delta":{"stop_reason":)").append(reason).append("}}");
    tell(frame_, sink);
  }
  const std::string_view content = json::given_member(message, "content");
  json::Reader in(content);
  if (content.empty() || in.peek() != json::Kind::array) return;
  while (in.next_element()) {
    const bool object = in.peek() == json::Kind::object;
    const std::string_view block = in.raw();
    if (object) whole_.push_back(block);
  }
}

void AnthropicFrames::begin_block(std::size_t position, bool ignored, EventSink& sink) {
  if (position >= whole_.size()) return;
  if (!ignored) return tell_start(whole_[position], sink);
  frame_.assign(R"({"type":"content_block_start","content_block":)");
  tell(frame_.append(whole_[position]).append("}"), sink);
}

void AnthropicFrames::end_block(std::size_t position, bool stops, EventSink& sink) {
  if (position < whole_.size() && stops) tell_stop(sink);
}

}  // namespace callgate::upstream
