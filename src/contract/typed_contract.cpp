#include "contract/typed_contract.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "base/utf8.h"
#include "contract/chat_contract.h"
#include "contract/chat_contract_call.h"
#include "contract/chat_contract_json.h"
#include "contract/event_contract.h"
#include "json/member.h"
#include "json/writer.h"

namespace callgate::contract {
namespace {

// Bytes that are searched again with the next ones: a key or a marker may be cut.
constexpr std::size_t kSearchOverlap = 512;

enum EventRuleId : std::uint8_t {
  kTypedStatus,
  kTypedContentType,
  kTypedComplete,
  kTypedClosed,
  kTypedJson,
  kTypedCharacters,
  kTypedNoError,
  kTypedName,
  kTypedCallMade,
  kTypedForced,
  kTypedDeclared,
  kTypedCallId,
  kTypedArgumentsJson,
  kTypedArgumentsFit,
  kTypedNoMarkup,
  kTypedNoSecrets,
  kEventRuleCount,
};

constexpr std::array<ObjectRule, kEventRuleCount> kEventRules = {{
    {"status_ok", "the status is 200"},
    {"content_type", "the content type is `text/event-stream`"},
    {"stream_complete", "the connection ends in order, after the event that ends the turn"},
    {"frames_closed", "every frame ends with a blank line, the last one included"},
    {"frames_are_json", "every frame is one JSON object with a `type`"},
    {"whole_characters", "no frame has half a UTF-8 character or half a surrogate pair"},
    {"no_error", "no event is an error"},
    {"event_name", "the `event:` line of a frame names its `type`"},
    {"call_made", "the model calls the tool"},
    {"forced_tool", "with a forced tool, that tool is called and no other"},
    {"tool_is_declared", "every call names a declared tool"},
    {"call_id", "every call has an id of its own"},
    {"arguments_are_json", "the fragments of a call join to a JSON object"},
    {"arguments_fit_tool", "the arguments have what the tool requires, with its types"},
    {"no_markup", "no text has markers of calls"},
    {"no_secrets", "nothing in the answer is a key"},
}};

bool is_typed_stream(std::string_view content_type) {
  return to_lower(trimmed(content_type.substr(0, content_type.find(';')))) == "text/event-stream";
}

}  // namespace

std::span<const ObjectRule> event_rules() { return kEventRules; }

TypedContract::TypedContract(const ContractTerms& terms, std::span<const ObjectRule> own_rules)
    : terms_(terms), own_rules_(own_rules), verdicts_(kEventRuleCount + own_rules.size()) {
  for (std::size_t i = 0; i < verdicts_.size(); ++i) {
    verdicts_[i].rule =
        i < kEventRuleCount ? kEventRules[i].name : own_rules_[i - kEventRuleCount].name;
  }
}

void TypedContract::judge(std::size_t row, bool good, std::string seen) {
  RuleVerdict& verdict = verdicts_[row];
  if (verdict.verdict == Verdict::fail) return;  // the first one is shown
  verdict.verdict = good ? Verdict::pass : Verdict::fail;
  verdict.seen = mask_secrets(seen, terms_.secrets);
}

void TypedContract::fail(std::size_t rule, std::string_view what) {
  judge(kEventRuleCount + rule, false, place() + ": " + excerpt(what, 160));
}
void TypedContract::pass(std::size_t rule, std::string seen) {
  judge(kEventRuleCount + rule, true, std::move(seen));
}
void TypedContract::fail_error(std::string_view json) {
  judge(kTypedNoError, false, place() + ": " + excerpt(json, 200));
}
void TypedContract::fail_name(std::string_view what) {
  judge(kTypedName, false, place() + ": " + excerpt(what));
}

void TypedContract::accept_head(int status, std::string_view content_type,
                                std::string_view other_headers) {
  judge(kTypedStatus, status == 200, std::to_string(status));
  refused_ = status != 200;
  if (!refused_) judge(kTypedContentType, is_typed_stream(content_type), excerpt(content_type));
  search_secrets(other_headers);
  overlap_.clear();
}

void TypedContract::search_secrets(std::string_view bytes) {
  overlap_.append(bytes);
  if (const std::string found = find_secret(overlap_, terms_.secrets); !found.empty()) {
    judge(kTypedNoSecrets, false, found);
  }
  if (overlap_.size() <= kSearchOverlap) return;
  overlap_.erase(0, overlap_.size() - kSearchOverlap);
  overlap_.front() = 'x';  // the rest of a word, as far as we know; a key here was seen before
}

void TypedContract::push(std::string_view bytes) {
  search_secrets(bytes);
  bytes_ += bytes.size();
  if (refused_) return;
  decoder_.push(bytes, [this](const SseFrame& frame) { take_frame(frame); });
}

void TypedContract::take_frame(const SseFrame& frame) {
  ++progress_.frames;
  std::string data;
  utf8::append_sanitized(data, frame.data);
  if (data != frame.data) judge(kTypedCharacters, false, place() + ": half a character");
  const bool object = kind_of(data) == json::Kind::object && is_well_formed(data);
  TypedEvent event{.name = frame.event, .type = {}, .json = data};
  if (object) event.type = json::member_text(data, "type");
  if (event.type.empty()) return judge(kTypedJson, false, place() + ": " + excerpt(data));
  if (has_half_surrogate(data)) judge(kTypedCharacters, false, place() + ": half a pair");
  if (event.name != event.type && !event.name.empty()) {
    fail_name(std::string(event.name) + " for " + event.type);
  }
  take(event);
}

void TypedContract::finish(std::string_view cut) {
  if (!refused_) {
    bool closed = true;
    decoder_.finish([&](const SseFrame& frame) {
      closed = false;
      take_frame(frame);
    });
    judge(kTypedClosed, closed, closed ? "yes" : "the last frame has no blank line");
    judge_stream(cut);
    judge_calls();
    if (progress_.frames > 0) judge_end();
  }
  flush_said();
  judge(kTypedNoSecrets, true, "none");
}

void TypedContract::judge_stream(std::string_view cut) {
  judge(kTypedComplete, cut.empty() && has_ended(),
        !cut.empty()  ? std::string(cut)
        : has_ended() ? "yes"
                      : "nothing says that the turn ended");
  judge(kTypedJson, progress_.frames > 0, std::to_string(progress_.frames) + " frames");
  judge(kTypedCharacters, true, std::to_string(bytes_) + " bytes");
  judge(kTypedNoError, true, "none");
  judge(kTypedName, true, std::to_string(progress_.frames) + " frames");
  judge(kTypedNoMarkup, true, "none");
}

void TypedContract::judge_calls() {
  const std::string seen = std::to_string(calls_) + (calls_ == 1 ? " call" : " calls");
  judge(kTypedCallMade, calls_ > 0 || !terms_.call_expected, seen);
  verdicts_[kTypedForced].seen = "no tool was forced";
  if (calls_ == 0) return;
  if (!terms_.forced_tool.empty()) judge(kTypedForced, true, seen);
  for (const EventRuleId rule :
       {kTypedDeclared, kTypedCallId, kTypedArgumentsJson, kTypedArgumentsFit}) {
    judge(rule, true, seen);
  }
}

std::vector<RuleVerdict> TypedContract::verdicts() const { return verdicts_; }

void TypedContract::say(std::string_view kind, std::string_view text) {
  if (text.empty()) return;
  if (kind != "finish") progress_.said = true;
  if (kind == "content") search_markup(text);
  if (kind != said_kind_) flush_said();
  said_kind_ = kind;
  said_ += text;
}

void TypedContract::flush_said() {
  if (!said_.empty()) {
    transcript_.append(said_kind_).push_back(' ');
    json::append_string(transcript_, mask_secrets(said_, terms_.secrets));
    transcript_.push_back('\n');
  }
  said_.clear();
  said_kind_.clear();
}

void TypedContract::search_markup(std::string_view text) {
  text_tail_ += text;
  for (const std::string_view marker : terms_.markers) {
    if (text_tail_.find(marker) == std::string::npos) continue;
    judge(kTypedNoMarkup, false, place() + ": the text has " + std::string(marker));
  }
  if (text_tail_.size() > kSearchOverlap) {
    text_tail_.erase(0, text_tail_.size() - kSearchOverlap);
  }
}

TypedCall& TypedContract::begin_call(std::string id, std::string name) {
  progress_.said = true;
  ++progress_.calls_begun;
  ++calls_;
  if (id.empty()) judge(kTypedCallId, false, place() + ": none");
  if (!id.empty() && !call_ids_.insert(id).second) {
    judge(kTypedCallId, false, place() + ": \"" + excerpt(id) + "\" again");
  }
  if (!terms_.forced_tool.empty() && name != terms_.forced_tool) {
    judge(kTypedForced, false, place() + ": \"" + excerpt(name) + "\"");
  }
  call_ = {.id = std::move(id), .name = std::move(name), .arguments = {}, .scanner = {}};
  return call_;
}

void TypedContract::add_arguments(TypedCall& call, std::string_view fragment) {
  const bool was_whole = call.scanner.state() == json::Scanner::State::closed;
  call.arguments += fragment;
  call.scanner.push(fragment);
  if (!was_whole && call.scanner.state() == json::Scanner::State::closed) ++progress_.calls_whole;
}

void TypedContract::end_call(const TypedCall& call, bool empty_is_object) {
  const std::string arguments = call.arguments.empty() && empty_is_object
                                    ? "{}"
                                    : mask_secrets(call.arguments, terms_.secrets);
  const bool object = kind_of(arguments) == json::Kind::object && is_well_formed(arguments);
  if (!object) judge(kTypedArgumentsJson, false, place() + ": " + excerpt(arguments));
  const auto tool = std::find_if(terms_.tools.begin(), terms_.tools.end(),
                                 [&](const ToolSpec& known) { return known.name == call.name; });
  if (tool == terms_.tools.end()) {
    judge(kTypedDeclared, false, place() + ": \"" + excerpt(call.name) + "\"");
  } else if (object) {
    const std::string fault = misfit(arguments, tool->parameters.text);
    if (!fault.empty()) judge(kTypedArgumentsFit, false, place() + ": " + fault);
  }
  flush_said();
  transcript_.append("call ");
  json::append_string(transcript_, call.name);
  transcript_.push_back(' ');
  json::append_compact(transcript_, object ? std::string_view(arguments) : "null");
  transcript_.push_back('\n');
}

}  // namespace callgate::contract
