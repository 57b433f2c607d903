// gpt-oss: messages with channels and recipients.
//
//   <|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.f<|message|>{}<|call|>
#include <algorithm>

#include "dialect/reference/family.h"
#include "dialect/reference/json_calls.h"

namespace callgate::dialect::reference {
namespace {

const Texts kHeader = {"<|start|>", "<|channel|>"};
const Texts kEnd = {"<|end|>", "<|call|>", "<|return|>"};
const Texts kAll = {"<|start|>", "<|channel|>", "<|constrain|>", "<|message|>",
                    "<|end|>",   "<|call|>",    "<|return|>"};

class Messages {
 public:
  Messages(const ReferenceCase& turn, EventLog& log) : text_(turn.text), log_(log) {
    if (turn.reasoning_open) analysis_ = true;
  }

  bool read() {
    // The prompt may have begun a header: ` to=functions.f`.
    if (!analysis_ && trimmed(text_).starts_with("to=")) return false;
    const std::size_t lead = skip_space(text_, 0);
    if (!analysis_ && !marker_at(text_, lead, kAll).empty()) at_ = lead;
    if (!read_body()) return false;
    while (at_ < text_.size()) {
      if (!read_header() || !(tool_.empty() ? read_body() : read_call())) return false;
    }
    return true;
  }

 private:
  // Prose up to the next header or end of message. False: no opinion.
  bool read_body() {
    const std::size_t end = std::min(find_marker(text_, at_, kAll), text_.size());
    const std::string_view body = text_.substr(at_, end - at_);
    if (!body.empty() && analysis_) log_.accept(ReasoningDelta{body});
    if (!body.empty() && !analysis_) log_.accept(TextDelta{body});
    at_ = end;
    return end_message();
  }

  // Ends of a message, and white space behind them.
  bool end_message() {
    while (at_ < text_.size()) {
      const std::string_view end = marker_at(text_, at_, kEnd);
      if (end.empty()) break;
      at_ = skip_space(text_, at_ + end.size());
    }
    return at_ == text_.size() || !marker_at(text_, at_, kHeader).empty();
  }

  bool read_header() {
    const std::size_t message = text_.find("<|message|>", at_);
    if (message == text_.npos) return false;
    std::string header;
    for (std::size_t i = at_; i < message;) {
      const std::string_view token = marker_at(text_, i, kAll);
      if (!marker_at(text_, i, kEnd).empty() || (token == "<|start|>" && i > at_)) return false;
      header += token.empty() ? text_[i] : ' ';
      i += std::max<std::size_t>(token.size(), 1);
    }
    if (header.size() > 1000) return false;
    at_ = message + 11;
    const auto last = [&](std::string_view word) { return static_cast<long>(header.rfind(word)); };
    analysis_ = last("analysis") > std::max(last("commentary"), last("final"));
    tool_.clear();
    const std::size_t to = header.rfind("to=");
    if (to == std::string::npos) return true;
    tool_ = header.substr(to + 3, header.find_first_of(" \t\r\n<?", to) - to - 3);
    if (tool_.starts_with("functions.")) {
      tool_.erase(0, 10);
      return !tool_.empty();
    }
    for (std::string_view person : {"assistant", "user", "all", "self", "system"}) {
      if (tool_ == person) tool_.clear();
    }
    return true;
  }

  bool read_call() {
    LoggedCall call{.name = tool_};
    at_ = skip_space(text_, at_);
    if (at_ == text_.size()) {
      call.outcome = CallOutcome::truncated;
    } else if (text_[at_] == '{') {
      std::size_t end = 0;
      if (!read_arguments(text_, at_, call, end)) return false;
      at_ = skip_space(text_, end);
    } else if (marker_at(text_, at_, kAll).empty()) {
      return false;
    } else {
      call.arguments = "{}";
    }
    log_call(call, log_);
    return end_message();
  }

  const std::string_view text_;
  EventLog& log_;
  std::size_t at_ = 0;
  bool analysis_ = false;
  std::string tool_;
};

}  // namespace

bool harmony(const ReferenceCase& turn, EventLog& log) { return Messages(turn, log).read(); }

}  // namespace callgate::dialect::reference
