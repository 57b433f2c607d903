#include "client/openai_responses/responses_others.h"

#include <algorithm>

#include "client/answer_parts.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

constexpr std::size_t kMaxPlaces = 1024;
constexpr std::size_t kMaxDeferred = std::size_t{1} << 20;

}  // namespace

void ResponsesOthers::add_place(std::string upstream_id, std::string id, std::size_t index) {
  if (upstream_id.empty() || places_.size() >= kMaxPlaces) return;
  places_.push_back({std::move(upstream_id), std::move(id), index});
}

const ResponsesOthers::Place* ResponsesOthers::find(std::string_view upstream_id) const {
  const auto found = std::find_if(places_.rbegin(), places_.rend(), [&](const Place& place) {
    return place.upstream_id == upstream_id;
  });
  return upstream_id.empty() || found == places_.rend() ? nullptr : &*found;
}

void ResponsesOthers::open(std::string_view id, Item item) {
  add_place(std::string(id), std::string(id), item.index);
  open_.emplace_back(id, std::move(item));
}

std::optional<ResponsesOthers::Item> ResponsesOthers::take(std::string_view id) {
  const auto found =
      std::find_if(open_.begin(), open_.end(), [&](const auto& each) { return each.first == id; });
  if (id.empty() || found == open_.end()) return std::nullopt;
  Item item = std::move(found->second);
  open_.erase(found);
  return item;
}

std::vector<ResponsesOthers::Item> ResponsesOthers::take_all() {
  std::vector<Item> items;
  for (auto& [id, item] : open_) items.push_back(std::move(item));
  open_.clear();
  return items;
}

void ResponsesOthers::append_frame(std::string& out, std::string_view event,
                                   std::int64_t sequence) const {
  const Place* place = find(json::member_text(event, "item_id"));
  std::string number;
  json::append_integer(number, sequence);
  std::string data;
  json::ObjectWriter object(data);
  bool numbered = false;
  json::Reader in(event);
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    const std::string_view value = in.raw();
    if (name == "sequence_number") {
      object.raw(name, number);
      numbered = true;
    } else if (name == "item_id" && place != nullptr) {
      object.string(name, place->id);
    } else if (name == "output_index" && place != nullptr) {
      object.integer(name, static_cast<std::int64_t>(place->index));
    } else {
      object.raw_escaped(name, value);
    }
  }
  if (!numbered) object.raw("sequence_number", number);
  object.close();
  out.append("event: ");
  append_json_line(out, json::member_text(event, "type"));
  out.append("\ndata: ");
  append_json_line(out, data);
  out.append("\n\n");
}

void ResponsesOthers::defer(std::string_view name, std::string_view json) {
  if (deferred_bytes_ + json.size() > kMaxDeferred) return;
  deferred_bytes_ += json.size();
  deferred_.emplace_back(name, json);
}

void ResponsesOthers::replay(
    FunctionRef<void(std::string_view name, std::string_view json)> visit) {
  const auto deferred = std::exchange(deferred_, {});
  deferred_bytes_ = 0;
  for (const auto& [name, json] : deferred) visit(name, json);
}

}  // namespace callgate::client
