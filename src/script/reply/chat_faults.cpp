// data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,
//   "delta":{"content":"Hi"},"finish_reason":null}]}
#include <algorithm>
#include <array>

#include "client/openai_chat/openai_chat.h"
#include "client/openai_chat/openai_usage.h"
#include "json/member.h"
#include "script/reply/json_edit.h"
#include "script/reply/protocol_formats.h"

namespace callgate::script {
namespace {

using Changed = std::optional<std::string>;

// Changes of the rows.
Changed in_parts(std::string_view content) {
  if (content.empty()) return std::nullopt;
  if (content == "\"\"" || content == "null") return std::string(content);
  return "[{\"type\":\"text\",\"text\":" + std::string(content) + "}]";
}

Changed if_empty_null(std::string_view content) {
  if (content.empty()) return std::nullopt;
  return content == "\"\"" ? "null" : std::string(content);
}

Changed unless_null(std::string_view finish, Changed other) {
  return finish == "null" || finish.empty() ? other : std::string(finish);
}

Changed null_to_empty(std::string_view finish) { return unless_null(finish, "\"\""); }
Changed null_to_word(std::string_view finish) { return unless_null(finish, "\"null\""); }
Changed null_removed(std::string_view finish) { return unless_null(finish, std::nullopt); }

Changed twice_reasoning(std::string_view said) {
  if (said.empty()) return std::nullopt;
  std::string made(said);
  const std::string text = json_at(said, "reasoning_content");
  if (!text.empty()) set_json(made, "reasoning", text);
  return made;
}

Changed other_reasoning(std::string_view said) {
  Changed made = twice_reasoning(said);
  if (made) remove_json(*made, "reasoning_content");
  return made;
}

Changed numbers_as_text(std::string_view usage) {
  if (!usage.starts_with('{')) return unless_null(usage, "null");
  std::string made;
  bool digits = false;
  for (const char c : usage) {
    const bool digit = c >= '0' && c <= '9';
    if (digit != digits) made.push_back('"');
    digits = digit;
    made.push_back(c);
  }
  return made;
}

Changed anthropic_names(std::string_view usage) {
  if (!usage.starts_with('{')) return unless_null(usage, "null");
  return "{\"input_tokens\":" + json_at(usage, "prompt_tokens") +
         ",\"output_tokens\":" + json_at(usage, "completion_tokens") + "}";
}

constexpr auto kChatEdits = std::to_array<FaultEdit>({
    {Fault::no_role, "choices.*.delta|message.role", removed},
    {Fault::null_role, "choices.*.delta.role", to_null},
    {Fault::reuse_index, "choices.*.delta|message.tool_calls.*.index", to_zero},
    {Fault::index_from_one, "choices.*.delta|message.tool_calls.*.index", plus_one},
    {Fault::string_index, "choices.*.delta|message.tool_calls.*.index", to_text},
    {Fault::null_index, "choices.*.delta|message.tool_calls.*.index", to_null},
    {Fault::no_index, "choices.*.delta|message.tool_calls.*.index", removed},
    {Fault::empty_id, "choices.*.delta|message.tool_calls.*.id", to_empty_text},
    {Fault::no_id, "choices.*.delta|message.tool_calls.*.id", removed},
    {Fault::no_name, "choices.*.delta|message.tool_calls.*.function.name", removed},
    {Fault::empty_type, "choices.*.delta|message.tool_calls.*.type", to_empty_text},
    {Fault::no_type, "choices.*.delta|message.tool_calls.*.type", removed},
    {Fault::object_arguments, "choices.*.delta|message.tool_calls.*.function.arguments", unquoted},
    {Fault::content_array, "choices.*.delta|message.content", in_parts},
    {Fault::null_content, "choices.*.delta.content", if_empty_null},
    {Fault::both_reasoning_fields, "choices.*.delta|message", twice_reasoning},
    {Fault::reasoning_field, "choices.*.delta|message", other_reasoning},
    {Fault::empty_finish, "choices.*.finish_reason", null_to_empty},
    {Fault::finish_null, "choices.*.finish_reason", null_to_word},
    {Fault::no_finish_key, "choices.*.finish_reason", null_removed},
    {Fault::no_choice_index, "choices.*.index", removed},
    {Fault::no_frame_id, "id", removed},
    {Fault::minimal_frame, "id|object|created|model", removed},
    {Fault::no_usage, "usage", removed},
});

FrameKind chat_kind(std::string_view data) {
  const auto has = [&](std::string_view text) { return data.find(text) != std::string_view::npos; };
  if (data == "[DONE]") return FrameKind::done;
  if (has("\"choices\":[]")) return FrameKind::usage;
  if (!has("\"finish_reason\":null")) return FrameKind::finish;
  return has("\"delta\":{\"role\":") ? FrameKind::other : FrameKind::delta;
}

std::string usage_json(const Usage& usage) {
  std::string json;
  client::append_openai_usage(json, {.counts = usage, .json = {}}, {});
  return json;
}

std::string chat_usage_frame(std::string_view frame, const Usage& usage) {
  std::string made(frame);
  set_json(made, "choices", "[]");
  set_json(made, "usage", usage_json(usage));
  return made;
}

void edit_finish(std::string& json, const Scene& scene) {
  const bool legacy = scene.faults.has(Fault::legacy_function_call);
  const auto word = faulty_finish(scene.faults);
  edit_json(json, "choices.*.finish_reason", [&](std::string_view reason) -> Changed {
    if (scene.whole && scene.faults.finish() == "none") return "null";
    if (word) return word;
    return legacy && reason == "\"tool_calls\"" ? "\"function_call\"" : std::string(reason);
  });
  if (scene.faults.has(Fault::null_delta))
    edit_json(json, "choices.*.delta", [](std::string_view delta) { return to_null(delta); });
  if (scene.faults.has(Fault::no_delta)) remove_json(json, "choices.*.delta");
}

// The first call of several takes the place that the deprecated form has.
Changed as_function_call(std::string_view said) {
  std::string made(said);
  std::string first;
  edit_json(made, "tool_calls.*.function", [&](std::string_view function) {
    if (first.empty()) first = function;
    return Changed(std::string(function));
  });
  if (first.empty()) return made;
  remove_json(made, "tool_calls");
  set_json(made, "function_call", first);
  return made;
}

void edit_said(std::string& json, const Scene& scene) {
  const Faults& faults = scene.faults;
  edit_json(json, "choices.*.delta|message", [&](std::string_view said) -> Changed {
    if (said.empty()) return std::nullopt;
    std::string made(said);
    const bool calls = !json_at(said, "tool_calls").empty();
    const bool delta = scene.kind == FrameKind::delta;
    if (delta && faults.has(Fault::repeat_role)) set_json(made, "role", "\"assistant\"");
    if (delta && calls && faults.has(Fault::null_content)) set_json(made, "content", "null");
    if (delta && faults.has(Fault::empty_calls) && !json_at(said, "content").empty()) {
      set_json(made, "tool_calls", "[]");
    }
    return faults.has(Fault::legacy_function_call) ? as_function_call(made) : made;
  });
}

// Counts that grow, as servers that report them all the time have them.
void edit_usage(std::string& json, const Scene& scene) {
  const Faults& faults = scene.faults;
  const bool finishes = scene.kind == FrameKind::finish;
  if (scene.kind == FrameKind::usage) {
    if (faults.has(Fault::usage_no_choices)) remove_json(json, "choices");
    if (faults.has(Fault::usage_null_choices)) set_json(json, "choices", "null");
  } else if (faults.has(Fault::usage_every_frame) && !scene.whole) {
    Usage so_far = scene.usage;
    if (!finishes) so_far.completion_tokens = std::min(scene.number, so_far.completion_tokens);
    so_far.total_tokens = so_far.prompt_tokens + so_far.completion_tokens;
    set_json(json, "usage", usage_json(so_far));
  } else if (finishes && faults.has(Fault::usage_on_finish)) {
    set_json(json, "usage", usage_json(scene.usage));
  } else if (faults.has(Fault::usage_null) && !scene.whole) {
    set_json(json, "usage", "null");
  }
  const auto change = [&](Fault fault, Changed (*how)(std::string_view)) {
    if (!faults.has(fault)) return;
    edit_json(json, "usage", [&](std::string_view usage) -> Changed {
      return usage.empty() ? std::nullopt : how(usage);
    });
  };
  change(Fault::usage_anthropic_names, anthropic_names);
  change(Fault::usage_strings, numbers_as_text);
}

void edit_chat(WireFrames& frames, const Scene& scene) {
  const Faults& faults = scene.faults;
  std::string& json = frames.front().data;
  edit_said(json, scene);
  if (scene.whole || scene.kind == FrameKind::finish) edit_finish(json, scene);
  edit_usage(json, scene);
  if (faults.has(Fault::choice_index_one) && !scene.whole) {
    edit_json(json, "choices.*.index", [](std::string_view index) { return plus_one(index); });
  }
  if (faults.has(Fault::change_frame_id)) {
    const std::string id = json::member_text(json, "id") + "-" + std::to_string(scene.number + 1);
    set_json(json, "id", json_text(id));
  }
  if (faults.has(Fault::message_for_delta)) {
    edit_json(json, "choices.*", [](std::string_view choice) -> Changed {
      std::string made(choice);
      const std::string delta = json_at(choice, "delta");
      if (delta.empty()) return made;
      remove_json(made, "delta");
      set_json(made, "message", delta);
      return made;
    });
  }
  if (scene.number == 0 && !scene.whole && faults.has(Fault::empty_choices_first)) {
    WireFrame first = frames.front();
    set_json(first.data, "choices", "[]");
    remove_json(first.data, "usage");
    frames.insert(frames.begin(), std::move(first));
  }
}

constexpr std::string_view kCall = "choices.*.delta.tool_calls.*.";

void set_of_call(WireFrame& frame, std::string_view member, std::string_view value) {
  set_json(frame.data, std::string(kCall).append(member), value);
}

void place_ids(WireFrames& frames, const SaidCall& call, const Faults& faults) {
  const std::size_t first = faults.has(Fault::late_id) ? 1 : 0;
  const bool changes = faults.has(Fault::change_id);
  if (first == 0 && !changes && !faults.has(Fault::repeat_id)) return;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (i != first && !changes && !faults.has(Fault::repeat_id)) {
      remove_json(frames[i].data, std::string(kCall) + "id");
      continue;
    }
    const std::string id = changes ? call.id + "_" + std::to_string(i) : call.id;
    set_of_call(frames[i], "id", json_text(id));
  }
}

void shape_chat_call(WireFrames& frames, const SaidCall& call, const Faults& faults) {
  if (frames.empty()) return;
  WireFrame& start = frames.front();
  const bool whole = faults.has(Fault::whole_calls) || faults.has(Fault::calls_in_one_frame) ||
                     faults.has(Fault::object_arguments);
  if (whole) {
    frames.resize(1);
    set_of_call(start, "function.arguments", json_text(call.arguments));
  } else {
    if (faults.has(Fault::late_arguments)) {
      remove_json(start.data, std::string(kCall) + "function.arguments");
    }
    if (faults.has(Fault::split_name)) {
      WireFrame rest = start;
      const std::size_t half = call.name.size() / 2;
      set_of_call(start, "function.name", json_text(call.name.substr(0, half)));
      set_of_call(rest, "function.name", json_text(call.name.substr(half)));
      remove_json(rest.data, std::string(kCall) + "id|type");
      frames.insert(frames.begin() + 1, std::move(rest));
    }
    const std::size_t named = faults.has(Fault::split_name) ? 2 : 1;
    for (std::size_t i = named; faults.has(Fault::repeat_name) && i < frames.size(); ++i) {
      set_of_call(frames[i], "function.name", json_text(call.name));
    }
  }
  place_ids(frames, call, faults);
}

void fail_chat(WireFrames& frames, const WireFrame& next, const Faults& faults) {
  WireFrame& frame = frames.front();
  if (faults.has(Fault::error_mid) || faults.has(Fault::error_mid_done)) return;
  if (faults.has(Fault::error_event)) {
    frame.event = "error";
  } else if (faults.has(Fault::error_string)) {
    frame.data = R"({"error":"The server had an error."})";
  } else {
    const std::string error = json_at(frame.data, "error");
    frame.data = next.data;
    set_json(frame.data, "choices.*.delta", R"({"content":""})");
    set_json(frame.data, "choices.*.finish_reason", "\"error\"");
    set_json(frame.data, "choices.*.error", error);
  }
}

}  // namespace

constinit const WireFaults kChatFaults{
    .protocol = client::kOpenaiChat,
    .one_choice = false,
    .kind_of = chat_kind,
    .call_start = "\"tool_calls\":[",
    .calls = "choices.*.delta.tool_calls",
    .delta = "choices.*.delta",
    .edits = kChatEdits,
    .edit = edit_chat,
    .shape_call = shape_chat_call,
    .fail = fail_chat,
    .cut_frame = R"({"choices":[{"index":0,"delta":{"content":"bro)",
    .usage_frame = chat_usage_frame,
};

}  // namespace callgate::script
