#include "script/reply/codex_app_server_reply.h"

#include "json/reader.h"
#include "json/writer.h"
#include "script/replay_log.h"

namespace callgate::script {
namespace {

constexpr std::string_view kBroken =
    "stream disconnected before completion: stream closed before response.completed";

bool is_json_value(std::string_view text) {
  json::Reader in(text);
  in.skip();
  return in.finish();
}

std::string line_of(std::string_view method, std::string_view params) {
  std::string line;
  json::ObjectWriter object(line);
  object.string("method", method);
  object.raw("params", params);
  object.close();
  return line;
}

std::string error_of(std::string_view message, int status) {
  std::string error;
  json::ObjectWriter object(error);
  object.string("message", message);
  if (status == 0) {
    object.string("codexErrorInfo", "other");
  } else {
    json::ObjectWriter kind(object.key("codexErrorInfo"));
    json::ObjectWriter http(kind.key("httpConnectionFailed"));
    http.integer("httpStatusCode", status);
    http.close();
    kind.close();
  }
  object.null("additionalDetails");
  object.close();
  return error;
}

// A turn that failed: the error, and the end that repeats it.
std::string failure_lines(std::string_view message, int status) {
  const std::string error = error_of(message, status);
  return line_of("error", "{\"error\":" + error + ",\"willRetry\":false}") + "\n" +
         line_of("turn/completed",
                 R"({"turn":{"items":[],"status":"failed","error":)" + error + "}}");
}

class CodexAppServerReply final : public ReplyEncoder {
 public:
  CodexAppServerReply(ReplyIdentity identity, const Faults& faults)
      : identity_(std::move(identity)), faults_(faults) {}

  void push(std::uint32_t choice, const Event& event, Tape& tape) override;
  void end(bool, Tape&) override {}
  void frame(std::string_view json, Tape& tape) override {
    tape.bytes().append(json).push_back('\n');
    tape.end_frame();
  }
  std::string_view stream_type() const override { return "application/x-ndjson"; }
  std::string body(std::span<const EventLog> choices) const override;
  std::string error_body(int status, std::string_view message) const override {
    return failure_lines(message, status) + "\n";
  }

 private:
  enum class Item : std::uint8_t { none, message, reasoning };

  void write(std::string_view method, std::string_view params, Tape& tape) {
    frame(line_of(method, params), tape);
  }
  void say(Item kind, std::string_view text, Tape& tape);
  void open(Item kind, Tape& tape);
  void close(Tape& tape);
  void write_call(Tape& tape);
  void finish(FinishReason reason, Tape& tape);
  void fail(std::string_view message, Tape& tape);
  std::string item_json(bool done) const;
  std::string usage_json() const;

  const ReplyIdentity identity_;
  const Faults& faults_;
  Item item_ = Item::none;
  int items_ = 0;
  std::string text_;
  std::string call_id_;
  std::string name_;
  std::string arguments_;
  int calls_ = 0;
  Usage usage_;
  bool failed_ = false;
};

void CodexAppServerReply::push(std::uint32_t choice, const Event& event, Tape& tape) {
  if (failed_ || choice != 0) return;
  std::visit(Overloaded{
                 [&](const TextDelta& e) { say(Item::message, e.text, tape); },
                 [&](const ReasoningDelta& e) { say(Item::reasoning, e.text, tape); },
                 [&](const RefusalDelta& e) { say(Item::message, e.text, tape); },
                 [&](const CallStarted& e) {
                   close(tape);
                   call_id_ = e.native_id;
                   name_ = e.name;
                   arguments_.clear();
                 },
                 [&](const ArgumentsDelta& e) { arguments_ += e.bytes; },
                 [&](const CallFinished&) { write_call(tape); },
                 [&](const FieldReported&) {},
                 [&](const UsageReported& e) { usage_ = e.usage; },
                 [&](const TurnFinished& e) { finish(e.reason, tape); },
             },
             event);
}

std::string CodexAppServerReply::item_json(bool done) const {
  std::string json;
  json::ObjectWriter object(json);
  object.string("type", item_ == Item::message ? "agentMessage" : "reasoning");
  object.string("id", (item_ == Item::message ? "msg_" : "rs_") + std::to_string(items_));
  if (item_ == Item::message) {
    object.string("text", done ? text_ : "");
  } else {
    std::string& summary = object.key("summary");
    summary.push_back('[');
    if (done) json::append_string(summary, text_);
    summary.push_back(']');
  }
  object.close();
  return json;
}

void CodexAppServerReply::open(Item kind, Tape& tape) {
  if (item_ == kind) return;
  close(tape);
  item_ = kind;
  ++items_;
  write("item/started", "{\"item\":" + item_json(false) + "}", tape);
}

void CodexAppServerReply::close(Tape& tape) {
  if (item_ == Item::none) return;
  write("item/completed", "{\"item\":" + item_json(true) + "}", tape);
  item_ = Item::none;
  text_.clear();
}

void CodexAppServerReply::say(Item kind, std::string_view text, Tape& tape) {
  open(kind, tape);
  if (!text_.empty() && faults_.has(Fault::bad_json_frame)) {
    frame(R"({"method":"item/agentMessage/delta","params":{"delta":"bro)", tape);
  }
  if (!text_.empty() && faults_.has(Fault::error_mid)) return fail(kBroken, tape);
  text_ += text;
  std::string params;
  json::ObjectWriter object(params);
  object.string("itemId", (kind == Item::message ? "msg_" : "rs_") + std::to_string(items_));
  object.string("delta", text);
  object.close();
  const std::string_view method =
      kind == Item::message ? "item/agentMessage/delta" : "item/reasoning/summaryTextDelta";
  write(method, params, tape);
}

// The call as the model wrote it, then codex' request to run it.
void CodexAppServerReply::write_call(Tape& tape) {
  std::string raw;
  json::ObjectWriter item(raw);
  item.string("type", "function_call");
  item.string("name", name_);
  item.string("arguments", arguments_);
  item.string("call_id", call_id_);
  item.close();
  write("rawResponseItem/completed", "{\"item\":" + raw + "}", tape);
  std::string line;
  json::ObjectWriter request(line);
  request.string("method", "item/tool/call");
  request.integer("id", calls_++);
  json::ObjectWriter params(request.key("params"));
  params.string("callId", call_id_);
  params.null("namespace");
  params.string("tool", name_);
  if (is_json_value(arguments_)) {
    params.raw("arguments", arguments_);
  } else {
    params.string("arguments", arguments_);
  }
  params.close();
  request.close();
  frame(line, tape);
}

std::string CodexAppServerReply::usage_json() const {
  std::string json;
  json::ObjectWriter object(json);
  object.integer("totalTokens", usage_.total_tokens);
  object.integer("inputTokens", usage_.prompt_tokens);
  object.integer("cachedInputTokens", usage_.cached_tokens);
  object.integer("cacheWriteInputTokens", usage_.cache_write_tokens);
  object.integer("outputTokens", usage_.completion_tokens);
  object.integer("reasoningOutputTokens", usage_.reasoning_tokens);
  object.close();
  return json;
}

void CodexAppServerReply::fail(std::string_view message, Tape& tape) {
  frame(failure_lines(message, 0), tape);
  failed_ = true;
}

void CodexAppServerReply::finish(FinishReason reason, Tape& tape) {
  close(tape);
  switch (reason) {
    case FinishReason::length:
      return fail("Incomplete response returned, reason: max_output_tokens", tape);
    case FinishReason::content_filter:
      return fail("Incomplete response returned, reason: content_filter", tape);
    case FinishReason::upstream_error:
      return fail(kBroken, tape);
    case FinishReason::stop:
    case FinishReason::tool_calls:
      break;
  }
  std::string done = "{\"responseId\":";
  json::append_string(done, identity_.id);
  write("rawResponse/completed", done + ",\"usage\":" + usage_json() + "}", tape);
  if (calls_ > 0) return;
  write("turn/completed", R"({"turn":{"items":[],"status":"completed","error":null}})", tape);
}

std::string CodexAppServerReply::body(std::span<const EventLog> choices) const {
  CodexAppServerReply encoder(identity_, faults_);
  Tape tape;
  replay_log(choices.front(), [&](const Event& event) { encoder.push(0, event, tape); });
  return tape.bytes();
}

}  // namespace

constinit const ReplyFormat kCodexAppServerReply{
    .name = "codex_app_server",
    .id_prefix = "resp_",
    .call_prefix = "call_",
    .serves = [](std::string_view) { return false; },  // it is spoken over pipes
    .make_encoder = [](ReplyIdentity identity,
                       const Faults& faults) -> std::unique_ptr<ReplyEncoder> {
      return std::make_unique<CodexAppServerReply>(std::move(identity), faults);
    },
};

}  // namespace callgate::script
