#include "upstream/openai_responses/responses_items.h"

#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

namespace callgate::upstream {
namespace {

constexpr std::size_t kMaxItems = std::size_t{1} << 16;
// How far back an event may reach for its item. Keeps the search linear however many items an answer has.
constexpr std::size_t kReach = 128;

// Whether a delta with that id may belong to an item that it does not name.
bool may_claim(const OutputItem& item, std::string_view id) {
  if (id.empty() || item.id.empty()) return true;
  return !item.id_used && item.other_id.empty();
}

void claim(OutputItem& item, std::string_view id) {
  if (id.empty()) return;
  if (item.id.empty()) {
    item.id = id;
  } else if (item.id != id) {
    item.other_id = id;
  }
  if (item.id == id) item.id_used = true;
}

bool is_call(OutputItem::Kind kind) {
  return kind == OutputItem::Kind::call || kind == OutputItem::Kind::custom_call;
}

bool is_on(const OutputItem& item, const std::optional<std::int64_t>& index) {
  return index && (item.output_index == index || item.other_index == index);
}

// Whether a frame that points at a call which is over can be meant for another one: it begins arguments, or has others than
// those of the call.
bool is_of_another(const OutputItem& over, const ResponsesFrame& frame) {
  const std::string_view whole = frame.whole.view();
  if (frame.delta.view().starts_with('{')) return true;
  return !whole.empty() && !over.text.is(whole);
}

// Whether a call is over and a frame with its id starts or ends another one: servers give several calls one id. What repeats
// the call is found out by its arguments.
bool is_before_another(const OutputItem& over, const ResponsesFrame& frame) {
  return is_call(over.kind) && over.done && frame.output_index && over.output_index &&
         !is_on(over, frame.output_index);
}

}  // namespace

OutputItem::Kind item_kind_of(std::string_view type) {
  using Kind = OutputItem::Kind;
  if (type == "message") return Kind::message;
  if (type == "reasoning") return Kind::reasoning;
  if (type == "function_call") return Kind::call;
  if (type == "custom_tool_call") return Kind::custom_call;
  return Kind::other;
}

OutputItem* OutputItems::speaking(OutputItem::Kind kind, const ResponsesFrame& frame) {
  const std::string_view id = frame.item_id.view();
  OutputItem* on_index = nullptr;
  OutputItem* open = nullptr;
  OutputItem* silent = nullptr;
  OutputItem* over = nullptr;
  const std::size_t stop = items_.size() > kReach ? items_.size() - kReach : 0;
  for (std::size_t i = items_.size(); i-- > stop;) {
    OutputItem& item = items_[i];
    if (item.kind != kind) continue;
    const bool same_id = !id.empty() && (item.id == id || item.other_id == id);
    const bool same_index = is_on(item, frame.output_index);
    const bool is_over = is_call(kind) && item.done;
    if (is_over && (same_id || same_index) && over == nullptr) over = &item;
    if (same_id && (!is_over || same_index || !frame.output_index)) {
      claim(item, id);
      return &item;
    }
    if (same_index && !is_over && on_index == nullptr && may_claim(item, id)) on_index = &item;
    if (!item.done && open == nullptr) open = &item;
    const bool nothing = item.text.length() == 0 && item.other.length() == 0;
    if (!item.done && nothing && may_claim(item, id)) silent = &item;
    if (id.empty() && (on_index != nullptr || (!frame.output_index && open != nullptr))) break;
  }
  OutputItem* found = on_index;
  if (found == nullptr && id.empty() && !frame.output_index) found = open;
  if (found == nullptr && (over == nullptr || is_of_another(*over, frame))) found = silent;
  if (found == nullptr) found = over;
  if (found == nullptr) {
    found = add(kind);
    if (found != nullptr) found->output_index = frame.output_index;
  } else if (frame.output_index && !is_on(*found, frame.output_index)) {
    found->other_index = frame.output_index;
  }
  if (found != nullptr) claim(*found, id);
  return found;
}

OutputItem* OutputItems::with_parts(std::string_view id) {
  const std::size_t stop = items_.size() > kReach ? items_.size() - kReach : 0;
  for (std::size_t i = items_.size(); i-- > stop;) {
    OutputItem& item = items_[i];
    if (id.empty() || item.id == id || item.other_id == id) return &item;
  }
  return nullptr;
}

OutputItem* OutputItems::known(OutputItem::Kind kind, const ResponsesFrame& frame, bool ends) {
  const std::string_view id = frame.item.id.view();
  const std::string_view call_id = frame.item.call_id.view();
  OutputItem* on_index = nullptr;
  OutputItem* open = nullptr;
  const std::size_t stop = items_.size() > kReach ? items_.size() - kReach : 0;
  for (std::size_t i = items_.size(); i-- > stop;) {
    OutputItem& item = items_[i];
    if (item.kind != kind) continue;
    const bool same_id = !id.empty() && (item.id == id || item.other_id == id);
    const bool same_call = is_call(kind) && !call_id.empty() && item.call_id == call_id;
    if ((same_id || same_call) && !is_before_another(item, frame)) return &item;
    if (item.done) continue;
    if (!call_id.empty() && !item.call_id.empty()) continue;
    const bool same_index = frame.output_index && item.output_index == frame.output_index;
    if (same_index && on_index == nullptr) on_index = &item;
    if (open == nullptr) open = &item;
  }
  if (!ends) return nullptr;
  if (on_index != nullptr) return on_index;
  return id.empty() && !frame.output_index ? open : nullptr;
}

OutputItem* OutputItems::add(OutputItem::Kind kind) {
  if (items_.size() >= kMaxItems) return nullptr;
  OutputItem& item = items_.emplace_back();
  item.kind = kind;
  item.number = items_.size() - 1;
  item.position = next_position_;
  const bool more_text = kind == OutputItem::Kind::message && std::exchange(has_message_, true);
  if (!more_text) ++next_position_;
  return &item;
}

OutputItem* OutputItems::add(OutputItem::Kind kind, const ResponsesItem& item,
                             std::optional<std::int64_t> output_index) {
  OutputItem* made = add(kind);
  if (made == nullptr) return nullptr;
  made->id = item.id.view();
  made->call_id = item.call_id.view();
  made->output_index = output_index;
  return made;
}

// By id and call_id first. What is left belongs to the items that are left, in order.
void OutputItems::match(const ReusedList<ResponsesItem>& output,
                        const std::function<void(const ResponsesItem&, OutputItem*)>& use) {
  std::unordered_map<std::string_view, OutputItem*> ids;
  std::unordered_map<std::string_view, OutputItem*> call_ids;
  for (OutputItem& item : items_) {
    item.matched = false;
    if (!item.id.empty()) ids.emplace(item.id, &item);
    if (!item.other_id.empty()) ids.emplace(item.other_id, &item);
    if (!item.call_id.empty()) call_ids.emplace(item.call_id, &item);
  }
  const auto find = [](const auto& map, std::string_view key) -> OutputItem* {
    const auto found = map.find(key);
    return key.empty() || found == map.end() ? nullptr : found->second;
  };
  std::vector<OutputItem*> matches;
  for (const ResponsesItem& item : output) {
    OutputItem* same = find(ids, item.id.view());
    if (same == nullptr) same = find(call_ids, item.call_id.view());
    if (same != nullptr && same->kind != item_kind_of(item.type.view())) same = nullptr;
    if (same != nullptr) same->matched = true;
    matches.push_back(same);
  }
  std::array<std::size_t, 5> cursors{};
  const std::size_t known = items_.size();
  auto match = matches.begin();
  for (const ResponsesItem& item : output) {
    OutputItem* same = *match++;
    if (same == nullptr) same = next_unmatched(item, known, cursors);
    use(item, same);
  }
}

OutputItem* OutputItems::next_unmatched(const ResponsesItem& item, std::size_t known,
                                        std::span<std::size_t> cursors) {
  const OutputItem::Kind kind = item_kind_of(item.type.view());
  std::size_t& at = cursors[static_cast<std::size_t>(kind)];
  while (at < known && (items_[at].matched || items_[at].kind != kind)) ++at;
  if (at >= known) return nullptr;
  items_[at].matched = true;
  return &items_[at++];
}

}  // namespace callgate::upstream
