// The output items of an answer: where they start, what they are when they end, and their calls.
#include <algorithm>
#include <utility>

#include "chat/same_format.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "upstream/openai_responses/responses_decoder.h"
#include "upstream/openai_responses/responses_reasoning.h"
#include "upstream/request_parts.h"

namespace callgate::upstream {
namespace {

constexpr std::string_view kInputStart = R"({"input":")";
constexpr std::string_view kInputEnd = R"("})";

struct Arguments {
  std::string_view text;
  bool object = false;   // they came as a JSON value instead of a string
  bool renamed = false;  // they came under another name
};

Arguments arguments_of(OutputItem::Kind kind, const ResponsesItem& item) {
  const bool custom = kind == OutputItem::Kind::custom_call;
  if (custom) return {.text = item.input.view()};
  if (item.arguments.empty()) return {item.input.view(), item.input_object, !item.input.empty()};
  return {item.arguments.view(), item.arguments_object, item.arguments_renamed};
}

}  // namespace

void ResponsesDecoder::start_item(const ResponsesFrame& frame, EventSink& sink) {
  using Kind = OutputItem::Kind;
  const Kind kind = item_kind_of(frame.item.type.view());
  if (kind == Kind::other) return report_item(kOtherItemAdded, frame.item, sink);
  OutputItem* state = items_.known(kind, frame, false);
  if (state == nullptr) {
    state = items_.add(kind, frame.item, frame.output_index);
    report_item(kItemAdded, frame.item, sink);
  }
  if (state == nullptr || (kind != Kind::call && kind != Kind::custom_call)) return;
  if (!frame.output_index && state->name.empty()) count(Repair::index_missing);
  name_call(*state, function_of(frame.item), frame.item.call_id.view(), sink);
  const Arguments early = arguments_of(kind, frame.item);
  if (state->done || !state->early.empty()) return;
  state->early = early.text;
  state->early_object = early.object;
}

void ResponsesDecoder::finish_item(OutputItem& state, const ResponsesItem& item, EventSink& sink) {
  switch (state.kind) {
    case OutputItem::Kind::message: {
      say_rest(kText, state, item.content, sink);
      say_rest(kRefusal, state, item.content, sink);
      std::size_t seen = 0;
      for (const ResponsesPart& part : item.content) {
        json::Reader in(part.annotations);
        if (part.annotations.empty()) continue;
        while (in.next_element()) {
          const std::string_view annotation = in.raw();
          if (++seen > state.annotations) report_annotation(annotation, sink);
        }
      }
      state.annotations = std::max(state.annotations, seen);
      if (!state.done) report_item(kItemDone, item, sink);
      break;
    }
    case OutputItem::Kind::reasoning: {
      say_rest(kSummary, state, item.summary, sink);
      say_rest(kThought, state, item.content, sink);
      const std::string details =
          state.done ? std::string() : reasoning_details_of(item, state.position);
      if (!details.empty()) {
        sink.accept(FieldReported{FieldReported::Scope::message, "reasoning_details", details});
      }
      break;
    }
    case OutputItem::Kind::call:
    case OutputItem::Kind::custom_call:
      finish_call(state, item, sink);
      break;
    case OutputItem::Kind::other:
      break;
  }
  state.done = true;
}

// The name of a call, as often as it comes: whole, or in pieces. One that cannot be more of it is not heard.
void ResponsesDecoder::name_call(OutputItem& state, std::string_view name, std::string_view id,
                                 EventSink& sink) {
  if (name.empty() || name == state.name) return;
  if (!state.name.empty()) {
    if (tracker_.has_arguments(static_cast<std::int64_t>(state.number))) return;
    std::string joined = names_.joined(state.name, name, true, !state.call_id.empty());
    if (joined.empty()) return;
    state.name = std::move(joined);
  } else {
    state.name = name;
  }
  if (state.call_id.empty()) state.call_id = id;
  piece_.clear();
  piece_.index = static_cast<std::int64_t>(state.number);
  piece_.id = state.call_id;
  piece_.name = name;
  tracker_.push_call(piece_, false, repairs_, sink);
}

void ResponsesDecoder::finish_call(OutputItem& state, const ResponsesItem& item, EventSink& sink) {
  if (state.done) return;
  name_call(state, function_of(item), item.call_id.view(), sink);
  const bool custom = state.kind == OutputItem::Kind::custom_call;
  Arguments whole = arguments_of(state.kind, item);
  if (whole.renamed) count(Repair::arguments_misplaced);
  if (whole.text.empty()) whole = {.text = state.early, .object = state.early_object};
  push_rest(state, whole.text, whole.object, sink);
  end_texts(state, sink);
  if (item.status.view() == "incomplete") return;
  if (custom) {
    if (state.text.length() == 0) push_raw(state, kInputStart, false, sink);
    push_raw(state, kInputEnd, false, sink);
  } else if (state.text.length() == 0) {
    push_raw(state, "{}", false, sink);
  }
  tracker_.end_call(static_cast<std::int64_t>(state.number), sink);
}

// The part of all arguments, or of all input, that is new.
void ResponsesDecoder::push_rest(OutputItem& state, std::string_view whole, bool object,
                                 EventSink& sink) {
  const std::string_view rest = state.text.rest_of(whole);
  if (!rest.empty()) state.text_halves.drop();
  push_arguments(state, rest, object, sink);
}

void ResponsesDecoder::push_arguments(OutputItem& state, std::string_view text, bool object,
                                      EventSink& sink) {
  if (text.empty() || state.done) return;
  const bool first = state.text.length() == 0;
  state.text.add(text);
  if (state.kind == OutputItem::Kind::call) return push_raw(state, text, object, sink);
  escaped_ = first ? kInputStart : std::string_view();
  json::append_escaped(escaped_, text);
  push_raw(state, escaped_, false, sink);
}

void ResponsesDecoder::push_raw(const OutputItem& state, std::string_view json, bool object,
                                EventSink& sink) {
  piece_.clear();
  piece_.index = static_cast<std::int64_t>(state.number);
  piece_.arguments = json;
  piece_.arguments_object = object;
  tracker_.push_call(piece_, false, repairs_, sink);
}

void ResponsesDecoder::report_item(std::string_view field, const ResponsesItem& item,
                                   EventSink& sink) {
  report_json(field, item.json, sink);
}

void ResponsesDecoder::report_json(std::string_view field, std::string_view json, EventSink& sink) {
  if (!same_format_ || json.empty()) return;
  sink.accept(FieldReported{FieldReported::Scope::message, field, json});
}

void ResponsesDecoder::report_members(std::string_view type, const KeptMembers& members,
                                      EventSink& sink) {
  members_.clear();
  json::ObjectWriter object(members_);
  object.string("type", "response." + std::string(type));
  for (const auto& [name, json] : members) object.raw_escaped(name, json);
  object.close();
  report_json(kEventMembers, members_, sink);
}

// Only what names its kind can be told to a client.
void ResponsesDecoder::report_event(std::string_view data, EventSink& sink) {
  if (!same_format_ || reader_.frame().type.empty()) return;
  json::Reader in(data);  // what was mended on the way is not for others
  in.skip();
  if (!in.finish()) return;
  sink.accept(FieldReported{FieldReported::Scope::message, kOtherEvent, data});
}

std::string_view ResponsesDecoder::function_of(const ResponsesItem& item) const {
  for (const ToolAlias& alias : aliases_) {
    if (alias.name == item.name.view() && alias.space == item.space.view()) return alias.function;
  }
  return item.name.view();
}

// {"type":"url_citation","url":"u","title":"t","start_index":0,"end_index":4}; others have no form in Chat Completions.
void ResponsesDecoder::report_annotation(std::string_view json, EventSink& sink) {
  if (same_format_) {
    const std::string list = "[" + std::string(json) + "]";
    return sink.accept(FieldReported{FieldReported::Scope::message, "annotations", list});
  }
  if (json::given_member(json, "type") != "\"url_citation\"") return;
  std::string list = "[";
  json::ObjectWriter annotation(list);
  annotation.string("type", "url_citation");
  json::ObjectWriter citation(annotation.key("url_citation"));
  for (const std::string_view name : {"start_index", "end_index", "url", "title"}) {
    if (const std::string_view value = json::given_member(json, name); !value.empty()) {
      citation.raw(name, value);
    }
  }
  citation.close();
  annotation.close();
  list.push_back(']');
  sink.accept(FieldReported{FieldReported::Scope::message, "annotations", list});
}

void ResponsesDecoder::report_logprobs(std::string_view list, EventSink& sink) {
  std::string json;
  json::ObjectWriter object(json);
  object.raw("content", list);
  object.null("refusal");
  object.close();
  sink.accept(FieldReported{FieldReported::Scope::choice, "logprobs", json});
}

// Calls whose end did not come. `whole`: the turn ended by itself, so they are complete.
void ResponsesDecoder::finish_open_calls(bool whole, EventSink& sink) {
  for (OutputItem& item : items_.all()) {
    if (item.done) continue;
    if (item.text.length() == 0 && !item.early.empty()) {
      push_arguments(item, item.early, item.early_object, sink);
    }
    const bool open = item.kind == OutputItem::Kind::custom_call && item.text.length() > 0;
    if (whole && open) push_raw(item, kInputEnd, false, sink);
  }
}

}  // namespace callgate::upstream
