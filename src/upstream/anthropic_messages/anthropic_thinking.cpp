#include "upstream/anthropic_messages/anthropic_thinking.h"

#include "json/writer.h"
#include "upstream/anthropic_messages/anthropic_messages.h"

namespace callgate::upstream {
namespace {

// Bytes of one thinking block that can be sent back.
constexpr std::size_t kMaxThinking = std::size_t{8} << 20;

}  // namespace

void SignedThinking::add(std::size_t position, std::string_view text, EventSink& sink) {
  if (block_ != position) close(sink);
  block_ = position;
  if (text_.size() + text.size() > kMaxThinking) too_long_ = true;
  if (!too_long_) text_.append(halves_.push(text, joined_));
}

void SignedThinking::sign(std::size_t position, std::string_view signature) {
  if (block_ == position) signature_ = signature;
}

void SignedThinking::close(EventSink& sink) {
  text_.append(halves_.finish());
  if (block_ && !signature_.empty() && !too_long_) {
    detail_ = "[";
    json::ObjectWriter item(detail_);
    item.string("type", "reasoning.text");
    item.string("text", text_);
    item.string("signature", signature_);
    item.string("format", kAnthropicReasoning);
    item.integer("index", static_cast<std::int64_t>(*block_));
    item.close();
    detail_.push_back(']');
    sink.accept(FieldReported{FieldReported::Scope::message, "reasoning_details", detail_});
  }
  block_.reset();
  text_.clear();
  signature_.clear();
  too_long_ = false;
}

void SignedThinking::report_redacted(std::size_t position, std::string_view data, EventSink& sink) {
  if (data.empty()) return;
  detail_ = "[";
  json::ObjectWriter item(detail_);
  item.string("type", "reasoning.encrypted");
  item.string("data", data);
  item.string("format", kAnthropicReasoning);
  item.integer("index", static_cast<std::int64_t>(position));
  item.close();
  detail_.push_back(']');
  sink.accept(FieldReported{FieldReported::Scope::message, "reasoning_details", detail_});
}

}  // namespace callgate::upstream
