// {"model":"m","created_at":"...","message":{"role":"assistant","content":"Hi"},"done":false}
#include <array>

#include "client/ollama/ollama.h"
#include "json/member.h"
#include "script/reply/json_edit.h"
#include "script/reply/protocol_formats.h"

namespace callgate::script {
namespace {

constexpr auto kOllamaEdits = std::to_array<FaultEdit>({
    {Fault::empty_id, "message.tool_calls.*.id", to_empty_text},
    {Fault::no_id, "message.tool_calls.*.id", removed},
    {Fault::reuse_index, "message.tool_calls.*.function.index", to_zero},
    {Fault::index_from_one, "message.tool_calls.*.function.index", plus_one},
    {Fault::no_index, "message.tool_calls.*.function.index", removed},
    {Fault::no_name, "message.tool_calls.*.function.name", removed},
    {Fault::no_usage, "prompt_eval_count", removed},
    {Fault::no_usage, "prompt_eval_duration", removed},
    {Fault::no_usage, "eval_count", removed},
    {Fault::no_usage, "eval_duration", removed},
    {Fault::no_finish_key, "done_reason", removed},
});

FrameKind ollama_kind(std::string_view data) {
  return json::member_json(data, "done") == "true" ? FrameKind::finish : FrameKind::delta;
}

void edit_ollama(WireFrames& frames, const Scene& scene) {
  const auto word = faulty_finish(scene.faults);
  if (!word || (!scene.whole && scene.kind != FrameKind::finish)) return;
  edit_json(frames.front().data, "done_reason",
            [&](std::string_view json) { return json.empty() ? std::nullopt : word; });
}

}  // namespace

constinit const WireFaults kOllamaFaults{
    .protocol = client::kOllama,
    .lines = true,
    .ends_with_finish = true,
    .timed = true,
    .kind_of = ollama_kind,
    .call_start = "\"tool_calls\":[",
    .calls = "message.tool_calls",
    .arguments = "message.tool_calls.*.function.arguments",
    .edits = kOllamaEdits,
    .edit = edit_ollama,
    .failure = "an error was encountered while running the model",
    .cut_frame = R"({"message":{"content":"bro)",
};

}  // namespace callgate::script
