// Members of a Chat Completions answer that callgate does not know. They reach the client as they are.
#include "upstream/openai_chat/openai_others.h"

#include <algorithm>
#include <array>
#include <functional>

#include "upstream/openai_chat/openai_answer.h"
#include "upstream/openai_chat/openai_usage.h"

namespace callgate::upstream {
namespace {

constexpr std::size_t kMaxOthersBytes = std::size_t{32} << 20;
// Of the turn's members, whose last value is kept to see what is new.
constexpr std::size_t kMaxTurnMembers = 64;

bool is_inside(std::string_view part, std::string_view document) {
  const std::less<const char*> before;
  return !before(part.data(), document.data()) &&
         before(part.data(), document.data() + document.size());
}

// Members with a meaning of their own, whose value has a form that is not read.
bool is_misshapen(std::string_view name) {
  static constexpr std::array<std::string_view, 5> kNames = {"choices", "delta", "message",
                                                             "function", "function_call"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

bool says_nothing(std::string_view json) { return json == "[]" || json == "{}" || json == "\"\""; }

}  // namespace

void OtherMember::clear() {
  name.clear();
  json = {};
}

bool is_envelope_member(std::string_view name) {
  static constexpr std::array<std::string_view, 7> kNames = {
      "id", "object", "created", "model", "p", "callgate", "obfuscation"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

void AnswerReader::keep_other(std::string_view key, OtherMembers& others) {
  const bool named = !key.empty() && !is_misshapen(key);
  if (!named || in_.peek() == json::Kind::null || others_bytes_ > kMaxOthersBytes) {
    return in_.skip();
  }
  OtherMember& other = others.add();
  if (is_inside(key, document_)) {
    other.name = key;
  } else {
    other.name.copy(key);
  }
  other.json = in_.raw();
  others_bytes_ += other.name.view().size() + other.json.size();
}

// {"x_groq":{"id":"req_1","usage":{...}}}: where the server puts the counts of a stream.
void AnswerReader::read_usage_of_others() {
  for (const OtherMember& other : answer_.others) {
    if (other.name.view() != "x_groq" || !other.json.starts_with('{')) continue;
    json::Reader in(other.json);
    for (std::string_view key; in.next_member(key);) {
      const bool found = key == "usage" && in.peek() == json::Kind::object;
      const std::string_view value = in.raw();
      if (!found) continue;
      answer_.usage_json = value;
      json::Reader usage(value);
      answer_.usage = read_openai_usage(usage);
    }
  }
}

void TurnMembers::report(const OtherMembers& others, EventSink& sink) {
  for (const OtherMember& other : others) {
    const std::string_view name = other.name.view();
    auto known = std::find_if(last_.begin(), last_.end(),
                              [&](const auto& member) { return member.first == name; });
    if (known == last_.end()) {
      if (last_.size() == kMaxTurnMembers) continue;
      known = last_.emplace(last_.end(), name, "");
    }
    if (known->second == other.json) continue;
    known->second = other.json;
    sink.accept(FieldReported{FieldReported::Scope::turn, name, other.json});
  }
}

void report_others(FieldReported::Scope scope, const OtherMembers& others, bool whole,
                   EventSink& sink) {
  for (const OtherMember& other : others) {
    if (!whole && says_nothing(other.json)) continue;
    sink.accept(FieldReported{scope, other.name.view(), other.json});
  }
}

}  // namespace callgate::upstream
