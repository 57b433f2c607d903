// The whole Messages answer: the same blocks as a stream has, folded.
#include <utility>

#include "client/answer_parts.h"
#include "client/anthropic_messages/anthropic_messages.h"
#include "client/anthropic_messages/messages_encoder.h"
#include "client/openai_chat/openai_usage.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

bool is_json_object(std::string_view text) {
  json::Reader in(text);
  if (in.peek() != json::Kind::object) return false;
  in.skip();
  return in.finish();
}

// A block as it starts, without its closing brace: its members without those that come later.
std::string without_empty(std::string_view start, std::string_view member) {
  const std::size_t at = start.find(member);
  if (at == std::string_view::npos) return std::string(start);
  return std::string(start.substr(0, at)).append(start.substr(at + member.size()));
}

class MessagesWhole final : public MessagesEncoder {
 public:
  using MessagesEncoder::MessagesEncoder;

  void finish(const AnswerEnd& end) override {
    std::string& to = out();
    json::ObjectWriter message(to);
    message.string("id", identity_.id);
    message.string("type", "message");
    message.string("role", "assistant");
    message.string("model", identity_.model);
    message.key("content").append("[").append(content_).append("]");
    to.push_back(',');
    append_stop(to);
    usage_.append_end(message.key("usage"), end);
    to.append(message_fields_).append(end_fields_);
    message.close();
  }

  void note(std::string_view, std::string_view) override {}
  void fail(const Error& error) override { out().append(messages_error_body(error)); }

 private:
  void start_block(std::string_view start) override {
    start_ = start;
    text_.clear();
    citations_.clear();
  }

  void add_text(std::string_view text) override { text_.append(text); }

  void add_native(std::string_view delta) override {
    const std::string type = json::member_text(delta, "type");
    if (type == "citations_delta") {
      const std::string_view citation = json::given_member(delta, "citation");
      if (citation.empty()) return;
      citations_.append(citations_.empty() ? "" : ",");
      append_json_line(citations_, citation);
    } else if (type == "input_json_delta") {
      text_.append(json::member_text(delta, "partial_json"));
    }
  }

  void pass_frame(std::string_view, std::string_view) override {}  // there is no room for events

  void stop_block(std::string_view signature) override {
    std::string block = written(signature);
    if (!citations_.empty()) block.append(",\"citations\":[").append(citations_).append("]");
    content_.append(content_.empty() ? "" : ",").append(block).append("}");
  }

  std::string written(std::string_view signature) const {
    switch (open_) {
      case Open::none:
        break;
      case Open::text: {
        std::string text = R"({"type":"text","text":)";
        json::append_string(text, text_);
        return text.append(without_empty(without_empty(start_, R"({"type":"text","text":"")"),
                                         citations_.empty() ? "" : ",\"citations\":[]"));
      }
      case Open::thinking: {
        std::string text = R"({"type":"thinking","thinking":)";
        json::append_string(text, text_);
        text.append(",\"signature\":").append(signature);
        return text.append(
            without_empty(start_, R"({"type":"thinking","thinking":"","signature":"")"));
      }
      case Open::call:
        return with_input(start_);
      case Open::native:
        return text_.empty() ? start_ : with_input(without_empty(start_, ",\"input\":{}"));
    }
    return start_;
  }

  // Arguments that are no object travel in one.
  std::string with_input(std::string block) const {
    block.append(",\"input\":");
    if (is_json_object(text_)) {
      append_json_line(block, text_);
      return block;
    }
    json::ObjectWriter input(block);
    input.string("raw", text_);
    input.close();
    return block;
  }

  std::string content_;  // blocks that are over
  std::string start_;
  std::string text_;
  std::string citations_;
};

}  // namespace

std::unique_ptr<ResponseEncoder> make_messages_whole(const Request& request,
                                                     const ResponseIdentity& identity) {
  return std::make_unique<MessagesWhole>(request, identity);
}

}  // namespace callgate::client
