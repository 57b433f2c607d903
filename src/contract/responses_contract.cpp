// The contract of a Responses stream: what OpenAI's SDK, the Agents SDK, the AI SDK, LangChain and Codex take for granted, taken
// together. Some act on the deltas, some on the items that are done, some on the response at the end: all must say the same.
#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "contract/chat_contract_json.h"
#include "contract/event_contract.h"
#include "contract/typed_contract.h"
#include "json/each.h"
#include "json/member.h"
#include "json/writer.h"

namespace callgate::contract {
namespace {

enum ResponsesRuleId : std::uint8_t {
  kResponsesEventKnown,
  kSequence,
  kCreatedFirst,
  kResponseForm,
  kItemsAdded,
  kItemIds,
  kItemsDone,
  kPartsAdded,
  kCallStartsEmpty,
  kDoneRepeats,
  kResponseEndsOnce,
  kOutputRepeats,
  kResponseUsage,
  kResponsesRuleCount,
};

constexpr std::array<ObjectRule, kResponsesRuleCount> kResponsesRules = {{
    {"event_known", "every event has a type of the API: an SDK refuses others"},
    {"sequence", "`sequence_number` counts up from 0 without gaps"},
    {"created_first", "`response.created` comes once, before everything else"},
    {"response_form",
     "every response object has each member of the API, if only as `null`, and the same `id`"},
    {"items_added", "an item is added once, with the next `output_index` and an id of its own"},
    {"item_ids", "every event of an item has its `item_id`"},
    {"items_done", "every item is done once, whole, after its last delta"},
    {"parts_added", "text comes inside a part that was added and is not done"},
    {"call_starts_empty", "a call is added with its `name`, its `call_id` and `arguments: \"\"`"},
    {"done_repeats", "what is done has what its deltas join to"},
    {"ends_once", "exactly one event ends the response, and nothing follows it"},
    {"output_repeats",
     "`output` of the response at its end has all items that were done, in order"},
    {"response_usage", "its `usage` has the three counts and both details"},
}};

constexpr std::string_view kResponsesEvents[] = {
    "response.created",
    "response.queued",
    "response.in_progress",
    "response.completed",
    "response.incomplete",
    "response.output_item.added",
    "response.output_item.done",
    "response.content_part.added",
    "response.content_part.done",
    "response.output_text.delta",
    "response.output_text.done",
    "response.output_text.annotation.added",
    "response.refusal.delta",
    "response.refusal.done",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.custom_tool_call_input.delta",
    "response.custom_tool_call_input.done",
    "response.reasoning_summary_part.added",
    "response.reasoning_summary_part.done",
    "response.reasoning_summary_text.delta",
    "response.reasoning_summary_text.done",
    "response.reasoning_text.delta",
    "response.reasoning_text.done",
};
// Events of tools that the server runs.
constexpr std::string_view kResponsesToolEvents[] = {"response.web_search_call.",
                                                     "response.file_search_call.",
                                                     "response.code_interpreter_call",
                                                     "response.image_generation_call.",
                                                     "response.mcp_call",
                                                     "response.mcp_list_tools.",
                                                     "response.audio.",
                                                     "response.compaction."};

constexpr std::string_view kResponseMembers[] = {"id",
                                                 "object",
                                                 "created_at",
                                                 "status",
                                                 "error",
                                                 "incomplete_details",
                                                 "instructions",
                                                 "max_output_tokens",
                                                 "model",
                                                 "output",
                                                 "parallel_tool_calls",
                                                 "previous_response_id",
                                                 "reasoning",
                                                 "store",
                                                 "temperature",
                                                 "text",
                                                 "tool_choice",
                                                 "tools",
                                                 "top_p",
                                                 "truncation",
                                                 "usage",
                                                 "metadata"};

// The same JSON, whatever its white space.
std::string without_blanks(std::string_view json) {
  std::string out;
  json::append_compact(out, json);
  return out;
}

class ResponsesContract final : public TypedContract {
 public:
  explicit ResponsesContract(const ContractTerms& terms) : TypedContract(terms, kResponsesRules) {}

 private:
  struct Item {
    std::string id;
    std::string type;
    std::string part;  // what its open part said so far
    std::string done;  // without blanks; empty: it is not done
    bool part_open = false;
  };

  void take(const TypedEvent& event) override {
    const std::string& type = event.type;
    if (type == "error") return fail_error(event.json);
    if (type == "keepalive") return;
    check_sequence(event.json);
    if (ends_ > 0) fail(kResponseEndsOnce, type + " follows the end");
    if (type == "response.failed") {
      ++ends_;
      failed_ = true;  // what it cut is never done
      return fail_error(event.json);
    }
    if (!is_known(type)) return fail(kResponsesEventKnown, type);
    if (type != "response.created" && creations_ == 0) {
      fail(kCreatedFirst, type + " comes before it");
    }
    if (const std::string_view response = json::given_member(event.json, "response");
        !response.empty()) {
      return take_response(type, response);
    }
    if (type == "response.output_item.added") return add_item(event.json);
    Item* item = item_of(event.json);
    if (!item) return;
    if (type == "response.output_item.done") return finish_item(*item, event.json);
    if (!item->done.empty()) fail(kItemsDone, type + " follows its item");
    take_part(*item, event);
  }

  static bool is_known(std::string_view type) {
    return std::find(std::begin(kResponsesEvents), std::end(kResponsesEvents), type) !=
               std::end(kResponsesEvents) ||
           std::any_of(std::begin(kResponsesToolEvents), std::end(kResponsesToolEvents),
                       [&](std::string_view prefix) { return type.starts_with(prefix); });
  }

  void check_sequence(std::string_view json) {
    const std::string_view number = json::given_member(json, "sequence_number");
    if (to_integer(number) != sequence_) {
      fail(kSequence, shown(number) + ", expected " + std::to_string(sequence_));
    }
    sequence_ = to_integer(number).value_or(sequence_) + 1;
  }

  void take_response(const std::string& type, std::string_view response) {
    check_form(response);
    if (type == "response.created" && (++creations_ > 1 || !items_.empty())) {
      fail(kCreatedFirst, "it comes again");
    }
    if (type != "response.completed" && type != "response.incomplete") return;
    ++ends_;
    status_ = json::member_text(response, "status");
    end_turn(status_);
    std::size_t i = 0;
    json::each_element(json::given_member(response, "output"), [&](std::string_view item) {
      if (i >= items_.size() || without_blanks(item) != items_[i].done) {
        fail(kOutputRepeats, "item " + std::to_string(i) + " is another: " + shown(item));
      }
      ++i;
    });
    if (i != items_.size()) {
      fail(kOutputRepeats, std::to_string(i) + " of " + std::to_string(items_.size()) + " items");
    }
    check_usage(json::given_member(response, "usage"));
  }

  void check_form(std::string_view response) {
    const auto found = members(response, kResponseMembers);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i].empty())
        fail(kResponseForm, "`" + std::string(kResponseMembers[i]) + "` is missing");
    }
    const auto [id, object, created, output] =
        members(response, {"id", "object", "created_at", "output"});
    if (id_.empty()) id_ = id;
    if (id.size() < 3 || id != id_) fail(kResponseForm, "`id` is " + shown(id));
    if (object != "\"response\"") fail(kResponseForm, "`object` is " + shown(object));
    if (!to_integer(created)) fail(kResponseForm, "`created_at` is " + shown(created));
    if (!is_array(output)) fail(kResponseForm, "`output` is " + shown(output));
  }

  void check_usage(std::string_view usage) {
    for (const std::string_view name : {"input_tokens", "output_tokens", "total_tokens"}) {
      if (to_integer(json::given_member(usage, name))) continue;
      fail(kResponseUsage, "`" + std::string(name) + "` is not an integer");
    }
    for (const std::string_view name : {"input_tokens_details", "output_tokens_details"}) {
      if (is_object(json::given_member(usage, name))) continue;
      fail(kResponseUsage, "`" + std::string(name) + "` is missing");
    }
  }

  void add_item(std::string_view json) {
    const std::string_view index = json::given_member(json, "output_index");
    if (to_integer(index) != static_cast<std::int64_t>(items_.size())) {
      fail(kItemsAdded, "`output_index` is " + shown(index));
    }
    const std::string_view item = json::given_member(json, "item");
    Item made{.id = json::member_text(item, "id"), .type = json::member_text(item, "type")};
    const bool again = std::any_of(items_.begin(), items_.end(),
                                   [&](const Item& known) { return known.id == made.id; });
    if (made.id.empty() || again) fail(kItemsAdded, "its id is " + shown(made.id));
    if (made.type == "function_call") {
      const std::string name = json::member_text(item, "name");
      const std::string id = json::member_text(item, "call_id");
      call_ = &begin_call(id, name);
      if (name.empty() || id.empty() || json::given_member(item, "arguments") != "\"\"") {
        fail(kCallStartsEmpty, item);
      }
    }
    items_.push_back(std::move(made));
  }

  // The item that an event is about.
  Item* item_of(std::string_view json) {
    const auto index = to_integer(json::given_member(json, "output_index"));
    if (!index || *index < 0 || *index >= static_cast<std::int64_t>(items_.size())) {
      fail(kItemsAdded, "an event of an item that was not added");
      return nullptr;
    }
    Item& item = items_[static_cast<std::size_t>(*index)];
    std::string id = json::member_text(json, "item_id");
    if (id.empty()) id = json::member_text(json::given_member(json, "item"), "id");
    if (id != item.id) fail(kItemIds, "\"" + id + "\" for \"" + item.id + "\"");
    return &item;
  }

  void take_part(Item& item, const TypedEvent& event) {
    const std::string_view type = event.type;
    if (type.ends_with("_part.added")) {
      item.part_open = true;
      item.part.clear();
    } else if (type.ends_with("_part.done")) {
      item.part_open = false;
    } else if (type.ends_with(".delta")) {
      take_delta(item, type, json::member_text(event.json, "delta"));
    } else if (type.ends_with(".done")) {
      std::string whole;
      for (const std::string_view name : {"text", "arguments", "input", "refusal"}) {
        whole += json::member_text(event.json, name);
      }
      if (whole != item.part) fail(kDoneRepeats, std::string(type) + " has " + excerpt(whole));
    }
  }

  void take_delta(Item& item, std::string_view type, const std::string& delta) {
    const bool text = type == "response.output_text.delta" || type == "response.refusal.delta";
    if (text && !item.part_open) fail(kPartsAdded, type);
    parts_ = parts_ || text;
    item.part += delta;
    if (type == "response.output_text.delta") say("content", delta);
    if (type == "response.refusal.delta") say("refusal", delta);
    if (type.starts_with("response.reasoning_")) say("reasoning", delta);
    if (call_ && type == "response.function_call_arguments.delta") add_arguments(*call_, delta);
  }

  void finish_item(Item& item, std::string_view json) {
    const std::string_view whole = json::given_member(json, "item");
    if (!item.done.empty()) fail(kItemsDone, "an item is done again");
    item.done = without_blanks(whole);
    if (json::member_text(whole, "type") != item.type) fail(kDoneRepeats, "another type");
    if (item.type == "function_call") {
      if (json::member_text(whole, "arguments") != item.part) {
        fail(kDoneRepeats, "`arguments` are " + shown(json::given_member(whole, "arguments")));
      }
      if (call_) end_call(*call_, false);
      call_ = nullptr;
    } else if (item.type == "message") {
      std::string_view last;
      json::each_element(json::given_member(whole, "content"),
                         [&](std::string_view part) { last = part; });
      const std::string said = json::member_text(last, "text") + json::member_text(last, "refusal");
      if (said != item.part) fail(kDoneRepeats, "the item has " + excerpt(said));
    }
  }

  bool has_ended() const override { return ends_ > 0; }

  void judge_end() override {
    if (creations_ == 0) fail(kCreatedFirst, "there is none");
    if (ends_ != 1) fail(kResponseEndsOnce, std::to_string(ends_) + " times");
    for (const Item& item : items_) {
      if (item.done.empty() && ends_ > 0 && !failed_)
        fail(kItemsDone, item.type + " is never done");
    }
    const std::string items = std::to_string(items_.size()) + " items";
    for (const ResponsesRuleId rule : {kItemsAdded, kItemIds, kItemsDone, kDoneRepeats}) {
      if (!items_.empty()) pass(rule, items);
    }
    if (parts_) pass(kPartsAdded, "yes");
    if (call_count() > 0) pass(kCallStartsEmpty, std::to_string(call_count()) + " calls");
    for (const ResponsesRuleId rule :
         {kResponsesEventKnown, kSequence, kCreatedFirst, kResponseForm, kResponseEndsOnce}) {
      pass(rule, "yes");
    }
    if (status_.empty()) return;
    pass(kOutputRepeats, items);
    pass(kResponseUsage, "yes");
  }

  std::vector<Item> items_;
  TypedCall* call_ = nullptr;  // of the item that is open
  std::string id_;             // of the response, as JSON
  std::string status_;
  std::int64_t sequence_ = 0;
  std::uint32_t creations_ = 0;
  std::uint32_t ends_ = 0;
  bool failed_ = false;
  bool parts_ = false;  // some text came
};

}  // namespace

std::span<const ObjectRule> responses_rules() { return kResponsesRules; }

std::unique_ptr<StreamContract> make_responses_contract(const ContractTerms& terms) {
  return std::make_unique<ResponsesContract>(terms);
}

}  // namespace callgate::contract
