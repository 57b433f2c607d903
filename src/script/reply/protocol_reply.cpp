#include "script/reply/protocol_reply.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "json/member.h"
#include "script/reply/json_edit.h"
#include "script/reply/turn_sink.h"
#include "script/reply/wire_framing.h"

namespace callgate::script {
namespace {

constexpr Fault kFailures[] = {Fault::error_mid, Fault::error_mid_done, Fault::error_event,
                               Fault::error_string, Fault::error_in_choice};

WireFraming::Kind framing_of(const WireFaults& wire, std::string_view form) {
  if (wire.lines) return WireFraming::Kind::lines;
  return form.empty() ? WireFraming::Kind::events : WireFraming::Kind::array;
}

class ProtocolReply final : public ReplyEncoder {
 public:
  ProtocolReply(const WireFaults& wire, ReplyIdentity identity, const Faults& faults);

  void push(std::uint32_t choice, const Event& event, Tape& tape) override;
  void push_calls(std::uint32_t choice, const std::vector<PlannedCall>& calls, const Cut& cut,
                  const Faults& faults, Tape& tape) override;
  void end(bool marker, Tape& tape) override;
  void frame(std::string_view json, Tape& tape) override;
  std::string_view stream_type() const override;
  std::string body(std::span<const EventLog> choices) const override;
  std::string error_body(int status, std::string_view message) const override {
    return wire_.protocol.error_body(scripted_error(status, message));
  }

 private:
  bool as_array() const { return !wire_.lines && !request_.form.empty(); }
  bool is_plain() const { return faults_.none() && !as_array() && !hidden_; }
  AnswerEnd answer_end() const;
  void tell(std::uint32_t choice, const Event& event);
  void flush(std::uint32_t choice, Tape& tape);
  WireFrames frames_of_call(std::uint32_t choice, const PlannedCall& call, const Cut& cut,
                            Tape& tape);
  void write_calls(std::uint32_t choice, std::vector<WireFrames> calls, Tape& tape);
  void write(std::uint32_t choice, WireFrame frame, Tape& tape);
  void write_edited(WireFrame frame, FrameKind kind, Tape& tape);
  void edit_by_rows(std::string& json) const;
  void put(WireFrame frame, Tape& tape, bool last = false);
  void insert_faulty_frames(const WireFrame& next, Tape& tape);

  const WireFaults& wire_;
  const Faults& faults_;
  Request request_;  // what the encoder knows of the one that is answered
  ResponseIdentity identity_;
  WireFraming framing_;
  std::unique_ptr<ResponseEncoder> encoder_;
  std::deque<TurnSink> choices_;
  std::string said_;  // by the encoder, not written yet
  Usage usage_;
  std::vector<std::optional<WireFrame>>
      held_back_;             // by choice: a call that leaves with the finish
  WireFrames last_;           // counts and the end marker
  std::string sample_;        // some frame
  std::int64_t written_ = 0;  // frames of the encoder
  std::uint32_t deltas_ = 0;
  bool hidden_ = false;  // bytes are hidden from the encoder
  bool closed_ = false;  // the encoder has said all
  bool inserted_ = false;
  bool failed_ = false;  // an error ended the stream
};

ProtocolReply::ProtocolReply(const WireFaults& wire, ReplyIdentity identity, const Faults& faults)
    : wire_(wire),
      faults_(faults),
      request_{.model = identity.model,
               .choices = wire.one_choice ? 1 : std::max(identity.choices, 1u),
               .stream = true,
               .include_usage = identity.include_usage,
               .legacy_functions = identity.legacy_functions},
      identity_{.id = std::move(identity.id),
                .model = std::move(identity.model),
                .created = identity.created},
      framing_(framing_of(wire, identity.form), faults) {
  request_.form = identity.form;
  encoder_ = wire.protocol.make_encoder(request_, identity_);
  encoder_->bind(said_);
  for (std::uint32_t i = 0; i < request_.choices; ++i)
    choices_.emplace_back(wire, encoder_->choice(i));
  held_back_.resize(request_.choices);
}

std::string_view ProtocolReply::stream_type() const {
  const Protocol& protocol = wire_.protocol;
  return protocol.type_of == nullptr ? protocol.stream_type : protocol.type_of(request_);
}

// Durations are made up: a millisecond per token.
AnswerEnd ProtocolReply::answer_end() const {
  AnswerEnd end;
  if (wire_.timed) {
    end.timing = {.first_token_ms = usage_.prompt_tokens, .duration_ms = usage_.total_tokens};
  }
  return end;
}

void ProtocolReply::tell(std::uint32_t choice, const Event& event) {
  choices_[choice].accept(event);
  hidden_ = hidden_ || choices_[choice].has_hidden();
}

void ProtocolReply::push(std::uint32_t choice, const Event& event, Tape& tape) {
  if (choice >= request_.choices) return;
  if (const auto* usage = std::get_if<UsageReported>(&event)) {
    usage_ = usage->usage;
    return tell(choice, event);
  }
  const bool finishes = std::holds_alternative<TurnFinished>(event);
  if (failed_ && !finishes) return;
  tell(choice, event);
  if (!finishes) return flush(choice, tape);
  if (choice + 1 == request_.choices && !std::exchange(closed_, true)) {
    encoder_->finish(answer_end());
  }
  for (WireFrame& frame : framing_.take(said_)) {
    const FrameKind kind = wire_.kind_of(frame.data);
    const bool ends = kind == FrameKind::finish && wire_.ends_with_finish;
    if (kind == FrameKind::finish) insert_faulty_frames(frame, tape);
    if (ends || kind == FrameKind::usage || kind == FrameKind::done) {
      last_.push_back(std::move(frame));
    } else {
      write(choice, std::move(frame), tape);
    }
  }
}

// What the encoder said goes onto the tape, frame by frame.
void ProtocolReply::flush(std::uint32_t choice, Tape& tape) {
  if (!is_plain()) {
    for (WireFrame& frame : framing_.take(said_)) write(choice, std::move(frame), tape);
    return;
  }
  const std::int64_t frames = framing_.pass(said_, tape);
  written_ += frames;
  deltas_ += static_cast<std::uint32_t>(frames);
}

void ProtocolReply::push_calls(std::uint32_t choice, const std::vector<PlannedCall>& calls,
                               const Cut& cut, const Faults&, Tape& tape) {
  if (choice >= request_.choices || failed_) return;
  std::vector<WireFrames> frames;
  for (const PlannedCall& call : calls) {
    frames.push_back(frames_of_call(choice, call, cut, tape));
  }
  write_calls(choice, std::move(frames), tape);
}

// What belongs before the call is written.
WireFrames ProtocolReply::frames_of_call(std::uint32_t choice, const PlannedCall& planned,
                                         const Cut& cut, Tape& tape) {
  SaidCall said{.id = planned.call.id, .name = planned.call.name, .arguments = {}};
  emit_calls({planned}, cut, faults_, [&](const Event& event) {
    if (const auto* delta = std::get_if<ArgumentsDelta>(&event)) said.arguments += delta->bytes;
    tell(choice, event);
  });
  const bool odd =
      !wire_.arguments.empty() && !said.arguments.empty() && !is_json_object(said.arguments);
  if (is_plain() && !odd) {
    flush(choice, tape);
    return {};
  }
  WireFrames frames = framing_.take(said_);
  const auto start = std::find_if(frames.begin(), frames.end(), [&](const WireFrame& frame) {
    return frame.data.find(wire_.call_start) != std::string::npos;
  });
  for (auto frame = frames.begin(); frame != start; ++frame) write(choice, *frame, tape);
  frames.erase(frames.begin(), start);
  if (odd && !frames.empty())
    edit_json(frames.back().data, wire_.arguments,
              [](std::string_view json) { return unwrapped(json); });
  if (wire_.shape_call != nullptr) wire_.shape_call(frames, said, faults_);
  return frames;
}

// Calls that follow one another, in the order that the faults want.
void ProtocolReply::write_calls(std::uint32_t choice, std::vector<WireFrames> calls, Tape& tape) {
  if (faults_.has(Fault::reverse_index)) std::reverse(calls.begin(), calls.end());
  WireFrames ordered;
  bool more = true;
  for (std::size_t i = 0; faults_.has(Fault::interleave) && std::exchange(more, false); ++i) {
    for (WireFrames& frames : calls) {
      if (i >= frames.size()) continue;
      ordered.push_back(std::move(frames[i]));
      more = true;
    }
  }
  if (ordered.empty()) {
    for (WireFrames& frames : calls)
      std::move(frames.begin(), frames.end(), std::back_inserter(ordered));
  }
  if (faults_.has(Fault::calls_in_one_frame) && !wire_.calls.empty() && ordered.size() > 1) {
    std::string list;
    for (const WireFrame& frame : ordered) {
      const std::string elements = json_at(frame.data, wire_.calls);
      list.append(list.empty() ? "[" : ",").append(elements, 1, elements.size() - 2);
    }
    ordered.resize(1);
    set_json(ordered.front().data, wire_.calls, list + "]");
  }
  for (WireFrame& frame : ordered) {
    const bool last = &frame == &ordered.back() && faults_.has(Fault::finish_with_call);
    if (last && !wire_.delta.empty()) {
      held_back_[choice] = std::move(frame);
    } else {
      write(choice, std::move(frame), tape);
    }
  }
}

void ProtocolReply::write(std::uint32_t choice, WireFrame frame, Tape& tape) {
  const FrameKind kind = wire_.kind_of(frame.data);
  if (kind == FrameKind::delta && deltas_++ > 0) insert_faulty_frames(frame, tape);
  if (failed_) return;
  const std::optional<WireFrame> call = std::exchange(held_back_[choice], std::nullopt);
  const bool left_out = kind == FrameKind::finish && faults_.finish() == "none";
  if (call && (kind != FrameKind::finish || left_out)) write_edited(*call, FrameKind::delta, tape);
  if (left_out) return;
  if (kind == FrameKind::finish && faults_.has(Fault::finish_twice)) {
    write_edited(frame, kind, tape);
  }
  if (call && kind == FrameKind::finish) {
    set_json(frame.data, wire_.delta, json_at(call->data, wire_.delta));
  }
  write_edited(std::move(frame), kind, tape);
}

void ProtocolReply::write_edited(WireFrame frame, FrameKind kind, Tape& tape) {
  sample_ = frame.data;
  const Scene scene{.faults = faults_, .kind = kind, .number = written_++, .usage = usage_};
  WireFrames frames;
  frames.push_back(std::move(frame));
  edit_by_rows(frames.front().data);
  if (wire_.edit != nullptr && !faults_.none()) wire_.edit(frames, scene);
  const bool last = kind == FrameKind::finish && wire_.unmarked;
  for (WireFrame& each : frames) put(std::move(each), tape, last);
}

void ProtocolReply::edit_by_rows(std::string& json) const {
  for (const FaultEdit& row : wire_.edits) {
    if (!faults_.has(row.fault)) continue;
    edit_json(json, row.path, [&](std::string_view value) { return row.change(value); });
  }
}

void ProtocolReply::put(WireFrame frame, Tape& tape, bool last) {
  if (hidden_) restore_hidden_bytes(frame.data);
  framing_.put(frame, tape, last);
}

// They sit behind the first delta, or before the finish.
void ProtocolReply::insert_faulty_frames(const WireFrame& next, Tape& tape) {
  if (std::exchange(inserted_, true)) return;
  const auto put_frame = [&](std::string_view data) {
    put({std::string(data), wire_.typed ? next.event : std::string()}, tape);
  };
  if (faults_.has(Fault::bad_json_frame)) put_frame(wire_.cut_frame);
  if (faults_.has(Fault::empty_frame)) put_frame("");
  if (faults_.has(Fault::non_object_frame)) put_frame("[1,2]");
  failed_ = std::any_of(std::begin(kFailures), std::end(kFailures),
                        [&](Fault fault) { return faults_.has(fault); });
  if (!failed_) return;
  encoder_->fail(scripted_error(wire_.failure_status, wire_.failure));
  WireFrames frames = framing_.take(said_);
  std::erase_if(
      frames, [&](const WireFrame& frame) { return wire_.kind_of(frame.data) == FrameKind::done; });
  if (wire_.fail != nullptr) wire_.fail(frames, next, faults_);
  for (WireFrame& frame : frames) put(std::move(frame), tape);
}

void ProtocolReply::end(bool marker, Tape& tape) {
  const auto is_usage = [&](const WireFrame& frame) {
    return wire_.kind_of(frame.data) == FrameKind::usage;
  };
  const bool unasked = wire_.usage_frame != nullptr && faults_.has(Fault::usage_unasked) &&
                       std::none_of(last_.begin(), last_.end(), is_usage);
  if (unasked) last_.insert(last_.begin(), {wire_.usage_frame(sample_, usage_)});
  if (faults_.has(Fault::usage_after_done)) std::reverse(last_.begin(), last_.end());
  const bool ends = marker && !faults_.has(Fault::no_done) &&
                    (!failed_ || faults_.has(Fault::error_mid_done) || as_array());
  for (WireFrame& frame : std::exchange(last_, {})) {
    const FrameKind kind = wire_.kind_of(frame.data);
    if (kind == FrameKind::usage) {
      const bool left_out = faults_.has(Fault::no_usage) || faults_.has(Fault::usage_on_finish);
      if (!failed_ && !left_out) write_edited(std::move(frame), kind, tape);
    } else if (kind == FrameKind::done) {
      if (ends) put(std::move(frame), tape, true);
    } else if (ends && faults_.finish() != "none") {
      if (faults_.has(Fault::finish_twice)) write_edited(frame, kind, tape);
      write_edited(std::move(frame), kind, tape);
    }
  }
  if (failed_ || !faults_.has(Fault::text_after_done)) return;
  tell(0, TextDelta{"after the end"});
  flush(0, tape);
}

void ProtocolReply::frame(std::string_view json, Tape& tape) {
  put({std::string(json), wire_.typed ? json::member_text(json, "type") : std::string()}, tape);
}

std::string ProtocolReply::body(std::span<const EventLog> choices) const {
  Request request = request_;
  request.stream = false;
  std::string out;
  const auto encoder = wire_.protocol.make_encoder(request, identity_);
  encoder->bind(out);
  bool odd = false;
  bool hidden = false;
  for (std::uint32_t i = 0; i < request.choices && i < choices.size(); ++i) {
    TurnSink sink(wire_, encoder->choice(i));
    for (const LoggedEvent& event : choices[i].events()) callgate::tell(event, sink);
    sink.accept(UsageReported{usage_, {}});
    hidden = hidden || sink.has_hidden();
    for (const LoggedCall& call : choices[i].calls()) odd = odd || !is_json_object(call.arguments);
  }
  encoder->finish(answer_end());
  if (hidden) restore_hidden_bytes(out);
  if (odd && !wire_.arguments.empty())
    edit_json(out, wire_.arguments, [](std::string_view json) { return unwrapped(json); });
  if (faults_.none()) return out;
  edit_by_rows(out);
  if (wire_.edit == nullptr) return out;
  WireFrames frames{{std::move(out)}};
  wire_.edit(frames, {.faults = faults_, .whole = true, .usage = usage_});
  return std::move(frames.front().data);
}

}  // namespace

std::unique_ptr<ReplyEncoder> make_protocol_reply(const WireFaults& wire, ReplyIdentity identity,
                                                  const Faults& faults) {
  return std::make_unique<ProtocolReply>(wire, std::move(identity), faults);
}

}  // namespace callgate::script
