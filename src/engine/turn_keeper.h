// Keeps the events that leave for the client, up to a limit, to replay the turn when it is over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "callgate/event.h"
#include "chat/event_log.h"
#include "client/protocol.h"

namespace callgate::engine {

class TurnKeeper {
 public:
  // `limit`: bytes of all choices together.
  TurnKeeper(std::uint32_t choices, std::size_t limit);

  EventSink& choice(std::uint32_t index) { return *choices_[index]; }

  // More came than is kept. Nothing of it is kept any more.
  bool is_too_long() const { return used_ > limit_; }
  std::size_t bytes() const { return used_; }
  // The events once more. A choice that has not ended gets no TurnFinished, unless how it ends is known.
  void replay(ResponseEncoder& encoder) const;
  // A JSON array: runs of text joined, a call in one piece, the last usage. docs/log.md has the form.
  std::string print_events() const;
  std::string search_text() const;
  std::optional<FinishReason> reason() const { return choices_.front()->reason(); }

 private:
  class Choice final : public EventSink {
   public:
    explicit Choice(TurnKeeper& keeper) : keeper_(keeper) {}
    void accept(const Event& event) override;
    void replay(EventSink& sink) const;
    void print(std::string& out, std::uint32_t index) const;
    std::optional<FinishReason> reason() const;
    // A call that was not finished is complete all the same once its arguments are.
    bool rests_on_call() const;

    EventLog said;  // text, reasoning, refusals and calls with their fields
    // Apart, as they would cut runs of text.
    FieldFold turn_fields;
    FieldFold choice_fields;
    FieldFold message_fields;
    std::optional<Usage> usage;
    std::string usage_json;
    bool ended = false;
    std::optional<FinishReason> ending;  // no upstream_error

   private:
    void add_field(const FieldReported& field);

    TurnKeeper& keeper_;
  };

  bool take(std::size_t bytes);

  const std::size_t limit_;
  std::size_t used_ = 0;
  std::vector<std::unique_ptr<Choice>> choices_;
};

}  // namespace callgate::engine
