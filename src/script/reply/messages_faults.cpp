// event: content_block_delta
// data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}
#include <array>

#include "client/anthropic_messages/anthropic_messages.h"
#include "json/member.h"
#include "json/writer.h"
#include "script/reply/json_edit.h"
#include "script/reply/protocol_formats.h"
#include "script/reply/sealed.h"

namespace callgate::script {
namespace {

constexpr auto kMessagesEdits = std::to_array<FaultEdit>({
    {Fault::reuse_index, "index", to_zero},
    {Fault::index_from_one, "index", plus_one},
    {Fault::no_index, "index", removed},
    {Fault::empty_id, "content_block.id", to_empty_text},
    {Fault::empty_id, "content.*.id", to_empty_text},
    {Fault::no_id, "content_block.id", removed},
    {Fault::no_id, "content.*.id", removed},
    {Fault::no_name, "content_block.name", removed},
    {Fault::no_name, "content.*.name", removed},
    {Fault::no_usage, "usage", removed},  // not that of message_start
});

bool is_event(std::string_view data, std::string_view type) {
  return json::member_text(data, "type") == type;
}

FrameKind messages_kind(std::string_view data) {
  if (is_event(data, "content_block_delta")) return FrameKind::delta;
  if (is_event(data, "message_delta")) return FrameKind::finish;
  return is_event(data, "message_stop") ? FrameKind::done : FrameKind::other;
}

void edit_messages(WireFrames& frames, const Scene& scene) {
  const auto word = faulty_finish(scene.faults);
  if (!word || (!scene.whole && scene.kind != FrameKind::finish)) return;
  const bool none = scene.faults.finish() == "none";
  set_json(frames.front().data, scene.whole ? "stop_reason" : "delta.stop_reason",
           none ? "null" : *word);
}

// The input comes with the start of the block.
void shape_messages_call(WireFrames& frames, const SaidCall& call, const Faults& faults) {
  if (!faults.has(Fault::object_arguments) || frames.empty()) return;
  std::erase_if(frames,
                [](const WireFrame& frame) { return is_event(frame.data, "content_block_delta"); });
  set_json(frames.front().data, "content_block.input",
           is_json(call.arguments) ? call.arguments : "{}");
}

std::string seal_messages(SealPoint point, std::string_view text) {
  if (point != SealPoint::thought) return {};
  std::string details = "[";
  json::ObjectWriter detail(details);
  detail.string("type", "reasoning.text");
  detail.string("signature", sealed("sig_", text));
  detail.string("format", "anthropic-claude-v1");
  detail.close();
  return details + "]";
}

}  // namespace

constinit const WireFaults kMessagesFaults{
    .protocol = client::kAnthropicMessages,
    .typed = true,
    .kind_of = messages_kind,
    .call_start = "\"type\":\"tool_use\"",
    .arguments = "content.*.input",
    .edits = kMessagesEdits,
    .edit = edit_messages,
    .shape_call = shape_messages_call,
    .seal = seal_messages,
    .failure_status = 529,
    .failure = "Overloaded",
    .cut_frame = R"({"type":"content_block_delta","index":0,"delta":{"text":"bro)",
};

}  // namespace callgate::script
