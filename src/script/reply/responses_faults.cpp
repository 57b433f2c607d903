// event: response.output_text.delta
// data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_1","output_index":0,...,"delta":"Hi"}
#include <array>

#include "client/openai_responses/openai_responses.h"
#include "json/member.h"
#include "json/writer.h"
#include "script/reply/json_edit.h"
#include "script/reply/protocol_formats.h"
#include "script/reply/sealed.h"

namespace callgate::script {
namespace {

constexpr auto kResponsesEdits = std::to_array<FaultEdit>({
    {Fault::reuse_index, "output_index", to_zero},
    {Fault::index_from_one, "output_index", plus_one},
    {Fault::no_index, "output_index", removed},
    {Fault::empty_id, "item.call_id", to_empty_text},
    {Fault::empty_id, "output.*.call_id", to_empty_text},
    {Fault::empty_id, "response.output.*.call_id", to_empty_text},
    {Fault::no_id, "item.call_id", removed},
    {Fault::no_id, "output.*.call_id", removed},
    {Fault::no_id, "response.output.*.call_id", removed},
    {Fault::no_name, "item.name", removed},
    {Fault::no_name, "output.*.name", removed},
    {Fault::no_name, "response.output.*.name", removed},
    {Fault::object_arguments, "item.arguments", unquoted},
    {Fault::object_arguments, "output.*.arguments", unquoted},
    {Fault::object_arguments, "response.output.*.arguments", unquoted},
    {Fault::no_usage, "usage", removed},
    {Fault::no_usage, "response.usage", removed},
});

FrameKind responses_kind(std::string_view data) {
  const std::string type = json::member_text(data, "type");
  if (type.ends_with(".delta")) return FrameKind::delta;
  const bool ends = type == "response.completed" || type == "response.incomplete";
  if (data == "[DONE]") return FrameKind::done;
  return ends ? FrameKind::finish : FrameKind::other;
}

// A word is the reason why the response is incomplete.
void end_incomplete(std::string& json, const std::string& at, const Faults& faults) {
  set_json(json, at + "status", "\"incomplete\"");
  const bool empty = faults.finish() == "empty";
  set_json(json, at + "incomplete_details",
           empty ? "null" : "{\"reason\":" + json_text(faults.finish()) + "}");
}

void edit_responses(WireFrames& frames, const Scene& scene) {
  WireFrame& frame = frames.front();
  const bool word = !scene.faults.finish().empty();
  if (scene.whole && word) return end_incomplete(frame.data, "", scene.faults);
  if (scene.whole) return;
  if (scene.kind == FrameKind::finish && word) {
    frame.event = "response.incomplete";
    set_json(frame.data, "type", "\"response.incomplete\"");
    end_incomplete(frame.data, "response.", scene.faults);
  }
  // Frames may be missing or in another order.
  set_json(frame.data, "sequence_number", std::to_string(scene.number));
}

void shape_responses_call(WireFrames& frames, const SaidCall&, const Faults& faults) {
  if (!faults.has(Fault::whole_calls) && !faults.has(Fault::object_arguments)) return;
  std::erase_if(frames, [](const WireFrame& frame) {
    return frame.event.starts_with("response.function_call_arguments.");
  });
}

// The encoder has the failure in both of its forms, an event and a response.
void fail_responses(WireFrames& frames, const WireFrame&, const Faults& faults) {
  const bool as_response = faults.has(Fault::error_mid) || faults.has(Fault::error_mid_done);
  std::erase_if(frames, [&](const WireFrame& frame) {
    return (frame.event == "response.failed") != as_response;
  });
  std::string& data = frames.back().data;
  if (faults.has(Fault::error_mid_done)) {
    frames.push_back({"[DONE]"});
  } else if (faults.has(Fault::error_event)) {
    remove_json(data, "error");
  } else if (faults.has(Fault::error_in_choice)) {
    remove_json(data, "code|message|param");
  } else if (faults.has(Fault::error_string)) {
    frames = {{"{\"error\":" + json_at(data, "message") + "}"}};
  }
}

std::string seal_responses(SealPoint point, std::string_view text) {
  if (point != SealPoint::thought) return {};
  std::string details = "[";
  json::ObjectWriter detail(details);
  detail.string("type", "reasoning.encrypted");
  detail.string("data", sealed("enc_", text));
  detail.string("format", "openai-responses-v1");
  detail.close();
  return details + "]";
}

}  // namespace

constinit const WireFaults kResponsesFaults{
    .protocol = client::kOpenaiResponses,
    .typed = true,
    .unmarked = true,
    .kind_of = responses_kind,
    .call_start = R"("type":"function_call","status":"in_progress")",
    .edits = kResponsesEdits,
    .edit = edit_responses,
    .shape_call = shape_responses_call,
    .seal = seal_responses,
    .failure = "The server had an error.",
    .fail = fail_responses,
    .cut_frame = R"({"type":"response.output_text.delta","delta":"bro)",
};

}  // namespace callgate::script
