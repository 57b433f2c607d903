// Events -> the frames of a Messages stream. Hot: what is constant in the deltas of a block is built once.
#include <utility>

#include "chat/token_estimate.h"
#include "client/answer_parts.h"
#include "client/anthropic_messages/anthropic_messages.h"
#include "client/anthropic_messages/messages_encoder.h"
#include "client/openai_chat/openai_usage.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

class MessagesStream final : public MessagesEncoder {
 public:
  // REQUIRES: the request outlives the encoder.
  MessagesStream(const Request& request, const ResponseIdentity& identity)
      : MessagesEncoder(request, identity), request_(request) {}

  void finish(const AnswerEnd& end) override {
    begin();
    std::string& to = out();
    if (!end.counters.empty()) to.append(": ").append(end.counters).append("\n\n");
    to.append("event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{");
    append_stop(to);
    to.append("},\"usage\":");
    usage_.append_end(to, end);
    to.append(end_fields_).append("}\n\n");
    to.append("event: message_stop\ndata: {\"type\":\"message_stop\"");
    end_frame("message_stop");
  }

  // SDKs pass over a ping, whatever stands in it.
  void note(std::string_view name, std::string_view json) override {
    begin();
    out().append("event: ping\ndata: {\"type\":\"ping\"");
    append_frame_member(out(), name, json);
    out().append("}\n\n");
  }

  void fail(const Error& error) override {
    out().append("event: error\ndata: ").append(messages_error_body(error)).append("\n\n");
  }

 private:
  // After the frame's last known member.
  void end_frame(std::string_view type) {
    if (members_wait()) out().append(take_members(type).of_frame);
    out().append("}\n\n");
  }

  // After the delta's last known member.
  void end_delta() {
    if (members_wait()) {
      const FrameMembers members = take_members("content_block_delta");
      out().append(members.of_delta).append("}").append(members.of_frame).append("}\n\n");
    } else {
      out().append("}}\n\n");
    }
  }

  void begin() {
    if (std::exchange(began_, true)) return;
    std::string& to = out();
    to.append("event: message_start\ndata: {\"type\":\"message_start\",\"message\":");
    json::ObjectWriter message(to);
    message.string("id", identity_.id);
    message.string("type", "message");
    message.string("role", "assistant");
    message.string("model", identity_.model);
    message.raw("content", "[]");
    message.null("stop_reason");
    message.null("stop_sequence");
    // LangChain reads the size of the prompt here alone, but most upstreams say it at the end. Others take it from the end.
    const bool guess = identity_.estimates && !usage_.is_known();
    usage_.append_start(message.key("usage"), guess ? estimate_tokens(request_) : 0);
    to.append(message_fields_);
    message.close();
    end_frame("message_start");
  }

  void start_block(std::string_view start) override {
    begin();
    std::string& to = out();
    to.append("event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":");
    json::append_integer(to, static_cast<std::int64_t>(index_));
    to.append(",\"content_block\":").append(start);
    if (open_ == Open::call) to.append(",\"input\":{}");
    to.append("}");
    end_frame("content_block_start");
    delta_.assign("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":");
    json::append_integer(delta_, static_cast<std::int64_t>(index_));
    delta_.append(",\"delta\":");
    text_delta_.assign(delta_).append(kind_of_delta());
  }

  std::string_view kind_of_delta() const {
    switch (open_) {
      case Open::text:
        return R"({"type":"text_delta","text":")";
      case Open::thinking:
        return R"({"type":"thinking_delta","thinking":")";
      case Open::call:
      case Open::native:
      case Open::none:
        return R"({"type":"input_json_delta","partial_json":")";
    }
    return {};
  }

  void add_text(std::string_view text) override {
    std::string& to = out();
    to.append(text_delta_);
    json::append_escaped(to, text);
    to.push_back('"');
    end_delta();
  }

  void add_native(std::string_view delta) override {
    out().append(delta_);
    append_json_line(out(), delta);
    out().append("}\n\n");
  }

  void stop_block(std::string_view signature) override {
    std::string& to = out();
    if (open_ == Open::thinking && signature != "\"\"") {
      to.append(delta_).append(R"({"type":"signature_delta","signature":)");
      to.append(signature);
      end_delta();
    }
    to.append("event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":");
    json::append_integer(to, static_cast<std::int64_t>(index_));
    end_frame("content_block_stop");
  }

  void pass_frame(std::string_view type, std::string_view frame) override {
    // A line break in its name would make it another frame.
    if (type.empty() || type.find_first_of("\r\n") != std::string_view::npos) return;
    begin();
    out().append("event: ").append(type).append("\ndata: ");
    append_json_line(out(), frame);
    out().append("\n\n");
  }

  const Request& request_;
  bool began_ = false;
  std::string delta_;       // what a delta of the open block starts with
  std::string text_delta_;  // and one with text
};

}  // namespace

std::unique_ptr<ResponseEncoder> make_messages_stream(const Request& request,
                                                      const ResponseIdentity& identity) {
  return std::make_unique<MessagesStream>(request, identity);
}

}  // namespace callgate::client
