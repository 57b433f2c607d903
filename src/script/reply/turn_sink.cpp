#include "script/reply/turn_sink.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace callgate::script {
namespace {

// U+10FE80 stands for the byte 80, and so on.
constexpr char32_t kHidden = 0x10FE00;
constexpr std::string_view kHiddenStart = "\xF4\x8F";

std::string_view* text_of(TextDelta& event) { return &event.text; }
std::string_view* text_of(ReasoningDelta& event) { return &event.text; }
std::string_view* text_of(RefusalDelta& event) { return &event.text; }
std::string_view* text_of(ArgumentsDelta& event) { return &event.bytes; }
template <class Other>
std::string_view* text_of(Other&) {
  return nullptr;
}

}  // namespace

void append_hidden_bytes(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const std::size_t bad = std::min(utf8::find_invalid(text), text.size());
    out.append(text.substr(0, bad));
    text.remove_prefix(bad);
    if (text.empty()) return;
    utf8::append_code_point(out, kHidden + static_cast<unsigned char>(text.front()));
    text.remove_prefix(1);
  }
}

void restore_hidden_bytes(std::string& text) {
  std::size_t at = 0;
  while ((at = text.find(kHiddenStart, at)) != std::string::npos && at + 4 <= text.size()) {
    const auto third = static_cast<unsigned char>(text[at + 2]);
    const auto fourth = static_cast<unsigned char>(text[at + 3]);
    if (third != 0xBA && third != 0xBB) {
      ++at;
      continue;
    }
    text.replace(at, 4, 1, static_cast<char>(0x80 | (third & 1) << 6 | (fourth & 0x3F)));
    ++at;
  }
}

void TurnSink::accept(const Event& event) {
  if (wire_.seal != nullptr) seal_before(event);
  refused_ = refused_ || std::holds_alternative<RefusalDelta>(event);
  const auto* finished = std::get_if<TurnFinished>(&event);
  if (finished != nullptr && refused_ && wire_.filters) {
    next_.accept(TurnFinished{FinishReason::content_filter});
  } else {
    pass(event);
  }
}

void TurnSink::pass(const Event& event) {
  Event passed = event;
  std::string hidden;
  std::visit(
      [&](auto& e) {
        if (std::string_view* text = text_of(e); text != nullptr && !utf8::is_valid(*text)) {
          append_hidden_bytes(hidden, *text);
          *text = hidden;
        }
      },
      passed);
  hidden_ = hidden_ || !hidden.empty();
  next_.accept(passed);
}

void TurnSink::seal(SealPoint point, std::string_view text) {
  if (text.empty()) return;
  const std::string details = wire_.seal(point, text);
  if (details.empty()) return;
  next_.accept(FieldReported{FieldReported::Scope::message, "reasoning_details", details});
}

void TurnSink::seal_before(const Event& event) {
  if (std::holds_alternative<UsageReported>(event)) return;
  if (const auto* reasoning = std::get_if<ReasoningDelta>(&event)) {
    thought_ += reasoning->text;
    all_thought_ += reasoning->text;
    return;
  }
  seal(SealPoint::thought, std::exchange(thought_, {}));
  if (const auto* started = std::get_if<CallStarted>(&event)) {
    if (started->call == 0) call_ = started->name;
    called_ = true;
  } else if (const auto* arguments = std::get_if<ArgumentsDelta>(&event)) {
    if (arguments->call == 0) call_ += arguments->bytes;
  } else if (const auto* finished = std::get_if<CallFinished>(&event)) {
    if (finished->call == 0) seal(SealPoint::first_call, call_);
  } else if (std::holds_alternative<TurnFinished>(event) && !called_) {
    seal(SealPoint::turn, all_thought_);
  }
}

}  // namespace callgate::script
