#include "script/reply/openai_chat_reply.h"

#include <vector>

#include "json/writer.h"
#include "script/reply/frame_writer.h"
#include "script/reply/json_bytes.h"
#include "script/reply/openai_chat_call.h"
#include "script/reply/openai_chat_envelope.h"
#include "script/reply/openai_chat_message.h"

namespace callgate::script {
namespace {

constexpr std::string_view kChatError =
    R"({"message":"The server had an error while processing your request.","type":"server_error",)"
    R"("param":null,"code":null})";

class OpenAiChatReply final : public ReplyEncoder {
 public:
  OpenAiChatReply(ReplyIdentity identity, const Faults& faults)
      : faults_(faults),
        envelope_(std::move(identity), faults),
        frames_(faults),
        choices_(envelope_.identity().choices) {}

  void push(std::uint32_t choice, const Event& event, Tape& tape) override;
  void end(bool marker, Tape& tape) override;
  void frame(std::string_view json, Tape& tape) override { frames_.write(json, tape); }
  std::string_view stream_type() const override { return "text/event-stream"; }
  std::string body(std::span<const EventLog> choices) const override;
  std::string error_body(int status, std::string_view message) const override {
    return openai_error_body(status, message);
  }

 private:
  struct CallState {
    std::string id;
    std::string name;
    std::string arguments;  // only where the call is written in one piece
    std::uint32_t deltas = 0;
  };
  struct Choice {
    bool begun = false;
    std::vector<CallState> calls;
    std::string elements;   // of a tool_calls array that takes several calls
    std::string held_back;  // the last delta of a call, which leaves with the finish
  };

  bool legacy() const {
    return envelope_.identity().legacy_functions || faults_.has(Fault::legacy_function_call);
  }
  bool writes_whole_calls() const {
    return faults_.has(Fault::whole_calls) || faults_.has(Fault::calls_in_one_frame) ||
           faults_.has(Fault::object_arguments);
  }

  void begin(std::uint32_t choice, Tape& tape);
  void say(std::uint32_t choice, const Event& event, Tape& tape);
  void start_call(std::uint32_t choice, const CallStarted& started, Tape& tape);
  void add_arguments(std::uint32_t choice, const ArgumentsDelta& delta, Tape& tape);
  void finish_call(std::uint32_t choice, CallIndex call, Tape& tape);
  void finish(std::uint32_t choice, FinishReason reason, Tape& tape);
  void write_call(std::uint32_t choice, CallDelta delta, Tape& tape);
  void write_elements(std::uint32_t choice, Tape& tape);
  void write_held_back(std::uint32_t choice, Tape& tape);
  void write_delta(std::uint32_t choice, std::string_view delta, Tape& tape);
  void insert_faulty_frames(Tape& tape);
  void write_usage(Tape& tape);
  std::string finish_word(FinishReason reason) const;

  const Faults& faults_;
  ChatEnvelope envelope_;
  FrameWriter frames_;
  std::vector<Choice> choices_;
  std::uint32_t deltas_ = 0;  // frames with content so far
  bool inserted_ = false;     // the frames of insert_faulty_frames() are out
  bool failed_ = false;       // an error ended the stream
};

void OpenAiChatReply::push(std::uint32_t choice, const Event& event, Tape& tape) {
  if (failed_) return;
  std::visit(Overloaded{
                 [&](const TextDelta&) { say(choice, event, tape); },
                 [&](const ReasoningDelta&) { say(choice, event, tape); },
                 [&](const RefusalDelta&) { say(choice, event, tape); },
                 [&](const CallStarted& e) { start_call(choice, e, tape); },
                 [&](const ArgumentsDelta& e) { add_arguments(choice, e, tape); },
                 [&](const CallFinished& e) { finish_call(choice, e.call, tape); },
                 [&](const FieldReported&) {},
                 [&](const UsageReported& e) { envelope_.set_usage(e.usage); },
                 [&](const TurnFinished& e) { finish(choice, e.reason, tape); },
             },
             event);
}

void OpenAiChatReply::begin(std::uint32_t choice, Tape& tape) {
  Choice& state = choices_[choice];
  if (state.begun) return;
  state.begun = true;
  if (choice == 0 && faults_.has(Fault::empty_choices_first)) {
    frames_.write(envelope_.empty_choices_frame(), tape);
  }
  std::string delta;
  json::ObjectWriter object(delta);
  if (faults_.has(Fault::null_role)) {
    object.null("role");
  } else if (!faults_.has(Fault::no_role)) {
    object.string("role", "assistant");
  }
  object.raw("content", faults_.has(Fault::null_content) ? "null" : "\"\"");
  object.close();
  frames_.write(envelope_.frame(choice, delta, {}), tape);
}

void OpenAiChatReply::write_delta(std::uint32_t choice, std::string_view delta, Tape& tape) {
  begin(choice, tape);
  if (deltas_ > 0) insert_faulty_frames(tape);
  if (failed_) return;
  ++deltas_;
  frames_.write(envelope_.frame(choice, delta, {}), tape);
}

void OpenAiChatReply::say(std::uint32_t choice, const Event& event, Tape& tape) {
  write_elements(choice, tape);
  write_held_back(choice, tape);
  write_delta(choice, said_delta(event, faults_), tape);
}

void OpenAiChatReply::start_call(std::uint32_t choice, const CallStarted& started, Tape& tape) {
  std::vector<CallState>& calls = choices_[choice].calls;
  if (calls.size() <= started.call) calls.resize(started.call + 1);
  calls[started.call] = {.id = std::string(started.native_id), .name = std::string(started.name)};
  if (writes_whole_calls()) return;
  const std::string_view name = started.name;
  CallDelta delta{.call = started.call};
  if (!faults_.has(Fault::late_arguments)) delta.arguments = "";
  if (!faults_.has(Fault::split_name)) {
    delta.name = name;
    write_call(choice, delta, tape);
    return;
  }
  delta.name = name.substr(0, name.size() / 2);
  write_call(choice, delta, tape);
  delta.name = name.substr(name.size() / 2);
  write_call(choice, delta, tape);
}

void OpenAiChatReply::add_arguments(std::uint32_t choice, const ArgumentsDelta& delta, Tape& tape) {
  CallState& call = choices_[choice].calls[delta.call];
  if (writes_whole_calls()) {
    call.arguments += delta.bytes;
    return;
  }
  CallDelta written{.call = delta.call, .arguments = delta.bytes};
  if (faults_.has(Fault::repeat_name)) written.name = call.name;
  write_call(choice, written, tape);
}

void OpenAiChatReply::finish_call(std::uint32_t choice, CallIndex call, Tape& tape) {
  if (!writes_whole_calls()) return;
  const CallState& state = choices_[choice].calls[call];
  write_call(choice, {.call = call, .name = state.name, .arguments = state.arguments}, tape);
}

void OpenAiChatReply::write_call(std::uint32_t choice, CallDelta delta, Tape& tape) {
  Choice& state = choices_[choice];
  CallState& call = state.calls[delta.call];
  delta.id = call.id;
  delta.number = call.deltas++;
  std::string json;
  if (legacy()) {
    append_function(json, delta, faults_);
    json = "{\"function_call\":" + json + "}";
  } else {
    append_call_delta(json, delta, faults_);
    if (faults_.has(Fault::calls_in_one_frame)) {
      if (!state.elements.empty()) state.elements.push_back(',');
      state.elements += json;
      return;
    }
    const std::string_view role = faults_.has(Fault::repeat_role) ? "\"role\":\"assistant\"," : "";
    const std::string_view content = faults_.has(Fault::null_content) ? "\"content\":null," : "";
    json = std::string("{").append(role).append(content) + "\"tool_calls\":[" + json + "]}";
  }
  write_held_back(choice, tape);
  if (faults_.has(Fault::finish_with_call)) {
    state.held_back = std::move(json);
  } else {
    write_delta(choice, json, tape);
  }
}

void OpenAiChatReply::write_elements(std::uint32_t choice, Tape& tape) {
  std::string& elements = choices_[choice].elements;
  if (elements.empty()) return;
  const std::string delta = "{\"tool_calls\":[" + elements + "]}";
  elements.clear();
  if (faults_.has(Fault::finish_with_call)) {
    choices_[choice].held_back = delta;
  } else {
    write_delta(choice, delta, tape);
  }
}

void OpenAiChatReply::write_held_back(std::uint32_t choice, Tape& tape) {
  std::string& held_back = choices_[choice].held_back;
  if (held_back.empty()) return;
  write_delta(choice, held_back, tape);
  held_back.clear();
}

// Sits behind the first frame with content, or before the finish.
void OpenAiChatReply::insert_faulty_frames(Tape& tape) {
  if (inserted_) return;
  inserted_ = true;
  const std::string error = "{\"error\":" + std::string(kChatError) + "}";
  if (faults_.has(Fault::bad_json_frame)) {
    frames_.write(R"({"choices":[{"index":0,"delta":{"content":"bro)", tape);
  }
  if (faults_.has(Fault::empty_frame)) frames_.write("", tape);
  if (faults_.has(Fault::non_object_frame)) frames_.write("[1,2]", tape);
  failed_ = true;
  if (faults_.has(Fault::error_mid) || faults_.has(Fault::error_mid_done)) {
    frames_.write(error, tape);
  } else if (faults_.has(Fault::error_event)) {
    frames_.write(error, tape, "error");
  } else if (faults_.has(Fault::error_string)) {
    frames_.write(R"({"error":"The server had an error."})", tape);
  } else if (faults_.has(Fault::error_in_choice)) {
    frames_.write(envelope_.error_in_choice_frame(kChatError), tape);
  } else {
    failed_ = false;
  }
}

std::string OpenAiChatReply::finish_word(FinishReason reason) const {
  if (faults_.finish() == "empty") return {};
  if (!faults_.finish().empty()) return faults_.finish();
  if (reason == FinishReason::upstream_error) return "error";
  if (reason == FinishReason::tool_calls && legacy()) return "function_call";
  return std::string(to_string(reason));
}

void OpenAiChatReply::finish(std::uint32_t choice, FinishReason reason, Tape& tape) {
  begin(choice, tape);
  write_elements(choice, tape);
  insert_faulty_frames(tape);
  if (failed_) return;
  if (faults_.finish() == "none") {
    write_held_back(choice, tape);
    return;
  }
  std::string word;
  append_json_bytes(word, finish_word(reason));
  std::string& held_back = choices_[choice].held_back;
  frames_.write(envelope_.frame(choice, held_back.empty() ? "{}" : held_back, word), tape);
  held_back.clear();
  if (faults_.has(Fault::finish_twice)) frames_.write(envelope_.frame(choice, "{}", word), tape);
}

void OpenAiChatReply::write_usage(Tape& tape) {
  const bool asked = envelope_.identity().include_usage || faults_.has(Fault::usage_unasked);
  if (asked && !faults_.has(Fault::no_usage) && !faults_.has(Fault::usage_on_finish)) {
    frames_.write(envelope_.usage_frame(), tape);
  }
}

void OpenAiChatReply::end(bool marker, Tape& tape) {
  const bool late_usage = faults_.has(Fault::usage_after_done);
  if (!failed_ && !late_usage) write_usage(tape);
  const bool ends = !failed_ || faults_.has(Fault::error_mid_done);
  if (marker && ends && !faults_.has(Fault::no_done)) frames_.write_last("[DONE]", tape);
  if (!failed_ && late_usage) write_usage(tape);
  if (!failed_ && faults_.has(Fault::text_after_done)) {
    frames_.write(envelope_.frame(0, R"({"content":"after the end"})", {}), tape);
  }
}

std::string OpenAiChatReply::body(std::span<const EventLog> choices) const {
  std::string array = "[";
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (i != 0) array.push_back(',');
    json::ObjectWriter object(array);
    if (!faults_.has(Fault::no_choice_index)) object.integer("index", static_cast<std::int64_t>(i));
    append_message(object.key("message"), choices[i], legacy(), faults_);
    object.null("logprobs");
    if (faults_.finish() == "none") {
      object.null("finish_reason");
    } else {
      const FinishReason reason = choices[i].reason().value_or(FinishReason::stop);
      append_json_bytes(object.key("finish_reason"), finish_word(reason));
    }
    object.close();
  }
  array.push_back(']');
  return envelope_.body(array);
}

}  // namespace

constinit const ReplyFormat kOpenAiChatReply{
    .name = "openai_chat",
    .id_prefix = "chatcmpl-",
    .call_prefix = "call_",
    .serves =
        [](std::string_view path) {
          return path.ends_with("/chat/completions") && !path.ends_with("/v2/chat/completions");
        },
    .make_encoder = [](ReplyIdentity identity,
                       const Faults& faults) -> std::unique_ptr<ReplyEncoder> {
      return std::make_unique<OpenAiChatReply>(std::move(identity), faults);
    },
};

}  // namespace callgate::script
