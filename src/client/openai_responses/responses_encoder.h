// Events -> a Responses answer, streamed or whole. Both are made by the same steps: a whole answer is the object that a stream ends
// with. Hot: everything that is constant in a delta is built when its item begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/cut_call.h"
#include "client/openai_chat/openai_usage.h"
#include "client/openai_responses/freeform_input.h"
#include "client/openai_responses/responses_echo.h"
#include "client/openai_responses/responses_others.h"
#include "client/protocol.h"

namespace callgate::client {

class ResponsesEncoder final : public ResponseEncoder, private EventSink {
 public:
  ResponsesEncoder(const Request& request, const ResponseIdentity& identity);

  EventSink& choice(std::uint32_t index) override {
    return index == 0 ? static_cast<EventSink&>(*this) : others_;
  }
  void bind(std::string& out) override { out_ = &out; }
  void finish(const AnswerEnd& end) override;
  void note(std::string_view name, std::string_view json) override;
  void fail(const Error& error) override;

 private:
  enum class Kind : std::uint8_t { none, message, reasoning, call, custom_call, search_call };
  enum class Part : std::uint8_t { none, text, refusal };
  // An answer has one choice.
  class NoSink final : public EventSink {
    void accept(const Event&) override {}
  };

  void accept(const Event& event) override;
  void say(Part part, std::string_view text);
  void think(std::string_view text);
  void start_call(const CallStarted& event);
  void add_arguments(std::string_view bytes);
  void finish_call(bool whole);
  void take_field(const FieldReported& event);
  void take_details(std::string_view list);
  void take_annotations(std::string_view list);
  // What an upstream of the same format says of its items and its response.
  bool take_same_format(const FieldReported& event);
  void keep_members(std::string type, std::string members);
  void append_members(std::string_view type);
  void forget_members(std::string_view type);
  void take_other(std::string_view name, std::string_view json);
  void add_other_item(std::string_view item, bool whole);
  void store_item(std::size_t index, std::string item);
  void close_others();
  void end_turn(FinishReason reason);

  // Frames. Nothing is written for a whole answer.
  void begin();
  bool open_frame(std::string_view type);
  void close_frame() { out_->append("}\n\n"); }
  void write_response(std::string_view type, const ResponsesEcho::Standing& standing);
  void write_item(std::string_view type, std::string_view item);
  void write_item(std::string_view type, std::string_view item, std::size_t index);
  void place_in_item(std::string_view part_index = {});
  void write_delta(std::string_view text);
  void write_delta_head();

  // Items.
  void open_item(Kind kind, std::string_view prefix);
  void set_delta(std::string_view type, std::string_view part_index);
  void close_item(bool whole = true);
  void end_item(std::string item);
  void open_part(Part part);
  void close_part();
  void close_reasoning();
  void close_call(bool whole);
  void flush_details();
  void add_sealed_item(std::string_view element);
  void add_compaction();
  std::string call_item(std::string_view status, std::string_view said) const;
  std::string reasoning_item(std::string_view id, std::string_view summary,
                             std::string_view encrypted) const;
  static std::optional<std::string> encrypted_of(std::string_view element);
  std::string mint_id(std::string_view prefix) const;

  const ToolAlias* find_alias(std::string_view function) const;
  // Members of the upstream's own usage that callgate does not know, each with a comma before it.
  struct ToldMembers {
    std::string of_input;
    std::string of_output;
    std::string of_all;
  };
  static ToldMembers told_members(std::string_view usage);
  std::string print_usage(const AnswerEnd& end) const;
  std::string joined_output() const;
  ResponsesEcho::Standing standing(std::string_view joined) const;

  const bool stream_;
  const bool compacts_;
  const std::vector<ToolAlias> aliases_;
  ResponsesEcho echo_;
  std::string suffix_;  // of the ids of items
  NoSink others_;
  std::string* out_ = nullptr;
  std::int64_t sequence_ = 0;
  bool begun_ = false;

  std::vector<std::string> output_;  // by index; empty: an item that is not done
  std::size_t items_ = 0;            // that began
  Kind kind_ = Kind::none;           // of the open item
  std::string id_;
  std::string_view delta_type_;
  std::string delta_head_;  // of a delta's frame, up to its number
  std::string delta_place_;
  std::string
      text_;  // of the open part or call, escaped; of a summary that will be sealed, as it is

  Part part_ = Part::none;
  std::size_t part_index_ = 0;
  std::string parts_;             // of the message, done
  std::string logprobs_;          // of the part
  std::string waiting_logprobs_;  // of the next delta
  std::string annotations_;       // of the part
  std::size_t annotation_count_ = 0;
  std::string waiting_annotations_;  // that came before any text

  std::vector<std::string> details_;  // of reasoning, not yet in an item

  ResponsesOthers unknown_;
  // Of the item that the upstream began last.
  std::string next_type_;
  std::string next_id_;
  std::string next_members_;  // `,"phase":"commentary"`
  std::string members_;       // of the open item
  std::string next_part_members_;
  std::string part_members_;  // of the open part
  // By the type of the event that they wait for.
  std::vector<std::pair<std::string, std::string>> waiting_members_;

  const ToolAlias* alias_ = nullptr;
  std::string call_id_;
  std::string name_;
  FreeformInput freeform_;
  CutCall cut_;
  std::string scratch_;

  ToldUsage usage_;
  std::string more_;  // members of the response beside those of the API
  std::optional<FinishReason> reason_;
};

}  // namespace callgate::client
