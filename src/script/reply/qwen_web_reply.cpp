#include "script/reply/qwen_web_reply.h"

#include "json/reader.h"
#include "json/writer.h"
#include "script/reply/frame_writer.h"
#include "script/reply/json_bytes.h"

namespace callgate::script {
namespace {

constexpr std::string_view kQwenWebError =
    R"({"error":{"code":"Internal_Error","details":"The model failed while it was answering."},"response_id":)";

class QwenWebReply final : public ReplyEncoder {
 public:
  QwenWebReply(ReplyIdentity identity, const Faults& faults)
      : identity_(std::move(identity)), faults_(faults), frames_(faults) {
    if (identity_.place.empty()) {
      identity_.place = {.chat_id = "chat-1", .parent_id = "msg-1", .response_id = identity_.id};
    }
  }

  void push(std::uint32_t choice, const Event& event, Tape& tape) override;
  void end(bool, Tape&) override {}
  void frame(std::string_view json, Tape& tape) override {
    begin(tape);
    frames_.write(json, tape);
  }
  std::string_view stream_type() const override { return "text/event-stream"; }
  std::string body(std::span<const EventLog> choices) const override;
  std::string error_body(int status, std::string_view message) const override;

 private:
  enum class Phase : std::uint8_t { none, think, answer, builtin };

  void begin(Tape& tape);
  void enter(Phase phase, Tape& tape);
  void say(Phase phase, std::string_view text, Tape& tape);
  void write(std::string_view text, std::string_view status, std::string_view call, Tape& tape);
  void finish(FinishReason reason, Tape& tape);
  void insert_faulty_frames(Tape& tape);
  std::string_view phase_name() const;

  ReplyIdentity identity_;
  const Faults& faults_;
  FrameWriter frames_;
  Phase phase_ = Phase::none;
  Usage usage_;
  std::string call_name_;
  std::string call_arguments_;
  bool begun_ = false;
  bool inserted_ = false;
  bool failed_ = false;
};

void QwenWebReply::push(std::uint32_t choice, const Event& event, Tape& tape) {
  if (failed_ || choice != 0) return;
  std::visit(Overloaded{
                 [&](const TextDelta& e) { say(Phase::answer, e.text, tape); },
                 [&](const ReasoningDelta& e) { say(Phase::think, e.text, tape); },
                 [&](const RefusalDelta& e) { say(Phase::answer, e.text, tape); },
                 [&](const CallStarted& e) {
                   call_name_ = e.name;
                   call_arguments_.clear();
                 },
                 [&](const ArgumentsDelta& e) { call_arguments_ += e.bytes; },
                 [&](const CallFinished&) {
                   begin(tape);
                   enter(Phase::builtin, tape);
                   std::string call = "{\"name\":";
                   append_json_bytes(call, call_name_);
                   call +=
                       ",\"arguments\":" + (call_arguments_.empty() ? "{}" : call_arguments_) + "}";
                   write("", "finished", call, tape);
                 },
                 [&](const FieldReported&) {},
                 [&](const UsageReported& e) { usage_ = e.usage; },
                 [&](const TurnFinished& e) { finish(e.reason, tape); },
             },
             event);
}

void QwenWebReply::begin(Tape& tape) {
  if (std::exchange(begun_, true)) return;
  const ReplyPlace& place = identity_.place;
  std::string frame;
  json::ObjectWriter outer(frame);
  json::ObjectWriter created(outer.key("response.created"));
  created.string("chat_id", place.chat_id);
  created.string("parent_id", place.parent_id);
  created.string("response_id", place.response_id);
  created.close();
  outer.close();
  frames_.write(frame + " ", tape);
}

std::string_view QwenWebReply::phase_name() const {
  switch (phase_) {
    case Phase::think:
      return "think";
    case Phase::none:
    case Phase::answer:
      return "answer";
    case Phase::builtin:
      return "code_interpreter";
  }
  return {};
}

// A phase that another one follows is finished first; calls of built-in tools are phases of their own.
void QwenWebReply::enter(Phase phase, Tape& tape) {
  if (phase_ == Phase::think && phase != phase_) write("", "finished", {}, tape);
  phase_ = phase;
}

void QwenWebReply::say(Phase phase, std::string_view text, Tape& tape) {
  const bool first = !begun_;
  begin(tape);
  if (!first) insert_faulty_frames(tape);
  if (failed_) return;
  enter(phase, tape);
  write(text, "typing", {}, tape);
}

void QwenWebReply::write(std::string_view text, std::string_view status, std::string_view call,
                         Tape& tape) {
  std::string frame = R"({"choices":[{"delta":{"role":"assistant","content":)";
  append_json_bytes(frame, text);
  frame.append(R"(,"phase":")").append(phase_name()).append(R"(","status":")").append(status);
  frame.push_back('"');
  if (!call.empty()) frame.append(",\"function_call\":").append(call);
  frame += "}}],\"response_id\":";
  append_json_bytes(frame, identity_.place.response_id);
  if (status != "finished" && !faults_.has(Fault::no_usage)) {
    json::ObjectWriter usage(frame.append(",\"usage\":"));
    usage.integer("input_tokens", usage_.prompt_tokens);
    usage.integer("output_tokens", usage_.completion_tokens);
    usage.integer("characters", 0);
    usage.integer("total_tokens", usage_.total_tokens);
    usage.raw("output_tokens_details",
              "{\"reasoning_tokens\":" + std::to_string(usage_.reasoning_tokens) + "}");
    usage.raw("prompt_tokens_details",
              "{\"cached_tokens\":" + std::to_string(usage_.cached_tokens) + "}");
    usage.close();
  }
  frame += ",\"timestamp\":" + std::to_string(identity_.created) + "}";
  frames_.write(frame, tape);
}

// Sits behind the first frame with content, or before the end.
void QwenWebReply::insert_faulty_frames(Tape& tape) {
  if (std::exchange(inserted_, true)) return;
  if (faults_.has(Fault::bad_json_frame)) {
    frames_.write(R"({"choices":[{"delta":{"content":"bro)", tape);
  }
  if (faults_.has(Fault::empty_frame)) frames_.write("", tape);
  if (faults_.has(Fault::non_object_frame)) frames_.write("[1,2]", tape);
  if (!faults_.has(Fault::error_mid)) return;
  std::string error(kQwenWebError);
  append_json_bytes(error, identity_.place.response_id);
  frames_.write(error + "}", tape);
  failed_ = true;
}

void QwenWebReply::finish(FinishReason reason, Tape& tape) {
  begin(tape);
  insert_faulty_frames(tape);
  if (failed_) return;
  enter(Phase::answer, tape);
  if (faults_.finish() == "none") return;
  if (reason == FinishReason::upstream_error) {
    failed_ = true;
    std::string error(kQwenWebError);
    append_json_bytes(error, identity_.place.response_id);
    return frames_.write(error + "}", tape);
  }
  write("", "finished", {}, tape);
}

std::string QwenWebReply::body(std::span<const EventLog> choices) const {
  std::string out;
  json::ObjectWriter object(out);
  object.boolean("success", true);
  object.string("request_id", identity_.id);
  json::ObjectWriter inner(object.key("data"));
  inner.string("parent_id", identity_.place.parent_id);
  inner.string("message_id", identity_.place.response_id);
  std::string& list = inner.key("choices");
  list += "[{\"message\":{\"role\":\"assistant\",\"content\":";
  append_json_bytes(list, choices.empty() ? std::string() : choices[0].text());
  list += "}}]";
  inner.close();
  object.close();
  return out;
}

std::string QwenWebReply::error_body(int status, std::string_view message) const {
  switch (status) {
    case 400:
      return qwen_web_error_body("Bad_Request", message);
    case 401:
      return qwen_web_error_body("unauthorized", message);
    case 404:
      return qwen_web_error_body("Not_Found", message);
    case 429:
      return qwen_web_error_body("RateLimited", message);
    default:
      return qwen_web_error_body("Internal_Error", message);
  }
}

void read_qwen_web_message(json::Reader& in, QwenWebPost& post) {
  for (std::string_view key; in.next_member(key);) {
    if (key == "content" && in.peek() == json::Kind::string) {
      post.content = in.string();
    } else if (key == "feature_config" && in.peek() == json::Kind::object) {
      for (std::string_view inner; in.next_member(inner);) {
        if (inner == "thinking_enabled" && in.peek() == json::Kind::boolean) {
          post.thinking = in.boolean();
        } else {
          in.skip();
        }
      }
    } else {
      in.skip();
    }
  }
}

void read_qwen_web_member(json::Reader& in, std::string_view key, QwenWebPost& post) {
  const json::Kind kind = in.peek();
  const bool is_text = kind == json::Kind::string;
  if (key == "chat_id" && is_text) {
    post.chat_id = in.string();
  } else if (key == "parent_id" && is_text) {
    post.parent_id = in.string();
  } else if (key == "model" && is_text) {
    post.model = in.string();
  } else if (key == "stream" && kind == json::Kind::boolean) {
    post.stream = in.boolean();
  } else if (key == "messages" && kind == json::Kind::array) {
    while (in.next_element()) {
      if (in.peek() == json::Kind::object) {
        read_qwen_web_message(in, post);
      } else {
        in.skip();
      }
    }
  } else {
    in.skip();
  }
}

Result<Request> decode(std::string_view, std::string_view body) {
  auto post = read_qwen_web_post(body);
  if (!post) return tl::unexpected(post.error());
  Request request;
  request.model = std::move(post->model);
  request.stream = post->stream;
  request.include_usage = true;
  Message& message = request.messages.emplace_back();
  json::append_string(message.content.text, post->content);
  if (post->thinking) request.extra.push_back({"reasoning_effort", {"\"medium\""}});
  return request;
}

}  // namespace

Result<QwenWebPost> read_qwen_web_post(std::string_view body) {
  QwenWebPost post;
  json::Reader in(body);
  if (in.peek() != json::Kind::object) {
    return fail(ErrorCode::invalid_request, "expected a JSON object");
  }
  for (std::string_view key; in.next_member(key);) read_qwen_web_member(in, key, post);
  if (!in.finish()) {
    return fail(ErrorCode::invalid_request,
                "not valid JSON: expected " + std::string(in.error().message));
  }
  if (post.model.empty()) return fail(ErrorCode::invalid_request, "model is missing", "model");
  return post;
}

std::string qwen_web_error_body(std::string_view code, std::string_view details) {
  std::string out;
  json::ObjectWriter object(out);
  object.boolean("success", false);
  object.string("request_id", "req-1");
  json::ObjectWriter inner(object.key("data"));
  inner.string("code", code);
  inner.string("details", details);
  inner.close();
  object.close();
  return out;
}

const ReplyFormat kQwenWebReply{
    .name = "qwen_web",
    .id_prefix = "resp-",
    .call_prefix = "call_",
    .call_dialect = "generic_xml",
    .serves = [](std::string_view path) { return path.ends_with("/v2/chat/completions"); },
    .decode = decode,
    .make_encoder = [](ReplyIdentity identity,
                       const Faults& faults) -> std::unique_ptr<ReplyEncoder> {
      return std::make_unique<QwenWebReply>(std::move(identity), faults);
    },
};

}  // namespace callgate::script
