#include "client/openai_responses/responses_encoder.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "client/answer_parts.h"
#include "client/openai_chat/openai_chat.h"
#include "client/openai_responses/openai_responses.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

void append_elements(std::string& list, std::string_view json) {
  json::Reader in(json);
  if (json.empty() || in.peek() != json::Kind::array) return;
  while (in.next_element()) {
    if (!list.empty()) list.push_back(',');
    append_json_line(list, in.raw());
  }
}

// {"type":"url_citation","url_citation":{"url":"u","title":"t","start_index":0,"end_index":4}}: what Chat Completions nests is flat
// here, and what is flat stays as it is.
std::string flat_annotation(std::string_view annotation) {
  const std::string type = json::member_text(annotation, "type");
  const std::string_view nested =
      type.empty() ? std::string_view() : json::given_member(annotation, type);
  std::string flat;
  if (!nested.starts_with('{')) {
    append_json_line(flat, annotation);
    return flat;
  }
  json::ObjectWriter object(flat);
  object.string("type", type);
  json::Reader in(nested);
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    std::string line;
    append_json_line(line, in.raw());
    object.raw_escaped(name, line);
  }
  object.close();
  return flat;
}

// resp_abc -> abc
std::string id_suffix(std::string_view id) {
  const std::size_t mark = id.find_first_of("_-");
  return std::string(mark == std::string_view::npos ? id : id.substr(mark + 1));
}

}  // namespace

ResponsesEncoder::ResponsesEncoder(const Request& request, const ResponseIdentity& identity)
    : stream_(request.stream),
      compacts_(request.client.compacts),
      aliases_(request.client.aliases),
      echo_(request, identity),
      suffix_(id_suffix(identity.id)) {}

void ResponsesEncoder::accept(const Event& event) {
  switch (cut_.before(event)) {
    case CutCall::Fate::open:
      break;
    case CutCall::Fate::ended:
      finish_call(false);
      break;
    case CutCall::Fate::lost:
      kind_ = Kind::none;
      break;
  }
  std::visit(Overloaded{
                 [&](const TextDelta& e) { say(Part::text, e.text); },
                 [&](const ReasoningDelta& e) { think(e.text); },
                 [&](const RefusalDelta& e) { say(Part::refusal, e.text); },
                 [&](const CallStarted& e) { start_call(e); },
                 [&](const ArgumentsDelta& e) { add_arguments(e.bytes); },
                 [&](const CallFinished& e) {
                   e.outcome == CallOutcome::truncated ? cut_.hold() : finish_call(true);
                 },
                 [&](const FieldReported& e) { take_field(e); },
                 [&](const UsageReported& e) { usage_.set(e); },
                 [&](const TurnFinished& e) { end_turn(e.reason); },
             },
             event);
}

void ResponsesEncoder::say(Part part, std::string_view text) {
  if (compacts_) {
    text_.append(text);
    return;
  }
  if (part_ != part) open_part(part);
  if (stream_) {
    // The same bytes go into the frame and into what is repeated later.
    write_delta_head();
    const std::size_t from = out_->size();
    json::append_escaped(*out_, text);
    text_.append(*out_, from);
    if (part == Part::text) {
      out_->append("\",\"logprobs\":[").append(waiting_logprobs_).append("]}\n\n");
    } else {
      out_->append("\"}\n\n");
    }
  } else {
    json::append_escaped(text_, text);
  }
  if (!waiting_logprobs_.empty()) {
    if (!logprobs_.empty()) logprobs_.push_back(',');
    logprobs_.append(waiting_logprobs_);
    waiting_logprobs_.clear();
  }
}

void ResponsesEncoder::think(std::string_view text) {
  if (compacts_) return;
  if (kind_ != Kind::reasoning) {
    open_item(Kind::reasoning, "rs_");
    write_item("response.output_item.added", reasoning_item(id_, {}, {}));
    if (open_frame("response.reasoning_summary_part.added")) {
      place_in_item("summary_index");
      out_->append(R"(,"part":{"type":"summary_text","text":""})");
      close_frame();
    }
    set_delta("response.reasoning_summary_text.delta", "summary_index");
  }
  write_delta(text);
}

// Escapes the text once, for the frame and for what is repeated later.
void ResponsesEncoder::write_delta(std::string_view text) {
  if (!stream_) return json::append_escaped(text_, text);
  write_delta_head();
  const std::size_t from = out_->size();
  json::append_escaped(*out_, text);
  text_.append(*out_, from);
  out_->append("\"}\n\n");
}

// Up to the text.
void ResponsesEncoder::write_delta_head() {
  out_->append(delta_head_);
  json::append_integer(*out_, sequence_++);
  if (!waiting_members_.empty()) append_members(delta_type_);
  out_->append(delta_place_);
}

void ResponsesEncoder::start_call(const CallStarted& event) {
  if (compacts_) return;
  alias_ = find_alias(event.name);
  Kind kind = Kind::call;
  if (alias_ != nullptr && alias_->kind == ToolAlias::Kind::freeform) kind = Kind::custom_call;
  if (alias_ != nullptr && alias_->kind == ToolAlias::Kind::search) kind = Kind::search_call;
  open_item(kind, kind == Kind::call ? "fc_" : kind == Kind::custom_call ? "ctc_" : "tsc_");
  call_id_ = event.native_id;
  name_ = alias_ == nullptr ? event.name : std::string_view(alias_->name);
  freeform_.reset();
  write_item("response.output_item.added", call_item("in_progress", ""));
  if (kind != Kind::search_call) {
    set_delta(kind == Kind::call ? "response.function_call_arguments.delta"
                                 : "response.custom_tool_call_input.delta",
              {});
  }
}

void ResponsesEncoder::add_arguments(std::string_view bytes) {
  switch (kind_) {
    case Kind::call:
      return write_delta(bytes);
    case Kind::custom_call:
      scratch_.clear();
      freeform_.push(bytes, scratch_);
      if (!scratch_.empty()) write_delta(scratch_);
      return;
    case Kind::search_call:
      text_.append(bytes);
      return;
    case Kind::none:
    case Kind::message:
    case Kind::reasoning:
      return;
  }
}

// `whole`: nothing of it is missing.
void ResponsesEncoder::finish_call(bool whole) {
  if (compacts_) return;
  if (kind_ == Kind::custom_call) {
    scratch_.clear();
    freeform_.finish(scratch_);
    if (!scratch_.empty()) write_delta(scratch_);
  }
  close_item(whole);
  unknown_.replay([&](std::string_view name, std::string_view json) { take_other(name, json); });
}

void ResponsesEncoder::take_field(const FieldReported& event) {
  if (take_same_format(event)) return;
  if (event.name == "reasoning_details" && !compacts_) return take_details(event.json);
  if (event.name == "annotations") return take_annotations(event.json);
  if (event.name == "logprobs") {
    return append_elements(waiting_logprobs_, json::given_member(event.json, "content"));
  }
  if (event.scope != FieldReported::Scope::turn) return;
  if (event.name == "service_tier") return echo_.set_service_tier(event.json);
  if (event.name == "callgate") {
    more_.append(",\"callgate\":");
    append_json_line(more_, event.json);
  }
}

void ResponsesEncoder::take_annotations(std::string_view list) {
  if (part_ != Part::text) return append_elements(waiting_annotations_, list);
  json::Reader in(list);
  if (in.peek() != json::Kind::array) return;
  while (in.next_element()) {
    const std::string annotation = flat_annotation(in.raw());
    if (!annotations_.empty()) annotations_.push_back(',');
    annotations_.append(annotation);
    if (open_frame("response.output_text.annotation.added")) {
      place_in_item("content_index");
      out_->append(",\"annotation_index\":");
      json::append_integer(*out_, static_cast<std::int64_t>(annotation_count_));
      out_->append(",\"annotation\":").append(annotation);
      close_frame();
    }
    ++annotation_count_;
  }
}

void ResponsesEncoder::end_turn(FinishReason reason) {
  reason_ = reason;
  if (compacts_) {
    if (reason != FinishReason::upstream_error) add_compaction();
    return;
  }
  const bool whole = reason == FinishReason::stop || reason == FinishReason::tool_calls;
  close_item(whole);
  flush_details();
}

// Nothing is written before the first event that a client sees.
void ResponsesEncoder::begin() {
  if (std::exchange(begun_, true) || !stream_) return;
  CALLGATE_CHECK(out_ != nullptr);
  write_response("response.created", {});
  write_response("response.in_progress", {});
}

// `event: TYPE` and `data: {"type":"TYPE","sequence_number":7`. False: the answer is not a stream.
bool ResponsesEncoder::open_frame(std::string_view type) {
  if (!stream_) return false;
  begin();
  out_->append("event: ").append(type).append("\ndata: {\"type\":\"").append(type);
  out_->append("\",\"sequence_number\":");
  json::append_integer(*out_, sequence_++);
  if (!waiting_members_.empty()) append_members(type);
  return true;
}

void ResponsesEncoder::write_response(std::string_view type,
                                      const ResponsesEcho::Standing& standing) {
  if (!open_frame(type)) return;
  out_->append(",\"response\":");
  echo_.append(*out_, standing);
  close_frame();
}

// An item that starts or ends.
void ResponsesEncoder::write_item(std::string_view type, std::string_view item, std::size_t index) {
  if (!open_frame(type)) return;
  out_->append(",\"output_index\":");
  json::append_integer(*out_, static_cast<std::int64_t>(index));
  out_->append(",\"item\":").append(item);
  close_frame();
}

// The one that began last.
void ResponsesEncoder::write_item(std::string_view type, std::string_view item) {
  write_item(type, item, items_ - 1);
}

void ResponsesEncoder::place_in_item(std::string_view part_index) {
  out_->append(",\"item_id\":\"").append(id_).append("\",\"output_index\":");
  json::append_integer(*out_, static_cast<std::int64_t>(items_ - 1));
  if (part_index.empty()) return;
  out_->append(",\"").append(part_index).append("\":");
  json::append_integer(*out_, static_cast<std::int64_t>(part_index_));
}

// What every delta of the open part or call starts with.
void ResponsesEncoder::set_delta(std::string_view type, std::string_view part_index) {
  if (!stream_) return;
  delta_type_ = type;
  delta_head_.assign("event: ").append(type).append("\ndata: {\"type\":\"").append(type);
  delta_head_.append("\",\"sequence_number\":");
  std::string* const out = std::exchange(out_, &delta_place_);
  delta_place_.clear();
  place_in_item(part_index);
  delta_place_.append(",\"delta\":\"");
  out_ = out;
}

void ResponsesEncoder::note(std::string_view name, std::string_view json) {
  if (!stream_) return;
  // SDKs refuse events that they do not know; a comment they pass over.
  begin();
  out_->append(": ").append(name).append(" ");
  append_json_line(*out_, json);
  out_->append("\n\n");
}

std::string ResponsesEncoder::joined_output() const {
  std::string joined;
  for (const std::string& item : output_) {
    if (item.empty()) continue;  // it is not done
    if (!joined.empty()) joined.push_back(',');
    joined.append(item);
  }
  return joined;
}

ResponsesEcho::Standing ResponsesEncoder::standing(std::string_view joined) const {
  ResponsesEcho::Standing standing{.output = joined, .more = more_};
  if (!reason_) {
    standing.status = "incomplete";
    return standing;
  }
  switch (*reason_) {
    case FinishReason::stop:
    case FinishReason::tool_calls:
      standing.status = "completed";
      standing.completed = true;
      break;
    case FinishReason::length:
      standing.status = "incomplete";
      standing.incomplete = R"({"reason":"max_output_tokens"})";
      break;
    case FinishReason::content_filter:
      standing.status = "incomplete";
      standing.incomplete = R"({"reason":"content_filter"})";
      break;
    case FinishReason::upstream_error:
      standing.status = "failed";
      break;
  }
  return standing;
}

void ResponsesEncoder::finish(const AnswerEnd& end) {
  CALLGATE_CHECK(out_ != nullptr);
  if (!reason_) close_item(false);
  close_others();
  const std::string output = joined_output();
  ResponsesEcho::Standing last = standing(output);
  const std::string usage = print_usage(end);
  last.usage = usage;
  if (!stream_) return echo_.append(*out_, last);
  if (!end.counters.empty()) out_->append(": ").append(end.counters).append("\n\n");
  write_response("response." + std::string(last.status), last);
}

void ResponsesEncoder::fail(const Error& error) {
  CALLGATE_CHECK(out_ != nullptr);
  const std::string body = openai_error_body(error);  // {"error":{...}}
  if (!stream_) {
    out_->append(body);
    return;
  }
  const std::string_view object = json::given_member(body, "error");
  std::string code = json::member_text(object, "code");
  if (code.empty()) code = "server_error";
  if (open_frame("error")) {
    out_->append(",\"code\":");
    json::append_string(*out_, code);
    out_->append(",\"message\":").append(json::given_member(object, "message"));
    out_->append(",\"param\":").append(json::member_json(object, "param"));
    out_->append(",\"error\":").append(object);
    close_frame();
  }
  std::string reason;
  json::ObjectWriter writer(reason);
  writer.string("code", code);
  writer.raw("message", json::given_member(object, "message"));
  writer.close();
  const std::string output = joined_output();
  write_response("response.failed",
                 {.status = "failed", .error = reason, .output = output, .more = more_});
}

std::string ResponsesEncoder::print_usage(const AnswerEnd& end) const {
  if (!usage_.counts && !end.estimate) return "null";
  const Usage& usage = end.estimate ? *end.estimate : *usage_.counts;
  const ToldMembers told = told_members(usage_.json);
  std::string json;
  json::ObjectWriter object(json);
  object.integer("input_tokens", usage.prompt_tokens);
  json::ObjectWriter input(object.key("input_tokens_details"));
  input.integer("cached_tokens", usage.cached_tokens);
  input.integer("cache_write_tokens", usage.cache_write_tokens);
  json.append(told.of_input);
  input.close();
  object.integer("output_tokens", usage.completion_tokens);
  json::ObjectWriter output(object.key("output_tokens_details"));
  output.integer("reasoning_tokens", usage.reasoning_tokens);
  json.append(told.of_output);
  output.close();
  object.integer("total_tokens", usage.total_tokens);
  json.append(told.of_all);
  if (end.estimate) object.boolean("estimated", true);
  if (end.timing) {
    object.integer("time_to_first_token_ms", end.timing->first_token_ms);
    object.integer("total_duration_ms", end.timing->duration_ms);
    object.string("emission_trigger", end.timing->trigger);
  }
  object.close();
  return json;
}

const ToolAlias* ResponsesEncoder::find_alias(std::string_view function) const {
  const auto found = std::find_if(aliases_.begin(), aliases_.end(), [&](const ToolAlias& alias) {
    return alias.function == function;
  });
  return found == aliases_.end() ? nullptr : &*found;
}

std::unique_ptr<ResponseEncoder> make_responses_encoder(const Request& request,
                                                        const ResponseIdentity& identity) {
  return std::make_unique<ResponsesEncoder>(request, identity);
}

}  // namespace callgate::client
