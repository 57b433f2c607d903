#include "script/reply/responses_reply.h"

#include <deque>
#include <utility>
#include <vector>

#include "base/function_ref.h"
#include "json/writer.h"
#include "script/reply/frame_writer.h"
#include "script/reply/json_bytes.h"
#include "script/reply/openai_chat_envelope.h"
#include "script/reply/responses_item.h"
#include "script/reply/responses_request.h"

namespace callgate::script {
namespace {

using ItemKind = ReplyItem::Kind;

constexpr std::string_view kFailure = "The server had an error.";

// The words of the events in which an item speaks.
struct Words {
  std::string_view delta;
  std::string_view done;
  std::string_view whole;       // the member of `done` that has it all
  std::string_view part_added;  // empty: it has no parts
  std::string_view part_done;
  std::string_view part_index;
};

constexpr Words words_of(ItemKind kind) {
  switch (kind) {
    case ItemKind::message:
      return {.delta = "response.output_text.delta",
              .done = "response.output_text.done",
              .whole = "text",
              .part_added = "response.content_part.added",
              .part_done = "response.content_part.done",
              .part_index = "content_index"};
    case ItemKind::refusal:
      return {.delta = "response.refusal.delta",
              .done = "response.refusal.done",
              .whole = "refusal",
              .part_added = "response.content_part.added",
              .part_done = "response.content_part.done",
              .part_index = "content_index"};
    case ItemKind::reasoning:
      return {.delta = "response.reasoning_summary_text.delta",
              .done = "response.reasoning_summary_text.done",
              .whole = "text",
              .part_added = "response.reasoning_summary_part.added",
              .part_done = "response.reasoning_summary_part.done",
              .part_index = "summary_index"};
    case ItemKind::call:
      return {.delta = "response.function_call_arguments.delta",
              .done = "response.function_call_arguments.done",
              .whole = "arguments",
              .part_added = {},
              .part_done = {},
              .part_index = {}};
  }
  return {};
}

class ResponsesReply final : public ReplyEncoder {
 public:
  ResponsesReply(ReplyIdentity identity, const Faults& faults)
      : faults_(faults), identity_(std::move(identity)), frames_(faults) {}

  void push(std::uint32_t choice, const Event& event, Tape& tape) override;
  void end(bool, Tape&) override {}
  void frame(std::string_view json, Tape& tape) override { frames_.write_typed(json, tape); }
  std::string_view stream_type() const override { return "text/event-stream"; }
  std::string body(std::span<const EventLog> choices) const override;
  std::string error_body(int status, std::string_view message) const override {
    return openai_error_body(status, message);
  }

 private:
  void begin(Tape& tape);
  ReplyItem& add_item(ItemKind kind);
  void say(ItemKind kind, std::string_view text, Tape& tape);
  void close_prose(Tape& tape);
  void start_item(ReplyItem& item, Tape& tape);
  void write_delta(ReplyItem& item, std::string_view text, Tape& tape);
  void finish_item(const ReplyItem& item, Tape& tape);
  void start_call(const CallStarted& started, Tape& tape);
  bool whole_calls() const {
    return faults_.has(Fault::whole_calls) || faults_.has(Fault::object_arguments);
  }
  void insert_faulty_frames(Tape& tape);
  void finish(FinishReason reason, Tape& tape);
  void fail(Tape& tape);
  ReplyState state_of(FinishReason reason) const;

  void write(std::string_view type, Tape& tape, FunctionRef<void(json::ObjectWriter&)> members,
             bool last = false);
  void write_about(const ReplyItem& item, std::string_view type, Tape& tape,
                   FunctionRef<void(json::ObjectWriter&)> members);
  void write_place(const ReplyItem& item, json::ObjectWriter& object) const;
  std::string joined_output() const;

  const Faults& faults_;
  ReplyIdentity identity_;
  FrameWriter frames_;
  Usage usage_;
  std::deque<ReplyItem> items_;
  std::vector<std::string> output_;  // by index, empty until the item is done
  ReplyItem* open_ = nullptr;        // prose
  std::vector<ReplyItem*> calls_;    // by CallIndex
  std::int64_t sequence_ = 0;
  std::uint32_t deltas_ = 0;
  bool begun_ = false;
  bool inserted_ = false;  // the frames of insert_faulty_frames() are out
  bool failed_ = false;    // an error ended the stream
};

void ResponsesReply::push(std::uint32_t choice, const Event& event, Tape& tape) {
  if (failed_ || choice != 0) return;
  std::visit(Overloaded{
                 [&](const TextDelta& e) { say(ItemKind::message, e.text, tape); },
                 [&](const ReasoningDelta& e) { say(ItemKind::reasoning, e.text, tape); },
                 [&](const RefusalDelta& e) { say(ItemKind::refusal, e.text, tape); },
                 [&](const CallStarted& e) { start_call(e, tape); },
                 [&](const ArgumentsDelta& e) {
                   ReplyItem& call = *calls_[e.call];
                   if (whole_calls()) {
                     call.text += e.bytes;
                   } else {
                     write_delta(call, e.bytes, tape);
                   }
                 },
                 [&](const CallFinished& e) { finish_item(*calls_[e.call], tape); },
                 [&](const FieldReported&) {},
                 [&](const UsageReported& e) { usage_ = e.usage; },
                 [&](const TurnFinished& e) { finish(e.reason, tape); },
             },
             event);
}

void ResponsesReply::write(std::string_view type, Tape& tape,
                           FunctionRef<void(json::ObjectWriter&)> members, bool last) {
  std::string data;
  json::ObjectWriter object(data);
  object.string("type", type);
  object.integer("sequence_number", sequence_++);
  members(object);
  object.close();
  last ? frames_.write_last(data, tape, type) : frames_.write(data, tape, type);
}

// `output_index`, unless a fault leaves it out.
void ResponsesReply::write_place(const ReplyItem& item, json::ObjectWriter& object) const {
  if (faults_.has(Fault::no_index)) return;
  std::uint32_t index = faults_.has(Fault::reuse_index) ? 0 : item.index;
  if (faults_.has(Fault::index_from_one)) ++index;
  object.integer("output_index", index);
}

// An event inside an item.
void ResponsesReply::write_about(const ReplyItem& item, std::string_view type, Tape& tape,
                                 FunctionRef<void(json::ObjectWriter&)> members) {
  write(type, tape, [&](json::ObjectWriter& object) {
    object.string("item_id", item.id);
    write_place(item, object);
    const std::string_view index = words_of(item.kind).part_index;
    if (!index.empty()) object.integer(index, 0);
    members(object);
  });
}

void ResponsesReply::begin(Tape& tape) {
  if (std::exchange(begun_, true)) return;
  const std::string response = response_object(identity_, {});
  for (const std::string_view type : {"response.created", "response.in_progress"}) {
    write(type, tape, [&](json::ObjectWriter& object) { object.raw("response", response); });
  }
}

ReplyItem& ResponsesReply::add_item(ItemKind kind) {
  ReplyItem& item = items_.emplace_back();
  item.kind = kind;
  item.index = static_cast<std::uint32_t>(items_.size() - 1);
  item.id = std::string(prefix_of(kind)) + std::to_string(item.index) + "_" + identity_.id;
  output_.emplace_back();
  return item;
}

void ResponsesReply::start_item(ReplyItem& item, Tape& tape) {
  begin(tape);
  write("response.output_item.added", tape, [&](json::ObjectWriter& object) {
    write_place(item, object);
    object.raw("item", started_item(item, faults_));
  });
  const std::string_view part_added = words_of(item.kind).part_added;
  if (part_added.empty()) return;
  write_about(item, part_added, tape,
              [&](json::ObjectWriter& object) { object.raw("part", part_of(item, "")); });
}

void ResponsesReply::write_delta(ReplyItem& item, std::string_view text, Tape& tape) {
  if (deltas_++ > 0) insert_faulty_frames(tape);
  if (failed_) return;
  item.text += text;
  write_about(item, words_of(item.kind).delta, tape, [&](json::ObjectWriter& object) {
    append_json_bytes(object.key("delta"), text);
    if (item.kind == ItemKind::message) object.raw("logprobs", "[]");
  });
}

void ResponsesReply::finish_item(const ReplyItem& item, Tape& tape) {
  if (failed_) return;
  begin(tape);
  const Words words = words_of(item.kind);
  if (item.kind != ItemKind::call || !whole_calls()) {
    write_about(item, words.done, tape, [&](json::ObjectWriter& object) {
      append_json_bytes(object.key(words.whole), item.text);
      if (item.kind == ItemKind::message) object.raw("logprobs", "[]");
    });
  }
  if (!words.part_done.empty()) {
    write_about(item, words.part_done, tape,
                [&](json::ObjectWriter& object) { object.raw("part", part_of(item, item.text)); });
  }
  output_[item.index] = finished_item(item, faults_);
  write("response.output_item.done", tape, [&](json::ObjectWriter& object) {
    write_place(item, object);
    object.raw("item", output_[item.index]);
  });
}

void ResponsesReply::say(ItemKind kind, std::string_view text, Tape& tape) {
  if (open_ == nullptr || open_->kind != kind) {
    close_prose(tape);
    open_ = &add_item(kind);
    start_item(*open_, tape);
  }
  write_delta(*open_, text, tape);
}

void ResponsesReply::close_prose(Tape& tape) {
  if (const ReplyItem* item = std::exchange(open_, nullptr)) finish_item(*item, tape);
}

void ResponsesReply::start_call(const CallStarted& started, Tape& tape) {
  close_prose(tape);
  if (calls_.size() <= started.call) calls_.resize(started.call + 1);
  ReplyItem& call = add_item(ItemKind::call);
  calls_[started.call] = &call;
  call.call_id = started.native_id;
  call.name = started.name;
  if (!failed_ && !whole_calls()) start_item(call, tape);
}

// Sits behind the first delta, or before the end of the response.
void ResponsesReply::insert_faulty_frames(Tape& tape) {
  if (std::exchange(inserted_, true)) return;
  if (faults_.has(Fault::bad_json_frame)) {
    frames_.write(R"({"type":"response.output_text.delta","delta":"bro)", tape,
                  "response.output_text.delta");
  }
  if (faults_.has(Fault::empty_frame)) frames_.write("", tape);
  if (faults_.has(Fault::non_object_frame)) {
    frames_.write("[1,2]", tape, "response.output_text.delta");
  }
  const std::string error =
      R"("code":"server_error","message":")" + std::string(kFailure) + R"(","param":null)";
  failed_ = true;
  if (faults_.has(Fault::error_mid) || faults_.has(Fault::error_mid_done)) {
    fail(tape);
    if (faults_.has(Fault::error_mid_done)) frames_.write_last("[DONE]", tape);
  } else if (faults_.has(Fault::error_event)) {
    frames_.write(R"({"type":"error",)" + error + "}", tape, "error");
  } else if (faults_.has(Fault::error_in_choice)) {
    frames_.write(R"({"type":"error","error":{"type":"server_error",)" + error + "}}", tape,
                  "error");
  } else if (faults_.has(Fault::error_string)) {
    frames_.write(R"({"error":")" + std::string(kFailure) + "\"}", tape);
  } else {
    failed_ = false;
  }
}

void ResponsesReply::fail(Tape& tape) {
  std::string error;
  json::ObjectWriter object(error);
  object.string("code", "server_error");
  object.string("message", kFailure);
  object.close();
  const std::string response = response_object(identity_, {.status = "failed", .error = error});
  write(
      "response.failed", tape, [&](json::ObjectWriter& o) { o.raw("response", response); }, true);
}

// Which of the last events it is, and why.
ReplyState ResponsesReply::state_of(FinishReason reason) const {
  ReplyState state{.status = "completed"};
  if (!faults_.has(Fault::no_usage)) state.usage = &usage_;
  if (reason == FinishReason::length) state.incomplete = "max_output_tokens";
  if (reason == FinishReason::content_filter) state.incomplete = "content_filter";
  if (!faults_.finish().empty()) state.incomplete = faults_.finish();
  if (!state.incomplete.empty()) state.status = "incomplete";
  if (state.incomplete == "empty") state.incomplete = {};
  return state;
}

std::string ResponsesReply::joined_output() const {
  std::string out;
  for (const std::string& item : output_) {
    if (item.empty()) continue;
    if (!out.empty()) out.push_back(',');
    out += item;
  }
  return out;
}

void ResponsesReply::finish(FinishReason reason, Tape& tape) {
  begin(tape);
  close_prose(tape);
  insert_faulty_frames(tape);
  if (failed_ || faults_.finish() == "none") return;
  if (reason == FinishReason::upstream_error) return fail(tape);
  const std::string output = joined_output();
  ReplyState state = state_of(reason);
  state.output = output;
  const std::string response = response_object(identity_, state);
  const std::string type = "response." + std::string(state.status);
  const auto members = [&](json::ObjectWriter& object) { object.raw("response", response); };
  if (faults_.has(Fault::finish_twice)) write(type, tape, members);
  write(type, tape, members, true);
}

std::string ResponsesReply::body(std::span<const EventLog> choices) const {
  using Logged = LoggedEvent::Kind;
  const EventLog& log = choices.front();
  const std::vector<LoggedCall> calls = log.calls();
  std::size_t next_call = 0;
  std::string output;
  std::uint32_t index = 0;
  for (const LoggedEvent& event : log.events()) {
    ReplyItem item{.text = event.text};
    if (event.kind == Logged::text) {
      item.kind = ItemKind::message;
    } else if (event.kind == Logged::refusal) {
      item.kind = ItemKind::refusal;
    } else if (event.kind == Logged::reasoning) {
      item.kind = ItemKind::reasoning;
    } else if (event.kind == Logged::call && next_call < calls.size()) {
      const LoggedCall& call = calls[next_call++];
      item.kind = ItemKind::call;
      item.call_id = call.id;
      item.name = call.name;
      item.text = call.arguments;
    } else {
      continue;
    }
    item.id = std::string(prefix_of(item.kind)) + std::to_string(index++) + "_" + identity_.id;
    if (!output.empty()) output.push_back(',');
    output += finished_item(item, faults_);
  }
  ReplyState state = state_of(log.reason().value_or(FinishReason::stop));
  state.output = output;
  return response_object(identity_, state);
}

}  // namespace

constinit const ReplyFormat kResponsesReply{
    .name = "openai_responses",
    .id_prefix = "resp_",
    .call_prefix = "call_",
    .serves = [](std::string_view path) { return path.ends_with("/responses"); },
    .decode = [](std::string_view,
                 std::string_view body) { return decode_responses_request(body); },
    .make_encoder = [](ReplyIdentity identity,
                       const Faults& faults) -> std::unique_ptr<ReplyEncoder> {
      return std::make_unique<ResponsesReply>(std::move(identity), faults);
    },
};

}  // namespace callgate::script
