#include "script/reply/codex_proto_reply.h"

#include "json/writer.h"
#include "script/replay_log.h"

namespace callgate::script {
namespace {

class CodexProtoReply final : public ReplyEncoder {
 public:
  CodexProtoReply(ReplyIdentity identity, const Faults& faults)
      : identity_(std::move(identity)), faults_(faults) {}

  void push(std::uint32_t choice, const Event& event, Tape& tape) override;
  void end(bool, Tape&) override {}
  void frame(std::string_view json, Tape& tape) override {
    tape.bytes().append(json).push_back('\n');
    tape.end_frame();
  }
  std::string_view stream_type() const override { return "application/x-ndjson"; }
  std::string body(std::span<const EventLog> choices) const override {
    CodexProtoReply encoder(identity_, faults_);
    Tape tape;
    replay_log(choices.front(), [&](const Event& event) { encoder.push(0, event, tape); });
    return tape.bytes();
  }
  std::string error_body(int status, std::string_view message) const override;

 private:
  enum class Speech : std::uint8_t { none, message, reasoning };

  static std::string line_of(std::string_view type, std::string_view members);
  void write(std::string_view type, std::string_view members, Tape& tape) {
    frame(line_of(type, members), tape);
  }
  void begin(Tape& tape);
  void say(Speech kind, std::string_view text, Tape& tape);
  void close(Tape& tape);
  void write_command(Tape& tape);
  void finish(FinishReason reason, Tape& tape);
  void fail(std::string_view message, Tape& tape);

  const ReplyIdentity identity_;
  const Faults& faults_;
  bool begun_ = false;
  bool failed_ = false;
  Speech speech_ = Speech::none;
  std::string text_;
  std::string last_message_ = "null";
  std::string call_id_;
  std::string name_;
  std::string arguments_;
  Usage usage_;
};

std::string member(std::string_view name, std::string_view text) {
  std::string out = ",\"" + std::string(name) + "\":";
  json::append_string(out, text);
  return out;
}

std::string CodexProtoReply::line_of(std::string_view type, std::string_view members) {
  std::string line = R"({"id":"1","msg":{"type":)";
  json::append_string(line, type);
  return line.append(members) + "}}";
}

void CodexProtoReply::push(std::uint32_t choice, const Event& event, Tape& tape) {
  if (failed_ || choice != 0) return;
  begin(tape);
  std::visit(Overloaded{
                 [&](const TextDelta& e) { say(Speech::message, e.text, tape); },
                 [&](const ReasoningDelta& e) { say(Speech::reasoning, e.text, tape); },
                 [&](const RefusalDelta& e) { say(Speech::message, e.text, tape); },
                 [&](const CallStarted& e) {
                   close(tape);
                   call_id_ = e.native_id;
                   name_ = e.name;
                   arguments_.clear();
                 },
                 [&](const ArgumentsDelta& e) { arguments_ += e.bytes; },
                 [&](const CallFinished&) { write_command(tape); },
                 [&](const FieldReported&) {},
                 [&](const UsageReported& e) { usage_ = e.usage; },
                 [&](const TurnFinished& e) { finish(e.reason, tape); },
             },
             event);
}

void CodexProtoReply::begin(Tape& tape) {
  if (std::exchange(begun_, true)) return;
  write("task_started", ",\"model_context_window\":null", tape);
  write("token_count", ",\"info\":null", tape);
}

void CodexProtoReply::say(Speech kind, std::string_view text, Tape& tape) {
  if (speech_ != kind) close(tape);
  speech_ = kind;
  if (!text_.empty() && faults_.has(Fault::bad_json_frame)) frame(R"({"id":"1","msg":{"ty)", tape);
  if (!text_.empty() && faults_.has(Fault::error_mid)) return fail("stream disconnected", tape);
  text_ += text;
  const bool is_message = kind == Speech::message;
  write(is_message ? "agent_message_delta" : "agent_reasoning_delta", member("delta", text), tape);
}

void CodexProtoReply::close(Tape& tape) {
  const std::string text = std::exchange(text_, {});
  switch (std::exchange(speech_, Speech::none)) {
    case Speech::none:
      return;
    case Speech::message:
      last_message_.clear();
      json::append_string(last_message_, text);
      return write("agent_message", member("message", text), tape);
    case Speech::reasoning:
      return write("agent_reasoning", member("text", text), tape);
  }
}

void CodexProtoReply::write_command(Tape& tape) {
  std::string command = ",\"command\":[";
  json::append_string(command, name_);
  command.push_back(',');
  json::append_string(command, arguments_);
  write("exec_command_begin", member("call_id", call_id_) + command + "]", tape);
  write("exec_command_end",
        member("call_id", call_id_) + R"(,"stdout":"","stderr":"","exit_code":0)", tape);
}

void CodexProtoReply::fail(std::string_view message, Tape& tape) {
  write("error", member("message", message), tape);
  write("task_complete", ",\"last_agent_message\":null", tape);
  failed_ = true;
}

void CodexProtoReply::finish(FinishReason reason, Tape& tape) {
  close(tape);
  switch (reason) {
    case FinishReason::length:
      return fail("Incomplete response returned, reason: max_output_tokens", tape);
    case FinishReason::content_filter:
      return fail("Incomplete response returned, reason: content_filter", tape);
    case FinishReason::upstream_error:
      return fail("stream disconnected", tape);
    case FinishReason::stop:
    case FinishReason::tool_calls:
      break;
  }
  std::string usage;
  json::ObjectWriter object(usage);
  object.integer("input_tokens", usage_.prompt_tokens);
  object.integer("cached_input_tokens", usage_.cached_tokens);
  object.integer("output_tokens", usage_.completion_tokens);
  object.integer("reasoning_output_tokens", usage_.reasoning_tokens);
  object.integer("total_tokens", usage_.total_tokens);
  object.close();
  write("token_count",
        ",\"info\":{\"total_token_usage\":" + usage + ",\"last_token_usage\":" + usage + "}", tape);
  write("task_complete", ",\"last_agent_message\":" + last_message_, tape);
}

std::string CodexProtoReply::error_body(int status, std::string_view message) const {
  const std::string text =
      "unexpected status " + std::to_string(status) + ": " + std::string(message);
  return line_of("error", member("message", text)) + "\n" +
         line_of("task_complete", ",\"last_agent_message\":null") + "\n";
}

}  // namespace

constinit const ReplyFormat kCodexProtoReply{
    .name = "codex_proto",
    .id_prefix = "resp_",
    .call_prefix = "call_",
    .serves = [](std::string_view) { return false; },  // it is spoken over pipes
    .make_encoder = [](ReplyIdentity identity,
                       const Faults& faults) -> std::unique_ptr<ReplyEncoder> {
      return std::make_unique<CodexProtoReply>(std::move(identity), faults);
    },
};

}  // namespace callgate::script
