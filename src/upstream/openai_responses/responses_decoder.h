// Responses answers -> events. Items become prose and calls in their order; items of tools that the server runs itself
// (web_search_call and the like), unknown ones and unknown events concern only a client of the same format. The input of a custom
// call, which is plain text, becomes the arguments {"input": "..."}.
//
// What an item says comes as deltas, once more when a part ends, when the item ends, and in the whole response at the end.
// Whatever comes first is passed on; of what repeats it only the rest that is new.
//
// Reasoning that can be sent back is also reported as a whole in `reasoning_details`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "upstream/call_tracker.h"
#include "upstream/decoder_base.h"
#include "upstream/openai_responses/responses_frame.h"
#include "upstream/openai_responses/responses_items.h"
#include "upstream/tool_names.h"

namespace callgate::upstream {

class ResponsesDecoder final : public DecoderBase {
 public:
  // REQUIRES: `tools`, the declared ones, outlive the decoder.
  explicit ResponsesDecoder(std::span<const ToolSpec> tools = {}) : names_(tools) {
    tracker_.expect_disorder(tools);
  }
  // For a client that speaks Responses itself: it is told of whatever has no event of its own, see same_format.h. `aliases`: how it
  // calls its tools.
  ResponsesDecoder(std::span<const ToolSpec> tools, std::vector<ToolAlias> aliases)
      : ResponsesDecoder(tools) {
    same_format_ = true;
    reader_.keep_others();
    aliases_ = std::move(aliases);
  }

  void push(const SseFrame& frame, ChoiceSinks& sinks) override;
  void push_body(std::string_view body, ChoiceSinks& sinks) override;

  bool complete() const override { return said_.has_value() && !error_; }
  std::string dropped() const override {
    return same_format_ ? std::string() : reader_.dropped().print();
  }

 private:
  // The texts that an item has: which kind of item speaks, and how it is heard.
  struct Lane {
    OutputItem::Kind kind;
    Prose prose;
    bool other;  // OutputItem::other, not OutputItem::text
  };
  static constexpr Lane kText{OutputItem::Kind::message, Prose::text, false};
  static constexpr Lane kRefusal{OutputItem::Kind::message, Prose::refusal, true};
  static constexpr Lane kSummary{OutputItem::Kind::reasoning, Prose::reasoning, false};
  static constexpr Lane kThought{OutputItem::Kind::reasoning, Prose::reasoning, true};

  bool apply(std::string_view type, const ResponsesFrame& frame, EventSink& sink);
  bool apply_prose(std::string_view type, const ResponsesFrame& frame, EventSink& sink);
  bool apply_call(std::string_view type, const ResponsesFrame& frame, EventSink& sink);
  bool repeats_last(std::string_view type, std::string_view data, const ResponsesFrame& frame);

  void start_part(const ResponsesFrame& frame);
  void say_delta(const Lane& lane, const ResponsesFrame& frame, EventSink& sink);
  void say_done(const Lane& lane, const ResponsesFrame& frame, EventSink& sink);
  void say_rest(const Lane& lane, OutputItem& item, const ReusedList<ResponsesPart>& parts,
                EventSink& sink);
  void speak(const Lane& lane, OutputItem& item, std::int64_t part, std::string_view text,
             EventSink& sink);
  static SurrogateJoiner& halves_of(const Lane& lane, OutputItem& item) {
    return lane.other ? item.other_halves : item.text_halves;
  }
  void end_text(const Lane& lane, OutputItem& item, EventSink& sink);
  void end_texts(OutputItem& item, EventSink& sink);

  void start_item(const ResponsesFrame& frame, EventSink& sink);
  void finish_item(OutputItem& state, const ResponsesItem& item, EventSink& sink);
  void name_call(OutputItem& state, std::string_view name, std::string_view id, EventSink& sink);
  void finish_call(OutputItem& state, const ResponsesItem& item, EventSink& sink);
  void push_arguments(OutputItem& state, std::string_view text, bool object, EventSink& sink);
  void push_rest(OutputItem& state, std::string_view whole, bool object, EventSink& sink);
  void finish_open_calls(bool whole, EventSink& sink);
  void push_raw(const OutputItem& state, std::string_view json, bool object, EventSink& sink);
  void report_annotation(std::string_view json, EventSink& sink);
  void report_logprobs(std::string_view list, EventSink& sink);
  void report_item(std::string_view field, const ResponsesItem& item, EventSink& sink);
  void report_json(std::string_view field, std::string_view json, EventSink& sink);
  void report_members(std::string_view type, const KeptMembers& members, EventSink& sink);
  void report_event(std::string_view data, EventSink& sink);
  // The function that stands for the tool of a call.
  std::string_view function_of(const ResponsesItem& item) const;

  void apply_end(std::string_view status, const ResponsesBody& body, EventSink& sink);
  void end(Ending ending, ChoiceSinks& sinks) override { end(ending, sinks.choice(0)); }
  void end(Ending ending, EventSink& sink);

  ResponsesFrameReader reader_;
  OutputItems items_;
  CallTracker tracker_;
  CallPiece piece_;
  std::string escaped_;
  std::string members_;  // scratch
  std::string joined_;
  // Who spoke last, by Prose.
  struct Speaker {
    std::size_t item = 0;
    std::int64_t part = 0;
    bool operator==(const Speaker&) const = default;
  };
  std::array<std::optional<Speaker>, 3> speakers_;
  std::optional<std::int64_t> sequence_;
  bool counts_up_ = false;  // sequence numbers do what they should
  std::string last_delta_;
  std::optional<FinishReason> said_;
  bool seen_ = false;  // something of the output
  ToolNames names_;
  bool same_format_ = false;
  std::unordered_set<std::string> other_ids_;  // of items without events that were reported
  std::vector<ToolAlias> aliases_;
};

}  // namespace callgate::upstream
