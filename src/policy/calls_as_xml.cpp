#include "policy/calls_as_xml.h"

#include <algorithm>

#include "json/reader.h"
#include "json/writer.h"

namespace callgate::policy {
namespace {

bool is_tag(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '-' || c == '.';
  };
  return !name.empty() && name != "name" && std::all_of(name.begin(), name.end(), fits);
}

// A value between its tags: no other tag may be taken for its end, and white space at its ends may go.
bool reads_back(std::string_view text) {
  constexpr std::string_view kWhite = " \t\r\n";
  if (text.empty()) return true;
  return text.find("</") == std::string_view::npos &&
         kWhite.find(text.front()) == std::string_view::npos &&
         kWhite.find(text.back()) == std::string_view::npos;
}

}  // namespace

void CallsAsXml::push(const Event& event, EventSink& next) {
  std::visit(Overloaded{
                 [&](const TextDelta&) {
                   after_block_ = false;
                   next.accept(event);
                 },
                 [&](const ReasoningDelta&) { next.accept(event); },
                 [&](const RefusalDelta&) { next.accept(event); },
                 [&](const CallStarted& e) { start(e, next); },
                 [&](const ArgumentsDelta& e) { arguments(e, next); },
                 [&](const CallFinished& e) { finish(e, next); },
                 [&](const FieldReported& e) {
                   if (!only_ || e.scope != FieldReported::Scope::call) next.accept(event);
                 },
                 [&](const UsageReported&) { next.accept(event); },
                 [&](const TurnFinished& e) {
                   const bool call_is_text = only_ && e.reason == FinishReason::tool_calls;
                   next.accept(TurnFinished{call_is_text ? FinishReason::stop : e.reason});
                 },
             },
             event);
}

void CallsAsXml::start(const CallStarted& event, EventSink& next) {
  state_ = State::holding_back;
  arguments_.clear();
  name_ = event.name;
  block_ = after_block_ ? delimiter_ : "";
  block_ += "<use_tool>\n";
  if (!only_) next.accept(event);
}

void CallsAsXml::arguments(const ArgumentsDelta& event, EventSink& next) {
  if (!only_) next.accept(event);
  arguments_.append(event.bytes);
  if (state_ == State::holding_back && arguments_.size() > max_held_back_) {
    state_ = State::too_large;
    block_.append("  <name>").append(name_).append("</name>\n  <arguments>");
  }
  if (state_ != State::too_large) return;
  block_ += arguments_;
  arguments_.clear();
  // The text of a call stands after the call: calls do not interleave with anything.
  if (!only_) return;
  next.accept(TextDelta{block_});
  block_.clear();
}

void CallsAsXml::finish(const CallFinished& event, EventSink& next) {
  if (!only_) next.accept(event);
  if (state_ == State::too_large) {
    block_ += "</arguments>\n";
  } else if (const std::size_t mark = block_.size(); !write_members()) {
    block_.resize(mark);
    write_json();
  }
  block_ += "</use_tool>";
  after_block_ = true;
  next.accept(TextDelta{block_});
}

// False: the arguments are not an object, or would not be read back as they are.
bool CallsAsXml::write_members() {
  json::Reader in(arguments_);
  if (in.peek() != json::Kind::object || !reads_back(name_)) return false;
  block_.append("  <name>").append(name_).append("</name>\n");
  std::string name;
  for (std::string_view key; in.next_member(key);) {
    name = key;
    const bool is_text = in.peek() == json::Kind::string;
    const std::string_view value = is_text ? in.string() : in.raw();
    if (!is_tag(name) || !reads_back(value)) return false;
    block_.append("  <").append(name).append(">").append(value);
    block_.append("</").append(name).append(">\n");
  }
  return in.finish();
}

void CallsAsXml::write_json() {
  json::Reader in(arguments_);
  const bool is_object = in.peek() == json::Kind::object;
  in.skip();
  if (!is_object || !in.finish()) {
    block_.append("  <name>").append(name_).append("</name>\n  <arguments>");
    block_.append(arguments_).append("</arguments>\n");
    return;
  }
  json::ObjectWriter object(block_);
  object.string("name", name_);
  object.raw("arguments", arguments_);
  object.close();
  block_ += '\n';
}

}  // namespace callgate::policy
