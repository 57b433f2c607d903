// What an upstream of the same format says beside events: items, events and members that callgate does not know.
#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "chat/same_format.h"
#include "client/answer_parts.h"
#include "client/openai_responses/responses_encoder.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

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

constexpr std::array<std::string_view, 5> kPartMembers = {"type", "text", "refusal", "annotations",
                                                          "logprobs"};
constexpr std::array<std::string_view, 1> kTypeMember = {"type"};

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
    if (event.name == kOtherEvent) forget_members(json::member_text(event.json, "type"));
    if (!compacts_) take_other(event.name, event.json);
  } else if (event.name == kEventMembers) {
    keep_members(json::member_text(event.json, "type"), unknown_members(event.json, kTypeMember));
  } else if (event.name == kPartAdded) {
    next_part_members_ = unknown_members(event.json, kPartMembers);
  } else if (event.name == kPartDone) {
    if (part_ != Part::none) part_members_ = unknown_members(event.json, kPartMembers);
  } else if (event.name == kWholeResponse) {
    more_.append(unknown_members(event.json, kResponseMembers));
  } else {
    return false;
  }
  return true;
}

ResponsesEncoder::ToldMembers ResponsesEncoder::told_members(std::string_view usage) {
  static constexpr std::array<std::string_view, 9> kOwn = {
      "input_tokens",           "output_tokens",         "total_tokens",
      "input_tokens_details",   "output_tokens_details", "estimated",
      "time_to_first_token_ms", "total_duration_ms",     "emission_trigger"};
  static constexpr std::array<std::string_view, 3> kDetails = {
      "cached_tokens", "cache_write_tokens", "reasoning_tokens"};
  // Usage of Chat Completions says other things under other names.
  if (usage.empty() || json::given_member(usage, "input_tokens").empty()) return {};
  return {
      .of_input = unknown_members(json::given_member(usage, "input_tokens_details"), kDetails),
      .of_output = unknown_members(json::given_member(usage, "output_tokens_details"), kDetails),
      .of_all = unknown_members(usage, kOwn)};
}

// For the next event of that type. What never finds one is bounded.
void ResponsesEncoder::keep_members(std::string type, std::string members) {
  constexpr std::size_t kMost = 16;
  constexpr std::size_t kMostBytes = std::size_t{1} << 16;
  if (!stream_ || compacts_ || members.size() > kMostBytes) return;
  const auto same = std::find_if(waiting_members_.begin(), waiting_members_.end(),
                                 [&](const auto& each) { return each.first == type; });
  if (same != waiting_members_.end()) {
    same->second = std::move(members);
  } else if (waiting_members_.size() < kMost) {
    waiting_members_.emplace_back(std::move(type), std::move(members));
  }
}

// An event of a kind that callgate does not know has its members with it.
void ResponsesEncoder::forget_members(std::string_view type) {
  std::erase_if(waiting_members_, [&](const auto& each) { return each.first == type; });
}

void ResponsesEncoder::append_members(std::string_view type) {
  const auto own = std::find_if(waiting_members_.begin(), waiting_members_.end(),
                                [&](const auto& each) { return each.first == type; });
  if (own == waiting_members_.end()) return;
  out_->append(own->second);
  waiting_members_.erase(own);
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

// Those that the upstream never ended.
void ResponsesEncoder::close_others() {
  for (ResponsesOthers::Item& item : unknown_.take_all()) {
    store_item(item.index, std::move(item.json));
  }
}

}  // namespace callgate::client
