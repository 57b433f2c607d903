// {"candidates":[{"content":{"parts":[{"text":"Hi"}],"role":"model"},"index":0}],"modelVersion":"m","responseId":"r"}
#include <array>

#include "client/gemini/gemini.h"
#include "json/writer.h"
#include "script/reply/json_edit.h"
#include "script/reply/protocol_formats.h"
#include "script/reply/sealed.h"

namespace callgate::script {
namespace {

constexpr auto kGeminiEdits = std::to_array<FaultEdit>({
    {Fault::empty_id, "candidates.*.content.parts.*.functionCall.id", to_empty_text},
    {Fault::no_id, "candidates.*.content.parts.*.functionCall.id", removed},
    {Fault::no_name, "candidates.*.content.parts.*.functionCall.name", removed},
    {Fault::no_usage, "usageMetadata", removed},
});

FrameKind gemini_kind(std::string_view data) {
  if (data == "]") return FrameKind::done;
  return json_at(data, "candidates.*.finishReason").empty() ? FrameKind::delta : FrameKind::finish;
}

void edit_gemini(WireFrames& frames, const Scene& scene) {
  const auto word = faulty_finish(scene.faults);
  if (!word) return;
  edit_json(frames.front().data, "candidates.*.finishReason",
            [&](std::string_view json) -> std::optional<std::string> {
              if (json.empty() || scene.faults.finish() == "none") return std::nullopt;
              return word;
            });
}

// A signature stands on the first call of a turn, else on a last part without text if the model thought.
std::string seal_gemini(SealPoint point, std::string_view text) {
  if (point == SealPoint::thought) return {};
  std::string details = "[";
  json::ObjectWriter detail(details);
  detail.string("type", "reasoning.encrypted");
  detail.string("data", sealed("sig_", text));
  detail.string("format", client::kGeminiFormat);
  if (point == SealPoint::first_call) {
    detail.integer("index", 0);
  } else {
    detail.string("id", "end");
  }
  detail.close();
  return details + "]";
}

}  // namespace

constinit const WireFaults kGeminiFaults{
    .protocol = client::kGemini,
    .one_choice = false,
    .filters = true,
    .kind_of = gemini_kind,
    .call_start = "\"functionCall\":",
    .arguments = "candidates.*.content.parts.*.functionCall.args",
    .edits = kGeminiEdits,
    .edit = edit_gemini,
    .seal = seal_gemini,
    .failure_status = 503,
    .failure = "The model is overloaded.",
    .cut_frame = R"({"candidates":[{"content":{"parts":[{"text":"bro)",
};

}  // namespace callgate::script
