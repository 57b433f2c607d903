#include "script/reply/anthropic_reply.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "json/reader.h"
#include "json/writer.h"
#include "script/reply/anthropic_message.h"
#include "script/reply/anthropic_request.h"
#include "script/reply/frame_writer.h"
#include "script/reply/json_bytes.h"

namespace callgate::script {
namespace {

class AnthropicReply final : public ReplyEncoder {
 public:
  AnthropicReply(ReplyIdentity identity, const Faults& faults)
      : faults_(faults), identity_(std::move(identity)), frames_(faults) {}

  void push(std::uint32_t choice, const Event& event, Tape& tape) override;
  void end(bool marker, Tape& tape) override;
  void frame(std::string_view json, Tape& tape) override { frames_.write_typed(json, tape); }
  std::string_view stream_type() const override { return "text/event-stream"; }
  std::string body(std::span<const EventLog> choices) const override;
  std::string error_body(int status, std::string_view message) const override {
    return anthropic_error(status, message);
  }

 private:
  enum class Open : std::uint8_t { none, text, thinking };

  void begin(Tape& tape);
  void say(Open kind, std::string_view text, Tape& tape);
  void close_prose(Tape& tape);
  void start_call(const CallStarted& started, Tape& tape);
  void add_arguments(const ArgumentsDelta& delta, Tape& tape);
  void finish_call(CallIndex call, Tape& tape);
  void finish(FinishReason reason, Tape& tape);
  void write_start(std::uint32_t block, std::string_view json, Tape& tape);
  void write_delta(std::uint32_t block, std::string_view type, std::string_view field,
                   std::string_view text, Tape& tape);
  void write_stop(std::uint32_t block, Tape& tape);
  void insert_faulty_frames(Tape& tape);
  std::string index_json(std::uint32_t block) const;
  std::string stop_word(FinishReason reason) const;

  struct CallState {
    std::uint32_t block = 0;
    std::string start;      // the block's JSON up to its input
    std::string arguments;  // only where they come with the start
  };

  const Faults& faults_;
  ReplyIdentity identity_;
  FrameWriter frames_;
  Usage usage_;
  Open open_ = Open::none;
  std::uint32_t open_block_ = 0;
  std::uint32_t blocks_ = 0;
  std::string thinking_;
  std::string refusal_;
  std::vector<CallState> calls_;
  std::uint32_t deltas_ = 0;
  bool begun_ = false;
  bool inserted_ = false;  // the frames of insert_faulty_frames() are out
  bool failed_ = false;    // an error ended the stream
};

void AnthropicReply::push(std::uint32_t choice, const Event& event, Tape& tape) {
  if (failed_ || choice != 0) return;
  std::visit(Overloaded{
                 [&](const TextDelta& e) { say(Open::text, e.text, tape); },
                 [&](const ReasoningDelta& e) { say(Open::thinking, e.text, tape); },
                 [&](const RefusalDelta& e) { refusal_ += e.text; },
                 [&](const CallStarted& e) { start_call(e, tape); },
                 [&](const ArgumentsDelta& e) { add_arguments(e, tape); },
                 [&](const CallFinished& e) { finish_call(e.call, tape); },
                 [&](const FieldReported&) {},
                 [&](const UsageReported& e) { usage_ = e.usage; },
                 [&](const TurnFinished& e) { finish(e.reason, tape); },
             },
             event);
}

void AnthropicReply::begin(Tape& tape) {
  if (std::exchange(begun_, true)) return;
  std::string data = R"({"type":"message_start","message":)";
  const std::int64_t first = std::min<std::int64_t>(1, usage_.completion_tokens);
  append_anthropic_message(data, identity_, {.usage = usage_, .output = first});
  data.push_back('}');
  frames_.write(data, tape, "message_start");
  frames_.write(R"({"type":"ping"})", tape, "ping");
}

// With its comma, unless a fault leaves it out.
std::string AnthropicReply::index_json(std::uint32_t block) const {
  if (faults_.has(Fault::no_index)) return {};
  if (faults_.has(Fault::reuse_index)) block = 0;
  if (faults_.has(Fault::index_from_one)) ++block;
  return ",\"index\":" + std::to_string(block);
}

void AnthropicReply::write_start(std::uint32_t block, std::string_view json, Tape& tape) {
  begin(tape);
  const std::string data = R"({"type":"content_block_start")" + index_json(block) +
                           ",\"content_block\":" + std::string(json) + "}";
  frames_.write(data, tape, "content_block_start");
}

void AnthropicReply::write_delta(std::uint32_t block, std::string_view type, std::string_view field,
                                 std::string_view text, Tape& tape) {
  if (deltas_++ > 0) insert_faulty_frames(tape);
  if (failed_) return;
  std::string data = R"({"type":"content_block_delta")" + index_json(block);
  data.append(R"(,"delta":{"type":")").append(type).append("\",\"").append(field).append("\":");
  append_json_bytes(data, text);
  data += "}}";
  frames_.write(data, tape, "content_block_delta");
}

void AnthropicReply::write_stop(std::uint32_t block, Tape& tape) {
  if (failed_) return;
  frames_.write(R"({"type":"content_block_stop")" + index_json(block) + "}", tape,
                "content_block_stop");
}

void AnthropicReply::say(Open kind, std::string_view text, Tape& tape) {
  const bool thinks = kind == Open::thinking;
  if (open_ != kind) {
    close_prose(tape);
    open_ = kind;
    open_block_ = blocks_++;
    write_start(open_block_,
                thinks ? R"({"type":"thinking","thinking":"","signature":""})"
                       : R"({"type":"text","text":""})",
                tape);
  }
  if (thinks) thinking_ += text;
  write_delta(open_block_, thinks ? "thinking_delta" : "text_delta", thinks ? "thinking" : "text",
              text, tape);
}

void AnthropicReply::close_prose(Tape& tape) {
  const Open was = std::exchange(open_, Open::none);
  if (was == Open::none) return;
  if (was == Open::thinking) {
    write_delta(open_block_, "signature_delta", "signature", signature_of(thinking_), tape);
    thinking_.clear();
  }
  write_stop(open_block_, tape);
}

void AnthropicReply::start_call(const CallStarted& started, Tape& tape) {
  close_prose(tape);
  if (failed_) return;
  if (calls_.size() <= started.call) calls_.resize(started.call + 1);
  CallState& call = calls_[started.call];
  call.block = blocks_++;
  call.start = R"({"type":"tool_use")";
  if (!faults_.has(Fault::no_id)) {
    append_json_bytes(call.start += ",\"id\":",
                      faults_.has(Fault::empty_id) ? std::string_view() : started.native_id);
  }
  if (!faults_.has(Fault::no_name)) append_json_bytes(call.start += ",\"name\":", started.name);
  call.start += ",\"input\":";
  if (faults_.has(Fault::object_arguments)) return;
  write_start(call.block, call.start + "{}}", tape);
  write_delta(call.block, "input_json_delta", "partial_json", "", tape);
}

void AnthropicReply::add_arguments(const ArgumentsDelta& delta, Tape& tape) {
  CallState& call = calls_[delta.call];
  if (faults_.has(Fault::object_arguments)) {
    call.arguments += delta.bytes;
    return;
  }
  write_delta(call.block, "input_json_delta", "partial_json", delta.bytes, tape);
}

void AnthropicReply::finish_call(CallIndex index, Tape& tape) {
  const CallState& call = calls_[index];
  if (faults_.has(Fault::object_arguments)) {
    const std::string_view input = call.arguments.empty() ? "{}" : std::string_view(call.arguments);
    write_start(call.block, call.start + std::string(input) + "}", tape);
  }
  write_stop(call.block, tape);
}

// Sits behind the first delta, or before the end of the message.
void AnthropicReply::insert_faulty_frames(Tape& tape) {
  if (std::exchange(inserted_, true)) return;
  if (faults_.has(Fault::bad_json_frame)) {
    frames_.write(R"({"type":"content_block_delta","index":0,"delta":{"text":"bro)", tape,
                  "content_block_delta");
  }
  if (faults_.has(Fault::empty_frame)) frames_.write("", tape);
  if (faults_.has(Fault::non_object_frame)) frames_.write("[1,2]", tape, "content_block_delta");
  for (const Fault fault : {Fault::error_mid, Fault::error_mid_done, Fault::error_event,
                            Fault::error_string, Fault::error_in_choice}) {
    failed_ = failed_ || faults_.has(fault);
  }
  if (failed_) frames_.write(anthropic_error(529, "Overloaded"), tape, "error");
}

// JSON.
std::string AnthropicReply::stop_word(FinishReason reason) const {
  std::string_view word = stop_reason_of(refusal_.empty() ? reason : FinishReason::content_filter);
  if (!faults_.finish().empty()) word = faults_.finish();
  if (word == "empty") word = "";
  std::string json;
  append_json_bytes(json, word);
  return json;
}

void AnthropicReply::finish(FinishReason reason, Tape& tape) {
  begin(tape);
  close_prose(tape);
  insert_faulty_frames(tape);
  if (failed_ || faults_.finish() == "none") return;
  std::string data = R"({"type":"message_delta","delta":{"stop_reason":)" + stop_word(reason);
  data += R"(,"stop_sequence":null,"stop_details":)" + stop_details(refusal_) + "}";
  if (!faults_.has(Fault::no_usage)) {
    append_anthropic_usage(data += ",\"usage\":", usage_, usage_.completion_tokens);
  }
  data.push_back('}');
  frames_.write(data, tape, "message_delta");
  if (faults_.has(Fault::finish_twice)) frames_.write(data, tape, "message_delta");
}

void AnthropicReply::end(bool marker, Tape& tape) {
  const bool ends = !failed_ || faults_.has(Fault::error_mid_done);
  if (marker && ends && !faults_.has(Fault::no_done)) {
    frames_.write_last(R"({"type":"message_stop"})", tape, "message_stop");
  }
}

std::string AnthropicReply::body(std::span<const EventLog> choices) const {
  const EventLog& log = choices.front();
  const std::string refusal = log.refusal();
  const std::string content = anthropic_content(log, faults_);
  AnthropicMessage message{
      .content = content, .refusal = refusal, .usage = usage_, .output = usage_.completion_tokens};
  if (faults_.finish() != "none") {
    const FinishReason reason = log.reason().value_or(FinishReason::stop);
    message.stop_reason = stop_word(refusal.empty() ? reason : FinishReason::content_filter);
  }
  std::string out;
  append_anthropic_message(out, identity_, message);
  return out;
}

}  // namespace

constinit const ReplyFormat kAnthropicReply{
    .name = "anthropic_messages",
    .id_prefix = "msg_",
    .call_prefix = "toolu_",
    .serves = [](std::string_view path) { return path.ends_with("/messages"); },
    .decode = [](std::string_view,
                 std::string_view body) { return decode_anthropic_request(body); },
    .make_encoder = [](ReplyIdentity identity,
                       const Faults& faults) -> std::unique_ptr<ReplyEncoder> {
      return std::make_unique<AnthropicReply>(std::move(identity), faults);
    },
};

}  // namespace callgate::script
