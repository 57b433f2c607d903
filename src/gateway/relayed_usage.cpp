#include "gateway/relayed_usage.h"

#include <algorithm>

#include "json/reader.h"
#include "upstream/openai_chat/openai_usage.h"

namespace callgate::server {
namespace {

constexpr std::string_view kUsage = "usage";

// Nothing: it counts something else, such as seconds. What is not stated is none: no more will come.
std::optional<Usage> read_usage(std::string_view json) {
  json::Reader whole(json);
  whole.skip();
  if (!whole.finish()) return std::nullopt;
  std::optional<Usage> usage = upstream::read_stated_usage(json);
  if (!usage) return usage;
  if (!usage->prompt_stated) {
    usage->prompt_tokens =
        std::max<std::int64_t>(0, usage->total_tokens - usage->completion_tokens);
  }
  usage->prompt_stated = usage->completion_stated = true;
  usage->total_tokens = usage->prompt_tokens + usage->completion_tokens;
  return usage;
}

}  // namespace

RelayedUsage::RelayedUsage(std::string_view content_type)
    : wanted_(content_type.find("json") != std::string_view::npos),
      events_(content_type.starts_with("text/event-stream")) {}

void RelayedUsage::push(std::string_view bytes) {
  if (!wanted_ && !events_) return;
  for (const char c : bytes) {
    if (events_ && (c == '\n' || c == '\r')) {
      begin_document();
    } else {
      step(c);
    }
  }
}

void RelayedUsage::begin_document() {
  depth_ = 0;
  string_ = escaped_ = value_ = false;
  name_.clear();
  captured_.clear();
}

void RelayedUsage::step(char c) {
  const bool captures = value_ && name_ == kUsage && captured_.size() < kMostUsage;
  if (captures && (depth_ > 1 || c == '{')) captured_ += c;
  if (string_) return in_string(c);
  switch (c) {
    case '"':
      string_ = depth_ > 0;  // what stands before the object is an event's name
      if (depth_ == 1 && !value_) name_.clear();
      break;
    case '{':
    case '[':
      ++depth_;
      break;
    case '}':
    case ']':
      if (depth_ > 0) --depth_;
      if (depth_ == 1) end_value();
      break;
    case ':':
      value_ = value_ || depth_ == 1;
      break;
    case ',':
      if (depth_ == 1) value_ = false;
      break;
    default:
      break;
  }
}

void RelayedUsage::in_string(char c) {
  if (!escaped_ && c == '"') {
    string_ = false;
    return;
  }
  escaped_ = !escaped_ && c == '\\';
  if (depth_ == 1 && !value_ && name_.size() <= kUsage.size()) name_ += c;
}

void RelayedUsage::end_value() {
  if (captured_.empty()) return;
  if (const auto usage = read_usage(captured_)) usage_ = usage;
  captured_.clear();
}

}  // namespace callgate::server
