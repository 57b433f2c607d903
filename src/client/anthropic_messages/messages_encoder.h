// Events -> content blocks in their order: which block is open, what belongs to its start, and how the message ends. How a block
// is written, as frames or as part of a whole message, is for the two encoders to say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/anthropic_messages/messages_usage.h"
#include "client/cut_call.h"
#include "client/protocol.h"

namespace callgate::client {

class MessagesEncoder : public ResponseEncoder, private EventSink {
 public:
  MessagesEncoder(const Request& request, const ResponseIdentity& identity);

  EventSink& choice(std::uint32_t) final { return *this; }
  void bind(std::string& out) final { out_ = &out; }

 protected:
  enum class Open : std::uint8_t { none, text, thinking, call, native };

  // A block begins, as JSON without its closing brace. It becomes block `index_`.
  virtual void start_block(std::string_view start) = 0;
  // More of the open block: text as it is, or the JSON of a delta that callgate does not know.
  virtual void add_text(std::string_view text) = 0;
  virtual void add_native(std::string_view delta) = 0;
  // The open block is over. `signature`: JSON, for a block of thinking.
  virtual void stop_block(std::string_view signature) = 0;
  // A frame that callgate does not know.
  virtual void pass_frame(std::string_view type, std::string_view frame) = 0;

  // Members that an upstream of the same format gave a frame and its delta, each with a comma before it.
  struct FrameMembers {
    std::string type;
    std::string of_frame;
    std::string of_delta;
  };
  // Those that wait for the next frame of that type.
  FrameMembers take_members(std::string_view type);
  bool members_wait() const { return !waiting_.empty(); }

  std::string& out();
  // The end of the message: `"stop_reason":...` and what stands beside it, without braces.
  void append_stop(std::string& out) const;
  bool ended_well() const { return reason_ && *reason_ != FinishReason::upstream_error; }

  const ResponseIdentity identity_;
  MessagesUsage usage_;
  Open open_ = Open::none;
  std::size_t index_ = 0;  // of the open block, or of the next
  // `,"name":json` each: members of the message, of its end, and beside its end.
  std::string message_fields_;
  std::string end_fields_;

 private:
  void accept(const Event& event) final;
  void text(std::string_view text);
  void reason(std::string_view text);
  void start_call(const CallStarted& event);
  void open_call();
  void finish_call();
  void open(Open kind, std::string_view start);
  void close();

  void field(const FieldReported& event);
  void detail(std::string_view json);
  void seal(std::string_view element);
  void add_sealed_block(std::string_view element);
  void add_redacted(std::string_view data);
  std::string take_signature();
  void frame(std::string_view json);
  void frame_start(std::string_view block);
  void frame_end(std::string_view json);
  void match_stop(std::string_view json);
  void keep_members(std::string_view json);

  std::vector<FrameMembers> waiting_;
  std::vector<std::string> stops_;  // the sequences that the client asked for
  std::string* out_ = nullptr;
  std::string start_;   // scratch
  std::string extras_;  // members of the next block of a kind that callgate knows
  // A call whose block has not begun: what comes with its start stands before it.
  bool call_waits_ = false;
  bool call_empty_ = true;
  std::string call_id_;
  std::string call_name_;
  std::string call_fields_;
  CutCall cut_;
  std::vector<std::string> late_details_;  // told while a call was open
  // Of the open block of thinking.
  std::string signature_;  // JSON
  std::string sealed_;     // elements of other issuers
  std::size_t sealed_count_ = 0;
  // How it ends.
  std::optional<FinishReason> reason_;
  std::string refusal_;
  std::string matched_;      // the stop sequence, JSON
  std::string native_stop_;  // the upstream's own word
  std::string stop_fields_;  // beside it
};

// `,"name":json` on one line.
void append_frame_member(std::string& out, std::string_view name, std::string_view json);

}  // namespace callgate::client
