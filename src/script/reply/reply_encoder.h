// Events -> the bytes that a model server would send: one encoder per wire format, one row in reply_format.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "callgate/event.h"
#include "callgate/request.h"
#include "chat/event_log.h"
#include "client/protocol.h"
#include "script/fault.h"
#include "script/reply/call_run.h"
#include "script/tape.h"

namespace callgate::script {

// Where an answer belongs, for a wire format whose upstream keeps conversations.
struct ReplyPlace {
  std::string chat_id;
  std::string parent_id;    // the message that is answered
  std::string response_id;  // the answer

  bool empty() const { return chat_id.empty(); }
};

struct ReplyIdentity {
  std::string id;
  std::string model;
  std::int64_t created = 0;
  std::uint32_t choices = 1;
  bool include_usage = false;
  bool legacy_functions = false;  // the caller used `functions`
  std::string_view form = {};     // Request::form
  ReplyPlace place;
};

class ReplyEncoder {
 public:
  virtual ~ReplyEncoder() = default;

  // A streamed answer. Events may break the event grammar where a fault asks for it (calls that interleave).
  // UsageReported sets the counts so far; when they are written is the wire format's to say.
  virtual void push(std::uint32_t choice, const Event& event, Tape& tape) = 0;
  // Calls that follow one another. Where faults order their deltas, they come to push() in that order.
  virtual void push_calls(std::uint32_t choice, const std::vector<PlannedCall>& calls,
                          const Cut& cut, const Faults& faults, Tape& tape) {
    emit_calls(calls, cut, faults, [&](const Event& event) { push(choice, event, tape); });
  }
  // Every choice is finished: what the wire format says last, its end marker only when `marker` is true.
  virtual void end(bool marker, Tape& tape) = 0;
  // One frame with this JSON, verbatim.
  virtual void frame(std::string_view json, Tape& tape) = 0;
  virtual std::string_view stream_type() const = 0;  // content-type

  // A whole answer, from one log per choice.
  virtual std::string body(std::span<const EventLog> choices) const = 0;
  virtual std::string error_body(int status, std::string_view message) const = 0;
};

struct ReplyFormat {
  std::string_view name;         // as in upstream/registry.cpp
  std::string_view id_prefix;    // of the answer's id, such as chatcmpl-
  std::string_view call_prefix;  // of a minted call id, such as call_
  // The dialect in which calls leave where the wire format has none and the model names no other. Empty: calls leave as
  // calls.
  std::string_view call_dialect = {};
  // Whether a POST to this path asks in this wire format.
  bool (*serves)(std::string_view path) = nullptr;
  // The client protocol that it is, which reads requests. nullptr: it is not one, and `decode` reads them.
  const Protocol* protocol = nullptr;
  Result<Request> (*decode)(std::string_view target, std::string_view body) = nullptr;
  // REQUIRES: `faults` outlives the encoder. They may change between calls.
  std::unique_ptr<ReplyEncoder> (*make_encoder)(ReplyIdentity identity,
                                                const Faults& faults) = nullptr;
};

std::span<const ReplyFormat* const> reply_formats();
// nullptr: no such wire format.
const ReplyFormat* find_reply_format(std::string_view name);

}  // namespace callgate::script
