#include "client/anthropic_messages/messages_encoder.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "chat/content.h"
#include "chat/messages_frame.h"
#include "chat/sealed_reasoning.h"
#include "client/answer_parts.h"
#include "client/anthropic_messages/messages_reasoning.h"
#include "client/openai_chat/openai_usage.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

constexpr std::size_t kMaxRefusal = std::size_t{1} << 20;
constexpr std::size_t kMaxLateDetails = 64;
constexpr std::string_view kSealPrefix = "\"callgate.1.";

std::vector<std::string> stops_of(const Request& request) {
  std::vector<std::string> stops;
  const std::string_view json = find_field(request.extra, "stop");
  json::Reader in(json);
  if (json.empty() || in.peek() != json::Kind::array) return stops;
  while (in.next_element()) {
    if (in.peek() == json::Kind::string) {
      stops.emplace_back(in.string());
    } else {
      in.skip();
    }
  }
  return stops;
}

// The reason that a word of the API stands for; nothing for others.
std::optional<FinishReason> reason_of_word(std::string_view word) {
  if (word == "end_turn" || word == "stop_sequence" || word == "pause_turn") {
    return FinishReason::stop;
  }
  if (word == "max_tokens" || word == "model_context_window_exceeded") return FinishReason::length;
  if (word == "tool_use") return FinishReason::tool_calls;
  if (word == "refusal") return FinishReason::content_filter;
  return std::nullopt;
}

// Calls on_member(name, json) for each member of an object.
template <class OnMember>
void each_frame_member(std::string_view json, OnMember on_member) {
  json::Reader in(json);
  if (json.empty() || in.peek() != json::Kind::object) return;
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    on_member(name, in.raw());
  }
}

}  // namespace

void append_frame_member(std::string& out, std::string_view name, std::string_view json) {
  out.push_back(',');
  json::append_string(out, name);
  out.push_back(':');
  append_json_line(out, json);
}

MessagesEncoder::MessagesEncoder(const Request& request, const ResponseIdentity& identity)
    : identity_(identity), stops_(stops_of(request)) {}

std::string& MessagesEncoder::out() {
  CALLGATE_CHECK(out_ != nullptr);
  return *out_;
}

void MessagesEncoder::accept(const Event& event) {
  switch (cut_.before(event)) {
    case CutCall::Fate::open:
      break;
    case CutCall::Fate::ended:
      finish_call();
      break;
    case CutCall::Fate::lost:
      open_ = Open::none;
      break;
  }
  std::visit(Overloaded{
                 [&](const TextDelta& e) { text(e.text); },
                 [&](const ReasoningDelta& e) { reason(e.text); },
                 [&](const RefusalDelta& e) {
                   if (refusal_.size() + e.text.size() <= kMaxRefusal) refusal_.append(e.text);
                 },
                 [&](const CallStarted& e) { start_call(e); },
                 [&](const ArgumentsDelta& e) {
                   open_call();
                   call_empty_ = false;
                   add_text(e.bytes);
                 },
                 [&](const CallFinished& e) {
                   e.outcome == CallOutcome::truncated ? cut_.hold() : finish_call();
                 },
                 [&](const FieldReported& e) { field(e); },
                 [&](const UsageReported& e) { usage_.set(e); },
                 [&](const TurnFinished& e) {
                   close();
                   reason_ = e.reason;
                 },
             },
             event);
}

void MessagesEncoder::text(std::string_view text) {
  if (open_ != Open::text) open(Open::text, R"({"type":"text","text":"")");
  add_text(text);
}

void MessagesEncoder::reason(std::string_view text) {
  if (open_ != Open::thinking) {
    open(Open::thinking, R"({"type":"thinking","thinking":"","signature":"")");
  }
  add_text(text);
}

void MessagesEncoder::start_call(const CallStarted& event) {
  close();
  call_waits_ = true;
  call_empty_ = true;
  call_id_ = event.native_id;
  call_name_ = event.name;
  call_fields_.clear();
}

// What an upstream of another format wants back with the call has no place in the call: it stands before it, sealed.
void MessagesEncoder::open_call() {
  if (!std::exchange(call_waits_, false)) return;
  if (!call_fields_.empty()) {
    std::string element;
    json::ObjectWriter object(element);
    object.string("format", kSealedCall);
    object.string("call", call_id_);
    object.key("fields").append("{").append(call_fields_.substr(1)).append("}");
    object.close();
    const std::string extras = std::exchange(extras_, {});
    add_sealed_block(element);
    extras_ = extras;
    call_fields_.clear();
  }
  std::string start = R"({"type":"tool_use","id":)";
  json::append_string(start, call_id_);
  start.append(",\"name\":");
  json::append_string(start, call_name_);
  open(Open::call, start);
}

void MessagesEncoder::finish_call() {
  open_call();
  if (call_empty_) add_text("{}");
  close();
  for (const std::string& late : std::exchange(late_details_, {})) detail(late);
}

void MessagesEncoder::open(Open kind, std::string_view start) {
  close();
  start_.assign(start).append(extras_);
  extras_.clear();
  open_ = kind;
  start_block(start_);
}

void MessagesEncoder::close() {
  if (open_ == Open::none) return;
  const std::string signature = open_ == Open::thinking ? take_signature() : std::string();
  stop_block(signature);
  open_ = Open::none;
  ++index_;
}

void MessagesEncoder::field(const FieldReported& event) {
  using Scope = FieldReported::Scope;
  if (event.scope == Scope::message && event.name == kMessagesFrame) return frame(event.json);
  if (event.name == kMessagesMembers) return keep_members(event.json);
  if (event.scope == Scope::message && event.name == "reasoning_details") {
    json::Reader in(event.json);
    if (in.peek() != json::Kind::array) return;
    while (in.next_element()) detail(in.raw());
  } else if (event.scope == Scope::call) {
    if (call_waits_) append_frame_member(call_fields_, event.name, event.json);
  } else if (event.scope == Scope::choice) {
    // As vLLM and SGLang call it.
    if (event.name == "stop_reason" || event.name == "matched_stop") match_stop(event.json);
  } else if (event.scope == Scope::turn && event.name == "service_tier") {
    usage_.set_tier(event.json);
  } else if (event.scope == Scope::turn && event.name == "callgate") {
    append_frame_member(end_fields_, event.name, event.json);
  }
}

// For the next frame of that type. What never finds one is bounded.
void MessagesEncoder::keep_members(std::string_view json) {
  constexpr std::size_t kMost = 16;
  constexpr std::size_t kMostBytes = std::size_t{1} << 16;
  if (waiting_.size() >= kMost || json.size() > kMostBytes) return;
  FrameMembers members;
  each_frame_member(json, [&](std::string_view name, std::string_view value) {
    if (name == "type") {
      members.type = json::member_text(json, "type");
    } else if (name != "delta") {
      append_frame_member(members.of_frame, name, value);
    }
  });
  each_frame_member(json::given_member(json, "delta"),
                    [&](std::string_view name, std::string_view value) {
                      append_frame_member(members.of_delta, name, value);
                    });
  waiting_.push_back(std::move(members));
}

MessagesEncoder::FrameMembers MessagesEncoder::take_members(std::string_view type) {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const FrameMembers& each) { return each.type == type; });
  if (found == waiting_.end()) return {};
  FrameMembers members = std::move(*found);
  waiting_.erase(found);
  return members;
}

void MessagesEncoder::match_stop(std::string_view json) {
  json::Reader in(json);
  if (in.peek() != json::Kind::string) return;
  if (std::find(stops_.begin(), stops_.end(), in.string()) != stops_.end()) matched_ = json;
}

void MessagesEncoder::detail(std::string_view json) {
  const ReasoningDetail detail = read_detail(json);
  const bool text = detail.type == "reasoning.text" || detail.type == "reasoning.summary";
  const bool marked = !detail.signature.empty() || !detail.data.empty();
  if (text && !marked) return;  // it was said already
  if (open_ == Open::call) {    // blocks do not interleave
    if (late_details_.size() < kMaxLateDetails) late_details_.emplace_back(json);
    return;
  }
  const std::string_view mark = text ? detail.signature : detail.data;
  // A gateway behind this one may have sealed it. Then this one's seal goes around that.
  const bool own = detail.format == kAnthropicIssuer && marked && !mark.starts_with(kSealPrefix);
  if (own && !text) {
    close();
    return add_redacted(mark);
  }
  if (!own && open_ != Open::thinking) {
    close();
    return add_sealed_block(json);
  }
  if (!own) return seal(json);
  if (open_ != Open::thinking) {
    open(Open::thinking, R"({"type":"thinking","thinking":"","signature":"")");
    json::Reader in(detail.text);
    if (!detail.text.empty()) add_text(in.string());
  }
  signature_ = detail.signature;
  close();
}

// For the end of the open block.
void MessagesEncoder::seal(std::string_view element) {
  if (sealed_.size() + element.size() > kMaxSealedReasoning) return;
  sealed_.append(sealed_.empty() ? "" : ",").append(element);
  ++sealed_count_;
}

std::string MessagesEncoder::take_signature() {
  if (!signature_.empty()) return std::exchange(signature_, {});
  std::string element;
  if (sealed_count_ == 1) {
    element = sealed_;
  } else {
    json::ObjectWriter object(element);
    object.string("format", sealed_count_ == 0 ? kSealedText : kSealedList);
    if (sealed_count_ > 0) object.key("details").append("[").append(sealed_).append("]");
    object.close();
  }
  sealed_.clear();
  sealed_count_ = 0;
  std::string json;
  json::append_string(json, seal_reasoning(element).value_or(""));
  return json;
}

void MessagesEncoder::add_sealed_block(std::string_view element) {
  const auto sealed = seal_reasoning(element);
  if (!sealed) return;
  std::string json;
  json::append_string(json, *sealed);
  add_redacted(json);
}

void MessagesEncoder::add_redacted(std::string_view data) {
  open(Open::native, R"({"type":"redacted_thinking","data":)" + std::string(data));
  close();
}

void MessagesEncoder::frame(std::string_view json) {
  const std::string type = json::member_text(json, "type");
  if (type == "content_block_start") {
    frame_start(json::given_member(json, "content_block"));
  } else if (type == "content_block_delta") {
    if (open_ == Open::none) open(Open::text, R"({"type":"text","text":"")");
    add_native(json::given_member(json, "delta"));
  } else if (type == "content_block_stop") {
    if (!call_waits_) close();
  } else if (type == "message_start") {
    each_frame_member(json::given_member(json, "message"),
                      [&](std::string_view name, std::string_view value) {
                        append_frame_member(message_fields_, name, value);
                      });
  } else if (type == "message_delta") {
    frame_end(json);
  } else {
    pass_frame(type, json);
  }
}

// Of a kind that callgate knows: members that it does not. Else a whole block.
void MessagesEncoder::frame_start(std::string_view block) {
  const std::string type = json::member_text(block, "type");
  close();
  if (type == "text" || type == "thinking" || type == "tool_use") {
    extras_.clear();
    each_frame_member(block, [&](std::string_view name, std::string_view value) {
      if (name != "type") append_frame_member(extras_, name, value);
    });
    return;
  }
  std::string start;
  append_json_line(start, block);
  while (!start.empty() && start.back() != '}') start.pop_back();
  if (start.empty()) return;
  start.pop_back();
  extras_.clear();
  open(Open::native, start);
}

void MessagesEncoder::frame_end(std::string_view json) {
  each_frame_member(json::given_member(json, "delta"),
                    [&](std::string_view name, std::string_view value) {
                      if (name == "stop_reason") {
                        native_stop_ = value;
                      } else if (name != "stop_sequence") {
                        append_frame_member(stop_fields_, name, value);
                      }
                    });
  each_frame_member(json, [&](std::string_view name, std::string_view value) {
    if (name != "type" && name != "delta" && name != "usage") {
      append_frame_member(end_fields_, name, value);
    }
  });
}

void MessagesEncoder::append_stop(std::string& out) const {
  out.append("\"stop_reason\":");
  const bool refused = !refusal_.empty() && reason_ != FinishReason::tool_calls;
  json::Reader native(native_stop_);
  const bool same = !native_stop_.empty() && reason_ && native.peek() == json::Kind::string &&
                    reason_of_word(native.string()) == reason_;
  const bool matched = reason_ == FinishReason::stop && !matched_.empty() && !refused;
  if (!reason_) {
    out.append("null");
  } else if (same) {
    out.append(native_stop_);
  } else {
    const std::string_view word = refused   ? "refusal"
                                  : matched ? "stop_sequence"
                                            : messages_stop_word(*reason_);
    json::append_string(out, word);
  }
  out.append(",\"stop_sequence\":").append(matched ? std::string_view(matched_) : "null");
  out.append(stop_fields_);
  if (refusal_.empty() || stop_fields_.find("\"stop_details\"") != std::string::npos) return;
  out.append(R"(,"stop_details":{"type":"refusal","category":null,"explanation":)");
  json::append_string(out, refusal_);
  out.push_back('}');
}

}  // namespace callgate::client
