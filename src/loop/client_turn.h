// The one turn that the client sees: texts of all rounds, calls of its own tools counted anew, one usage, one end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "callgate/loop.h"
#include "chat/finish_reason.h"

namespace callgate::loop {

class ClientTurn {
 public:
  ClientTurn(ClientSink& sink, std::string separator)
      : sink_(&sink), separator_(std::move(separator)) {}

  // The model's next turn begins: its text is set apart from what came before, unless white space does that.
  void begin_round() { text_in_round_ = false; }
  void text(std::string_view text);
  void pass(const Event& event) { sink_->accept(event); }  // what has no number
  void start_call(std::string_view name, std::string_view id, bool in_text);
  void call_field(std::string_view name, std::string_view json);
  void arguments(std::string_view bytes);
  void finish_call(CallOutcome outcome);
  void notice(const Notice& notice) { sink_->notice(notice); }
  // Closes what is open. Gives the reason that the client was told.
  FinishReason finish(FinishReason reason, const Usage& usage, std::string_view usage_json);

 private:
  ClientSink* sink_;
  std::string separator_;
  CallTally tally_;
  bool has_text_ = false;
  bool text_in_round_ = false;
  bool ends_in_space_ = false;  // the text so far
  bool call_open_ = false;
};

}  // namespace callgate::loop
