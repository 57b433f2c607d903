// The contract of a Messages stream: what Anthropic's SDK, the AI SDK, LangChain and Claude Code take for granted, taken together.
#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "contract/chat_contract_json.h"
#include "contract/event_contract.h"
#include "contract/typed_contract.h"
#include "json/member.h"

namespace callgate::contract {
namespace {

enum MessagesRuleId : std::uint8_t {
  kEventLines,
  kEventKnown,
  kStartFirst,
  kStartForm,
  kBlockIndex,
  kBlocksInSequence,
  kDeltasFit,
  kInputInDeltas,
  kStopReasonOnce,
  kStopReasonKnown,
  kStopReasonMatches,
  kMessageUsage,
  kStopLast,
  kMessagesRuleCount,
};

constexpr std::array<ObjectRule, kMessagesRuleCount> kMessagesRules = {{
    {"event_lines", "every frame has an `event:` line: SDKs drop frames without one"},
    {"event_known", "every event, block and delta has a type of the API"},
    {"start_first", "`message_start` comes once, before everything but a `ping`"},
    {"start_form",
     "it has `id`, `type`, `role`, `model`, empty `content`, `stop_reason` `null`, and "
     "`usage` with both counts"},
    {"block_index", "the index of a block is its place in the content, from 0"},
    {"blocks_in_sequence",
     "a block is started, gets its deltas and is stopped before the next one"},
    {"deltas_fit", "a delta is of its block's kind"},
    {"input_in_deltas", "a call starts with `input: {}` and gets it as `input_json_delta`"},
    {"stop_reason_once", "exactly one `message_delta` has a `stop_reason`"},
    {"stop_reason_known", "it is a word of the API"},
    {"stop_reason_matches_calls", "it is `tool_use` with calls, and only then"},
    {"message_usage", "`message_delta` has `usage.output_tokens`, an integer"},
    {"stop_last", "`message_stop` comes exactly once, and nothing but a `ping` follows it"},
}};

constexpr std::string_view kStopReasons[] = {"end_turn",
                                             "max_tokens",
                                             "stop_sequence",
                                             "tool_use",
                                             "pause_turn",
                                             "refusal",
                                             "model_context_window_exceeded"};

// Which deltas a block gets.
struct BlockKind {
  std::string_view type;
  std::array<std::string_view, 3> deltas;
};
constexpr BlockKind kBlockKinds[] = {
    {"text", {"text_delta", "citations_delta"}},
    {"thinking", {"thinking_delta", "signature_delta"}},
    {"redacted_thinking", {}},
    {"tool_use", {"input_json_delta"}},
    {"server_tool_use", {"input_json_delta"}},
    {"mcp_tool_use", {"input_json_delta"}},
    {"mcp_tool_result", {}},
    {"container_upload", {}},
};
constexpr std::string_view kDeltaTypes[] = {"text_delta", "citations_delta", "thinking_delta",
                                            "signature_delta", "input_json_delta"};

template <std::size_t N>
bool is_one_of(std::string_view word, const std::string_view (&words)[N]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

class MessagesContract final : public TypedContract {
 public:
  explicit MessagesContract(const ContractTerms& terms) : TypedContract(terms, kMessagesRules) {}

 private:
  void take(const TypedEvent& event) override {
    if (event.name.empty()) fail(kEventLines, event.type + " has none");
    if (event.type == "ping") return;
    if (event.type == "error") return fail_error(event.json);
    if (stops_ > 0) fail(kStopLast, event.type + " follows it");
    if (event.type == "message_start") return take_start(event.json);
    if (starts_ == 0) fail(kStartFirst, event.type + " comes before it");
    if (event.type == "content_block_start") return start_block(event.json);
    if (event.type == "content_block_delta") return take_delta(event.json);
    if (event.type == "content_block_stop") return stop_block(event.json);
    if (event.type == "message_delta") return take_end(event.json);
    if (event.type != "message_stop") return fail(kEventKnown, event.type);
    if (open_) fail(kBlocksInSequence, "a block is not stopped at the end");
    ++stops_;
  }

  void take_start(std::string_view json) {
    if (++starts_ > 1 || blocks_ > 0) fail(kStartFirst, "it comes again");
    const std::string_view message = json::given_member(json, "message");
    const auto [id, type, role, model, content, reason, usage] =
        members(message, {"id", "type", "role", "model", "content", "stop_reason", "usage"});
    const auto [input, output] = members(usage, {"input_tokens", "output_tokens"});
    const std::pair<std::string_view, bool> needs[] = {
        {"id", is_string(id) && id != "\"\""},
        {"type", type == "\"message\""},
        {"role", role == "\"assistant\""},
        {"model", is_string(model) && model != "\"\""},
        {"content", content == "[]"},
        {"stop_reason", reason == "null"},
        {"usage.input_tokens", to_integer(input).has_value()},
        {"usage.output_tokens", to_integer(output).has_value()}};
    for (const auto& [name, good] : needs) {
      if (!good) fail(kStartForm, "`" + std::string(name) + "` is missing or wrong");
    }
  }

  void check_index(std::string_view json, std::int64_t expected) {
    const std::string_view index = json::given_member(json, "index");
    if (to_integer(index) != expected) {
      fail(kBlockIndex, shown(index) + ", expected " + std::to_string(expected));
    }
  }

  void start_block(std::string_view json) {
    if (open_) fail(kBlocksInSequence, "a block starts inside another");
    open_ = true;
    check_index(json, blocks_++);
    const std::string_view block = json::given_member(json, "content_block");
    type_ = json::member_text(block, "type");
    call_ = nullptr;
    const bool result = type_.ends_with("_tool_result");
    const bool known = std::any_of(std::begin(kBlockKinds), std::end(kBlockKinds),
                                   [this](const BlockKind& kind) { return kind.type == type_; });
    if (!known && !result) fail(kEventKnown, "a block of type " + type_);
    if (type_ == "text") say("content", json::member_text(block, "text"));
    if (type_ != "tool_use") return;
    call_ = &begin_call(json::member_text(block, "id"), json::member_text(block, "name"));
    const std::string_view input = json::given_member(block, "input");
    if (input != "{}") fail(kInputInDeltas, "`input` is " + shown(input));
  }

  void take_delta(std::string_view json) {
    check_index(json, blocks_ - 1);
    if (!open_) return fail(kBlocksInSequence, "a delta without a block");
    const std::string_view delta = json::given_member(json, "delta");
    const std::string type = json::member_text(delta, "type");
    if (!is_one_of(type, kDeltaTypes)) return fail(kEventKnown, "a delta of type " + type);
    const auto kind = std::find_if(std::begin(kBlockKinds), std::end(kBlockKinds),
                                   [this](const BlockKind& known) { return known.type == type_; });
    if (kind != std::end(kBlockKinds) &&
        std::find(kind->deltas.begin(), kind->deltas.end(), type) == kind->deltas.end()) {
      fail(kDeltasFit, type + " in a block of type " + type_);
    }
    if (type == "text_delta") say("content", json::member_text(delta, "text"));
    if (type == "thinking_delta") say("reasoning", json::member_text(delta, "thinking"));
    if (call_ && type == "input_json_delta") {
      add_arguments(*call_, json::member_text(delta, "partial_json"));
    }
  }

  void stop_block(std::string_view json) {
    check_index(json, blocks_ - 1);
    if (!open_) fail(kBlocksInSequence, "a block stops that is not open");
    open_ = false;
    if (call_) end_call(*call_, true);
    call_ = nullptr;
  }

  void take_end(std::string_view json) {
    if (open_) fail(kBlocksInSequence, "the message ends inside a block");
    const std::string reason = json::member_text(json::given_member(json, "delta"), "stop_reason");
    const std::string_view usage = json::given_member(json, "usage");
    if (!to_integer(json::given_member(usage, "output_tokens"))) {
      fail(kMessageUsage, shown(usage));
    }
    if (reason.empty()) return;
    if (++reasons_ > 1) fail(kStopReasonOnce, "again: " + reason);
    if (!is_one_of(reason, kStopReasons)) fail(kStopReasonKnown, reason);
    const bool cut = reason == "max_tokens" || reason == "model_context_window_exceeded";
    if (!cut && (reason == "tool_use") != (call_count() > 0)) {
      fail(kStopReasonMatches, reason + " with " + std::to_string(call_count()) + " calls");
    }
    end_turn(reason);
  }

  bool has_ended() const override { return stops_ > 0; }

  void judge_end() override {
    if (starts_ == 0) fail(kStartFirst, "there is none");
    if (reasons_ == 0) fail(kStopReasonOnce, "there is none");
    if (stops_ != 1) fail(kStopLast, std::to_string(stops_) + " times");
    const std::string blocks = std::to_string(blocks_) + " blocks";
    for (const MessagesRuleId rule : {kBlockIndex, kBlocksInSequence, kDeltasFit}) {
      if (blocks_ > 0) pass(rule, blocks);
    }
    if (call_count() > 0) pass(kInputInDeltas, std::to_string(call_count()) + " calls");
    for (const MessagesRuleId rule :
         {kEventLines, kEventKnown, kStartFirst, kStartForm, kStopReasonOnce, kStopLast}) {
      pass(rule, "yes");
    }
    if (reasons_ == 0) return;
    for (const MessagesRuleId rule : {kStopReasonKnown, kStopReasonMatches, kMessageUsage}) {
      pass(rule, "yes");
    }
  }

  std::string type_;           // of the open block
  TypedCall* call_ = nullptr;  // of the open block
  std::int64_t blocks_ = 0;
  std::uint32_t starts_ = 0;
  std::uint32_t reasons_ = 0;
  std::uint32_t stops_ = 0;
  bool open_ = false;
};

}  // namespace

std::span<const ObjectRule> messages_rules() { return kMessagesRules; }

std::unique_ptr<StreamContract> make_messages_contract(const ContractTerms& terms) {
  return std::make_unique<MessagesContract>(terms);
}

}  // namespace callgate::contract
