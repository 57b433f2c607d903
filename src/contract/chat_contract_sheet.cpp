#include "contract/chat_contract_sheet.h"

#include <utility>

#include "json/writer.h"

namespace callgate::contract {
namespace {

struct RuleRow {
  ContractRule rule;
  Evidence evidence;
  ContractRuleText text;
};
using enum ContractRule;

constexpr std::array<RuleRow, kContractRuleCount> kRules{{
    {status_ok, Evidence::head, {"status_ok", "The status is 200."}},
    {content_type, Evidence::head, {"content_type", "The content type is `text/event-stream`."}},
    {stream_complete,
     Evidence::stream,
     {"stream_complete", "The answer ends in order: not cut, not reset, not silent for too long."}},
    {frames_closed,
     Evidence::stream,
     {"frames_closed", "Every frame ends with a blank line, the last one too."}},
    {frames_are_json,
     Evidence::frames,
     {"frames_are_json", "Every frame but `[DONE]` is a JSON object."}},
    {whole_characters,
     Evidence::frames,
     {"whole_characters", "No frame has half a UTF-8 character or half a surrogate pair."}},
    {no_error, Evidence::frames, {"no_error", "No frame is an error, in any of the usual forms."}},
    {frame_object,
     Evidence::frames,
     {"frame_object", "`object` is `chat.completion.chunk` in every frame."}},
    {frame_id, Evidence::frames, {"frame_id", "Every frame has the same `id`, not empty."}},
    {frame_created,
     Evidence::frames,
     {"frame_created", "Every frame has the same `created`, an integer."}},
    {frame_model,
     Evidence::frames,
     {"frame_model", "Every frame has the same `model`, not empty."}},
    {choices_array,
     Evidence::frames,
     {"choices_array", "Every frame has `choices`, an array, also the one with the usage."}},
    {choice_index,
     Evidence::choices,
     {"choice_index", "Every choice has an integer `index` below the number of choices."}},
    {choice_delta, Evidence::choices, {"choice_delta", "Every choice has `delta`, an object."}},
    {finish_reason_present,
     Evidence::choices,
     {"finish_reason_present", "Every choice has `finish_reason`, `null` until the last one."}},
    {role_first,
     Evidence::choices,
     {"role_first", "The first delta of a choice has `role`: `assistant`."}},
    {role_once, Evidence::choices, {"role_once", "No later delta has a `role`."}},
    {text_is_string,
     Evidence::choices,
     {"text_is_string", "Content, refusal and reasoning are strings or `null`."}},
    {deltas_not_empty,
     Evidence::choices,
     {"deltas_not_empty", "No delta between the first and the last is empty."}},
    {call_made, Evidence::stream, {"call_made", "The model makes a call when one is expected."}},
    {forced_tool,
     Evidence::stream,
     {"forced_tool", "With a forced tool, that tool is called and no other."}},
    {no_legacy_call,
     Evidence::choices,
     {"no_legacy_call", "Calls are in `tool_calls`, never in the old `function_call`."}},
    {one_call_per_delta,
     Evidence::calls,
     {"one_call_per_delta", "`tool_calls` is an array with exactly one call."}},
    {call_index,
     Evidence::calls,
     {"call_index", "Calls have an integer `index` that counts up from 0 without gaps."}},
    {calls_in_sequence,
     Evidence::calls,
     {"calls_in_sequence", "A call gets all of its deltas before the next one begins."}},
    {call_id_first,
     Evidence::calls,
     {"call_id_first", "The first delta of a call has its `id`, not empty."}},
    {call_id_once, Evidence::calls, {"call_id_once", "No later delta of a call has an `id`."}},
    {call_id_unique, Evidence::calls, {"call_id_unique", "No two calls have the same `id`."}},
    {call_name_first,
     Evidence::calls,
     {"call_name_first", "The first delta of a call has its whole `name`."}},
    {call_name_once, Evidence::calls, {"call_name_once", "No later delta of a call has a `name`."}},
    {call_type_first,
     Evidence::calls,
     {"call_type_first", "The first delta of a call has `type`: `function`."}},
    {call_type_once, Evidence::calls, {"call_type_once", "No later delta of a call has a `type`."}},
    {arguments_are_strings,
     Evidence::calls,
     {"arguments_are_strings", "Every delta of a call has `arguments`, a string."}},
    {arguments_are_fragments,
     Evidence::calls,
     {"arguments_are_fragments", "Arguments are fragments: none repeats all that came before."}},
    {arguments_are_json,
     Evidence::calls,
     {"arguments_are_json", "The fragments of a call join to a JSON object."}},
    {tool_is_declared,
     Evidence::calls,
     {"tool_is_declared", "Only tools of the request are called."}},
    {arguments_fit_tool,
     Evidence::calls,
     {"arguments_fit_tool", "Arguments have the tool's required keys, with their types."}},
    {finish_once,
     Evidence::stream,
     {"finish_once", "Every choice has exactly one `finish_reason`."}},
    {finish_reason_known,
     Evidence::choices,
     {"finish_reason_known", "It is `stop`, `tool_calls`, `length` or `content_filter`."}},
    {finish_matches_calls,
     Evidence::choices,
     {"finish_matches_calls",
      "It is `tool_calls` with calls, and only then; a forced tool may "
      "also end with `stop`."}},
    {nothing_after_finish,
     Evidence::choices,
     {"nothing_after_finish", "Nothing but the usage frame follows the finish."}},
    {usage_as_asked,
     Evidence::stream,
     {"usage_as_asked",
      "Usage comes if `include_usage` asked for it, and only then; `null` is "
      "no usage."}},
    {usage_form,
     Evidence::usage,
     {"usage_form", "The usage frame has `choices: []` and three integer counts."}},
    {usage_last,
     Evidence::usage,
     {"usage_last", "Usage is in one frame, the last one before `[DONE]`."}},
    {done_once, Evidence::stream, {"done_once", "`[DONE]` comes exactly once."}},
    {nothing_after_done, Evidence::stream, {"nothing_after_done", "No frame follows `[DONE]`."}},
    {no_markup,
     Evidence::text,
     {"no_markup", "Content has no marker of a tool-call dialect, such as `<tool_call>`."}},
    {no_secrets,
     Evidence::stream,
     {"no_secrets", "Nowhere is the key of the request, or what looks like one."}},
}};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kRules.size(); ++i) {
    if (static_cast<std::size_t>(kRules[i].rule) != i) return false;
  }
  return true;
}
static_assert(is_in_order());

const RuleRow& row_of(ContractRule rule) { return kRules[static_cast<std::size_t>(rule)]; }

struct EvidenceText {
  std::string_view one;
  std::string_view many;
  std::string_view none;  // why a rule does not apply
};

EvidenceText words_of(Evidence evidence) {
  switch (evidence) {
    case Evidence::head:
      return {"", "", "no response head"};
    case Evidence::stream:
      return {"", "", "no stream"};
    case Evidence::frames:
      return {"frame", "frames", "no frame came"};
    case Evidence::choices:
      return {"delta", "deltas", "no delta came"};
    case Evidence::text:
      return {"delta of text", "deltas of text", "no text came"};
    case Evidence::calls:
      return {"call", "calls", "no call was made"};
    case Evidence::usage:
      return {"usage frame", "usage frames", "no usage came"};
  }
  return {};
}

}  // namespace

ContractRuleText text_of(ContractRule rule) { return row_of(rule).text; }
Evidence evidence_of(ContractRule rule) { return row_of(rule).evidence; }

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return "pass";
    case Verdict::fail:
      return "fail";
    case Verdict::not_applicable:
      return "not_applicable";
  }
  return {};
}

void VerdictSheet::fail(ContractRule rule, std::string seen) {
  Row& to = row(rule);
  if (to.faults++ == 0) to.fault = std::move(seen);
}

void VerdictSheet::note(ContractRule rule, std::string seen) { row(rule).note = std::move(seen); }

void VerdictSheet::waive(ContractRule rule, std::string why) { row(rule).waiver = std::move(why); }

void VerdictSheet::count(Evidence evidence, std::uint64_t more) {
  counts_[static_cast<std::size_t>(evidence)] += more;
}

RuleVerdict VerdictSheet::verdict(ContractRule rule) const {
  const Row& from = rows_[static_cast<std::size_t>(rule)];
  const std::string_view name = text_of(rule).name;
  if (from.faults > 0) {
    std::string seen = from.fault;
    if (from.faults > 1) seen += " (and " + std::to_string(from.faults - 1) + " more)";
    return {name, Verdict::fail, std::move(seen)};
  }
  const EvidenceText words = words_of(evidence_of(rule));
  const std::uint64_t count = counts_[static_cast<std::size_t>(evidence_of(rule))];
  if (count == 0) return {name, Verdict::not_applicable, std::string(words.none)};
  if (!from.waiver.empty()) return {name, Verdict::not_applicable, from.waiver};
  if (!from.note.empty()) return {name, Verdict::pass, from.note};
  return {name, Verdict::pass,
          std::to_string(count) + " " + std::string(count == 1 ? words.one : words.many)};
}

void Transcript::add(std::string_view kind, std::string_view text) {
  if (kind != kind_) flush();
  kind_ = kind;
  text_ += text;
}

void Transcript::flush() {
  if (kind_.empty()) return;
  lines_ += kind_ + " ";
  json::append_string(lines_, text_);
  lines_ += '\n';
  kind_.clear();
  text_.clear();
}

std::string Transcript::take() {
  flush();
  return std::exchange(lines_, {});
}

}  // namespace callgate::contract
