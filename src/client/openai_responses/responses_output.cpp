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

}  // namespace

void ResponsesEncoder::store_item(std::size_t index, std::string item) {
  write_item("response.output_item.done", item, index);
  output_.resize(std::max(output_.size(), index + 1));
  output_[index] = std::move(item);
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
  part_members_ = std::exchange(next_part_members_, {});
  annotation_count_ = 0;
  if (open_frame("response.content_part.added")) {
    place_in_item("content_index");
    out_->append(part == Part::text
                     ? R"(,"part":{"type":"output_text","text":"","annotations":[],"logprobs":[])"
                     : R"(,"part":{"type":"refusal","refusal":"")");
    out_->append(part_members_).append("}");
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
  part.append(std::exchange(part_members_, {})).append("}");
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
  if (kind_ == Kind::reasoning) item.append(members_);
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
