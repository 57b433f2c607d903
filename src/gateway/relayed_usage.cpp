#include "gateway/relayed_usage.h"

#include <algorithm>

#include "json/reader.h"

namespace callgate::server {
namespace {

constexpr std::string_view kUsage = "usage";

// Nothing: it counts something else, such as seconds.
std::optional<Usage> read_usage(std::string_view json) {
  std::optional<std::int64_t> prompt;
  std::optional<std::int64_t> completion;
  std::optional<std::int64_t> total;
  json::Reader in(json);
  for (std::string_view name; in.next_member(name);) {
    std::optional<std::int64_t>* count = nullptr;
    if (name == "prompt_tokens" || name == "input_tokens") count = &prompt;
    if (name == "completion_tokens" || name == "output_tokens") count = &completion;
    if (name == "total_tokens") count = &total;
    if (count == nullptr || in.peek() != json::Kind::number) {
      in.skip();
    } else {
      *count = in.integer();
    }
  }
  if (!in.finish() || (!prompt && !completion && !total)) return std::nullopt;
  Usage usage;
  usage.completion_tokens = std::max<std::int64_t>(0, completion.value_or(0));
  usage.prompt_tokens =
      std::max<std::int64_t>(0, prompt.value_or(total.value_or(0) - usage.completion_tokens));
  usage.total_tokens = usage.prompt_tokens + usage.completion_tokens;
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
