// The output items of a Responses answer: how they begin and end, and what they are when they are done.
#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "chat/same_format.h"
#include "chat/sealed_reasoning.h"
#include "client/answer_parts.h"
#include "client/openai_chat/openai_usage.h"
#include "client/openai_responses/responses_encoder.h"
#include "client/openai_responses/responses_seal.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

// Whether it says more than its text: only then it has to come back.
bool is_opaque(std::string_view element) {
  return json::member_text(element, "type") == "reasoning.encrypted" ||
         !json::given_member(element, "signature").empty();
}

// Pieces of one element, as Chat Completions streams them: the text is joined, of other members the first counts.
bool join_detail(std::string& whole, std::string_view piece) {
  if (json::given_member(whole, "type") != "\"reasoning.text\"" || is_opaque(whole)) return false;
  for (const std::string_view name : {"type", "index", "format", "id"}) {
    if (json::given_member(whole, name) != json::given_member(piece, name)) return false;
  }
  std::string joined;
  json::ObjectWriter object(joined);
  json::Reader in(whole);
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    const std::string_view value = in.raw();
    if (name != "text" && value != "null") object.raw_escaped(name, value);
  }
  object.string("text", json::member_text(whole, "text") + json::member_text(piece, "text"));
  const std::string_view signature = json::given_member(piece, "signature");
  if (!signature.empty()) object.raw("signature", signature);
  object.close();
  whole = std::move(joined);
  return true;
}

// Members of an object that callgate does not write itself, each with a comma before it.
std::string unknown_members(std::string_view object, std::span<const std::string_view> known) {
  std::string members;
  json::Reader in(object);
  if (object.empty() || in.peek() != json::Kind::object) return members;
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    const std::string_view value = in.raw();
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    members.push_back(',');
    json::append_string(members, name);
    members.push_back(':');
    append_json_line(members, value);
  }
  return members;
}

constexpr std::array<std::string_view, 13> kItemMembers = {
    "id",        "type",  "status",    "role",    "content",           "call_id",  "name",
    "namespace", "input", "arguments", "summary", "encrypted_content", "execution"};

constexpr std::array<std::string_view, 35> kResponseMembers = {"id",
                                                               "object",
                                                               "created_at",
                                                               "model",
                                                               "status",
                                                               "completed_at",
                                                               "error",
                                                               "incomplete_details",
                                                               "output",
                                                               "usage",
                                                               "service_tier",
                                                               "background",
                                                               "conversation",
                                                               "frequency_penalty",
                                                               "instructions",
                                                               "max_output_tokens",
                                                               "max_tool_calls",
                                                               "metadata",
                                                               "parallel_tool_calls",
                                                               "presence_penalty",
                                                               "previous_response_id",
                                                               "prompt",
                                                               "prompt_cache_key",
                                                               "prompt_cache_retention",
                                                               "safety_identifier",
                                                               "store",
                                                               "temperature",
                                                               "tool_choice",
                                                               "top_logprobs",
                                                               "top_p",
                                                               "truncation",
                                                               "user",
                                                               "reasoning",
                                                               "text",
                                                               "tools"};

}  // namespace

bool ResponsesEncoder::take_same_format(const FieldReported& event) {
  if (event.name == kItemAdded) {
    next_type_ = json::member_text(event.json, "type");
    next_id_ = json::member_text(event.json, "id");
    next_members_ = unknown_members(event.json, kItemMembers);
  } else if (event.name == kItemDone) {
    if (kind_ == Kind::message) members_ = unknown_members(event.json, kItemMembers);
  } else if (event.name == kOtherItem || event.name == kOtherItemAdded ||
             event.name == kOtherEvent) {
    if (!compacts_) take_other(event.name, event.json);
  } else if (event.name == kWholeResponse) {
    more_.append(unknown_members(event.json, kResponseMembers));
  } else {
    return false;
  }
  return true;
}

// As the upstream wrote it. A call gets its arguments first: nothing comes between them.
void ResponsesEncoder::take_other(std::string_view name, std::string_view json) {
  const bool in_call =
      kind_ == Kind::call || kind_ == Kind::custom_call || kind_ == Kind::search_call;
  if (in_call) return unknown_.defer(name, json);
  if (name == kOtherItemAdded) return add_other_item(json, false);
  if (name == kOtherItem) {
    auto began = unknown_.take(json::member_text(json, "id"));
    if (!began) return add_other_item(json, true);
    std::string item;
    append_json_line(item, json);
    return store_item(began->index, std::move(item));
  }
  if (!stream_) return;
  begin();
  unknown_.append_frame(*out_, json, sequence_++);
}

// `whole`: it ends as it begins.
void ResponsesEncoder::add_other_item(std::string_view json, bool whole) {
  close_item();
  flush_details();
  begin();
  std::string item;
  append_json_line(item, json);
  const std::size_t index = items_++;
  write_item("response.output_item.added", item);
  if (whole) return store_item(index, std::move(item));
  unknown_.open(json::member_text(json, "id"), {index, std::move(item)});
}

void ResponsesEncoder::store_item(std::size_t index, std::string item) {
  write_item("response.output_item.done", item, index);
  output_.resize(std::max(output_.size(), index + 1));
  output_[index] = std::move(item);
}

// Those that the upstream never ended.
void ResponsesEncoder::close_others() {
  for (ResponsesOthers::Item& item : unknown_.take_all()) {
    store_item(item.index, std::move(item.json));
  }
}

std::string ResponsesEncoder::mint_id(std::string_view prefix) const {
  std::string id(prefix);
  id.append(suffix_).append("_");
  json::append_integer(id, static_cast<std::int64_t>(items_));
  return id;
}

void ResponsesEncoder::open_item(Kind kind, std::string_view prefix) {
  close_item();
  flush_details();
  begin();
  kind_ = kind;
  id_ = mint_id(prefix);
  members_.clear();
  const bool named = (kind == Kind::message && next_type_ == "message") ||
                     (kind == Kind::reasoning && next_type_ == "reasoning") ||
                     (kind == Kind::call && next_type_ == "function_call") ||
                     (kind == Kind::custom_call && next_type_ == "custom_tool_call");
  if (named) {
    members_ = std::exchange(next_members_, {});
    next_type_.clear();
    unknown_.add_place(std::exchange(next_id_, {}), id_, items_);
  }
  ++items_;
  part_index_ = 0;
  text_.clear();
}

// `whole`: nothing of it is missing.
void ResponsesEncoder::close_item(bool whole) {
  switch (kind_) {
    case Kind::none:
      return;
    case Kind::message: {
      close_part();
      std::string item = "{\"id\":\"" + id_ + R"(","type":"message","status":")";
      item.append(whole ? "completed" : "incomplete");
      item.append(R"(","role":"assistant","content":[)").append(parts_).append("]");
      item.append(members_).append("}");
      return end_item(std::move(item));
    }
    case Kind::reasoning:
      return close_reasoning();
    case Kind::call:
    case Kind::custom_call:
    case Kind::search_call:
      return close_call(whole);
  }
}

void ResponsesEncoder::end_item(std::string item) {
  kind_ = Kind::none;
  store_item(items_ - 1, std::move(item));
}

void ResponsesEncoder::open_part(Part part) {
  if (kind_ != Kind::message) {
    open_item(Kind::message, "msg_");
    write_item("response.output_item.added",
               "{\"id\":\"" + id_ +
                   R"(","type":"message","status":"in_progress","role":"assistant","content":[])" +
                   members_ + "}");
    parts_.clear();
  } else {
    close_part();
    ++part_index_;
    text_.clear();
  }
  part_ = part;
  annotation_count_ = 0;
  if (open_frame("response.content_part.added")) {
    place_in_item("content_index");
    out_->append(part == Part::text
                     ? R"(,"part":{"type":"output_text","text":"","annotations":[],"logprobs":[]})"
                     : R"(,"part":{"type":"refusal","refusal":""})");
    close_frame();
  }
  set_delta(part == Part::text ? "response.output_text.delta" : "response.refusal.delta",
            "content_index");
  if (part == Part::text && !waiting_annotations_.empty()) {
    take_annotations("[" + std::exchange(waiting_annotations_, {}) + "]");
  }
}

void ResponsesEncoder::close_part() {
  if (part_ == Part::none) return;
  const bool text = std::exchange(part_, Part::none) == Part::text;
  const std::string_view name = text ? "text" : "refusal";
  if (open_frame(text ? "response.output_text.done" : "response.refusal.done")) {
    place_in_item("content_index");
    out_->append(",\"").append(name).append("\":\"").append(text_).append("\"");
    if (text) out_->append(",\"logprobs\":[").append(logprobs_).append("]");
    close_frame();
  }
  std::string part =
      text ? R"({"type":"output_text","text":")" : R"({"type":"refusal","refusal":")";
  part.append(text_).append("\"");
  if (text) {
    part.append(",\"annotations\":[").append(std::exchange(annotations_, {}));
    part.append("],\"logprobs\":[").append(std::exchange(logprobs_, {})).append("]");
  }
  part.append("}");
  if (open_frame("response.content_part.done")) {
    place_in_item("content_index");
    out_->append(",\"part\":").append(part);
    close_frame();
  }
  if (!parts_.empty()) parts_.push_back(',');
  parts_.append(part);
}

std::string ResponsesEncoder::reasoning_item(std::string_view id, std::string_view summary,
                                             std::string_view encrypted) const {
  std::string item = "{\"id\":\"";
  item.append(id).append(R"(","type":"reasoning","summary":[)").append(summary).append("]");
  if (!encrypted.empty()) json::append_string(item.append(",\"encrypted_content\":"), encrypted);
  item.push_back('}');
  return item;
}

void ResponsesEncoder::close_reasoning() {
  if (open_frame("response.reasoning_summary_text.done")) {
    place_in_item("summary_index");
    out_->append(",\"text\":\"").append(text_).append("\"");
    close_frame();
  }
  const std::string part = R"({"type":"summary_text","text":")" + text_ + "\"}";
  if (open_frame("response.reasoning_summary_part.done")) {
    place_in_item("summary_index");
    out_->append(",\"part\":").append(part);
    close_frame();
  }
  // The first element that has to come back rides in this item; others get items of their own.
  std::string encrypted;
  for (auto element = details_.begin(); element != details_.end(); ++element) {
    if (!is_opaque(*element)) continue;
    encrypted = encrypted_of(*element).value_or("");
    details_.erase(element);
    break;
  }
  end_item(reasoning_item(id_, part, encrypted));
}

// OpenAI's own content passes as it is, for others can read it; everything else is sealed.
std::optional<std::string> ResponsesEncoder::encrypted_of(std::string_view element) {
  if (json::member_text(element, "format") != kOpenaiReasoning) return seal_reasoning(element);
  return json::member_text(element, "data");
}

void ResponsesEncoder::take_details(std::string_view list) {
  json::Reader in(list);
  if (list.empty() || in.peek() != json::Kind::array) return;
  while (in.next_element()) {
    const std::string_view element = in.raw();
    if (!element.starts_with('{')) continue;
    if (!details_.empty() && join_detail(details_.back(), element)) continue;
    details_.emplace_back(element);
  }
  // With nothing open they stand where they came; inside an item they wait for its end.
  if (kind_ == Kind::none) flush_details();
}

void ResponsesEncoder::flush_details() {
  std::vector<std::string> waiting;
  std::swap(waiting, details_);
  for (const std::string& element : waiting) {
    if (is_opaque(element)) add_sealed_item(element);
  }
}

void ResponsesEncoder::add_sealed_item(std::string_view element) {
  begin();
  id_ = mint_id("rs_");
  const std::optional<std::string> encrypted = encrypted_of(element);
  if (!encrypted) return;
  ++items_;
  write_item("response.output_item.added", reasoning_item(id_, {}, *encrypted));
  end_item(reasoning_item(id_, {}, *encrypted));
}

void ResponsesEncoder::add_compaction() {
  begin();
  id_ = mint_id("cmp_");
  ++items_;
  std::string item = "{\"id\":\"" + id_ + R"(","type":"compaction","encrypted_content":)";
  json::append_string(item, seal_summary(text_).value_or(""));
  item.push_back('}');
  write_item("response.output_item.added", item);
  end_item(std::move(item));
}

std::string ResponsesEncoder::call_item(std::string_view status, std::string_view said) const {
  std::string item;
  json::ObjectWriter object(item);
  object.string("id", id_);
  switch (kind_) {
    case Kind::custom_call:
      object.string("type", "custom_tool_call");
      break;
    case Kind::search_call:
      object.string("type", "tool_search_call");
      break;
    case Kind::none:
    case Kind::message:
    case Kind::reasoning:
    case Kind::call:
      object.string("type", "function_call");
      break;
  }
  object.string("status", status);
  object.string("call_id", call_id_);
  if (kind_ == Kind::search_call) {
    object.string("execution", "client");
    object.raw("arguments", said.empty() ? "{}" : said);
  } else {
    object.string("name", name_);
    if (alias_ != nullptr && !alias_->space.empty()) object.string("namespace", alias_->space);
    std::string& out = object.key(kind_ == Kind::custom_call ? "input" : "arguments");
    out.append("\"").append(said).append("\"");
  }
  item.append(members_);
  object.close();
  return item;
}

void ResponsesEncoder::close_call(bool whole) {
  const bool custom = kind_ == Kind::custom_call;
  if (kind_ == Kind::search_call) {
    json::Reader in(text_);
    const bool object = in.peek() == json::Kind::object && (in.skip(), in.finish());
    if (!object) text_ = "{}";
  } else if (open_frame(custom ? "response.custom_tool_call_input.done"
                               : "response.function_call_arguments.done")) {
    place_in_item();
    out_->append(custom ? ",\"input\":\"" : ",\"arguments\":\"").append(text_).append("\"");
    close_frame();
  }
  end_item(call_item(whole ? "completed" : "incomplete", text_));
}

}  // namespace callgate::client
