// The dialects that write the name of a call before its arguments:
//
//   [TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}
#include <algorithm>

#include "dialect/reference/family.h"
#include "dialect/reference/json_calls.h"

namespace callgate::dialect::reference {
namespace {

using What = Reading::What;

const Reading kNoCall{.what = What::no_call};
const Reading kNoOpinion{.what = What::no_opinion};

bool is_name(std::string_view text) {
  return !text.empty() && text.find_first_of(" \t\r\n<>{}[]()\"'`,;=") == std::string_view::npos;
}

Reading whole_call(LoggedCall call, std::size_t end) {
  return {.what = What::calls, .end = end, .calls = {std::move(call)}};
}

// The arguments behind the whole header. A marker in their place: there are none.
Reading read_rest(std::string_view text, std::size_t at, LoggedCall call, const Texts& enders) {
  at = skip_space(text, at);
  if (at == text.size()) {
    call.outcome = CallOutcome::truncated;
    return whole_call(std::move(call), at);
  }
  if (!marker_at(text, at, enders).empty()) {
    call.arguments = "{}";
    return whole_call(std::move(call), at);
  }
  if (text[at] == '"') return kNoOpinion;
  if (text[at] != '{') {
    const bool plain =
        find_marker(text, at, enders) == text.npos && text.find('{', at) == text.npos;
    return plain && text[at] != '`' && text[at] != '>' ? kNoCall : kNoOpinion;
  }
  std::size_t end = 0;
  if (!read_arguments(text, at, call, end)) return kNoOpinion;
  return whole_call(std::move(call), end);
}

// Where the header's next part begins, and which marker says so.
struct Part {
  std::size_t at = 0;
  std::string_view marker;
};

Part next_part(std::string_view text, std::size_t at, Texts markers, const Texts& enders) {
  markers.insert(markers.end(), enders.begin(), enders.end());
  markers.push_back("{");
  const std::size_t found = find_marker(text, at, markers);
  if (found == text.npos) return {text.size(), {}};
  return {found, marker_at(text, found, markers)};
}

bool read_named(const ReferenceCase& turn, EventLog& log, const TurnGrammar& grammar,
                const std::function<Reading(std::size_t at, const Texts& enders)>& read) {
  const Texts enders = enders_of(grammar);
  const auto read_calls = [&](const ReferenceCase&, const CallOpener&, std::size_t at) {
    return read(at, enders);
  };
  return read_turn(turn, grammar, read_calls, log);
}

bool mistral(const ReferenceCase& turn, EventLog& log, bool bare_list) {
  TurnGrammar grammar;
  grammar.reasoning = {{"[THINK]", "[/THINK]"}, {"<think>", "</think>"}};
  grammar.call_open = {{"[TOOL_CALLS]"}};
  if (bare_list) grammar.call_open.push_back({.text = "[", .first = true, .declared = true});
  grammar.call_close = {"[/TOOL_CALLS]"};
  grammar.tail = {"</s>"};
  grammar.special = {"[TOOL_CALLS]", "[/TOOL_CALLS]"};
  const Texts enders = enders_of(grammar);
  const auto read_calls = [&](const ReferenceCase& of, const CallOpener& opener, std::size_t at) {
    const std::string_view text = of.text;
    if (opener.declared) return read_json_calls(of, opener, at - 1, {.id_key = "id"});
    const std::size_t first = skip_space(text, at);
    if (first == text.size()) return kNoCall;
    if (text[first] == '{' || text[first] == '[') {
      if (marker_at(text, first, enders).empty()) {
        return read_json_calls(of, opener, at, {.id_key = "id"});
      }
    }
    Part part = next_part(text, at, {"[CALL_ID]", "[ARGS]"}, enders);
    LoggedCall call{.name = std::string(trimmed(text.substr(at, part.at - at)))};
    if (!is_name(call.name)) return kNoCall;
    if (part.marker == "[CALL_ID]") {
      const std::size_t from = part.at + part.marker.size();
      part = next_part(text, from, {"[CALL_ID]", "[ARGS]"}, enders);
      call.id = trimmed(text.substr(from, part.at - from));
      if (part.marker != "[ARGS]") return part.marker.empty() ? kNoCall : kNoOpinion;
      if (call.id.find_first_of(" \t\r\n") != std::string::npos) return kNoCall;
    }
    if (part.marker.empty()) return kNoCall;
    if (part.marker == "[ARGS]") return read_rest(text, part.at + 6, call, enders);
    return read_rest(text, part.at, call, enders);
  };
  return read_turn(turn, grammar, read_calls, log);
}

// functions.NAME:INDEX with noise around its parts.
LoggedCall kimi_call(const ReferenceCase& turn, std::string_view id) {
  LoggedCall call;
  for (const char c : id) {
    if (!is_space(c)) call.id += c;
  }
  std::string name = call.id;
  const auto drop_index = [&](char separator) {
    const std::size_t at = name.rfind(separator);
    const bool index = at != std::string::npos && at + 1 < name.size() &&
                       name.find_first_not_of("0123456789", at + 1) == std::string::npos;
    if (index) name.resize(at);
    return index;
  };
  const bool indexed = drop_index(':');
  if (name.starts_with("functions.")) {
    name.erase(0, 10);
  } else if (name.starts_with("functions_")) {
    name.erase(0, 10);
    drop_index('_');
  } else if (name.starts_with("call_") && !indexed && turn.tools.size() == 1) {
    name = turn.tools[0].name;
  }
  if (name == call.id) call.id.clear();
  call.name = name;
  return call;
}

// An id that leaves open which of the tools is meant.
bool is_opaque(const ReferenceCase& turn, const std::string& name) {
  if (turn.tools.empty() || is_declared(turn, name)) return false;
  if (name.find(':') != std::string::npos) return true;
  const auto starts = [&](std::string_view prefix) { return name.starts_with(prefix); };
  return name.find_first_not_of("0123456789") == std::string::npos || starts("call_") ||
         starts("call-") || starts("toolu_") || starts("chatcmpl-");
}

}  // namespace

bool mistral_old(const ReferenceCase& turn, EventLog& log) { return mistral(turn, log, true); }
bool mistral_v13(const ReferenceCase& turn, EventLog& log) { return mistral(turn, log, false); }

bool kimi_k2(const ReferenceCase& turn, EventLog& log) {
  TurnGrammar grammar;
  grammar.reasoning = {{"<think>", "</think>"}, {"◁think▷", "◁/think▷"}};
  grammar.section_open = {"<|tool_calls_section_begin|>", "<|tool_call_section_begin|>"};
  grammar.call_open = {{"<|tool_call_begin|>"}};
  grammar.call_close = {"<|tool_call_end|>"};
  grammar.section_close = {"<|tool_calls_section_end|>", "<|tool_call_section_end|>"};
  grammar.tail = {"<|im_end|>"};
  grammar.special = {"<|tool_calls_section_begin|>", "<|tool_call_section_begin|>",
                     "<|tool_calls_section_end|>",   "<|tool_call_section_end|>",
                     "<|tool_call_begin|>",          "<|tool_call_end|>"};
  grammar.call_ends_reasoning = true;
  // What stands before it may be a header without its opener.
  grammar.odd = {"<|tool_call_argument_begin|>"};
  return read_named(turn, log, grammar, [&](std::size_t at, const Texts& enders) {
    constexpr std::string_view kArguments = "<|tool_call_argument_begin|>";
    const Part part = next_part(turn.text, at, {kArguments}, enders);
    if (part.marker.empty()) return kNoCall;
    const std::string_view id = trimmed(turn.text.substr(at, part.at - at));
    const LoggedCall call = kimi_call(turn, id);
    if (id.empty() && part.marker != kArguments && part.marker != "{") return kNoCall;
    if (is_opaque(turn, call.name) ||
        (turn.tools.empty() && call.name.find(':') != call.name.npos)) {
      return kNoOpinion;
    }
    if (!is_name(call.name) || call.name.find_first_of("*#!?~|\\") != call.name.npos) {
      return kNoCall;
    }
    if (id.find('\n') != id.npos && id.find(' ') != id.npos) return kNoOpinion;
    // Words with spaces between them are no id; around its parts they are noise.
    for (std::size_t i = 0; i < id.size(); ++i) {
      if (id[i] != ' ' && id[i] != '\t') continue;
      const std::size_t next = skip_space(id, i);
      const bool noise = std::string_view(".:\n").find(id[i - 1]) != std::string_view::npos ||
                         std::string_view(".:").find(id[next]) != std::string_view::npos;
      if (!noise)
        return id.find('\n') == id.npos && is_name(id.substr(0, i)) ? kNoCall : kNoOpinion;
      i = next;
    }
    const bool marked = part.marker == kArguments;
    return read_rest(turn.text, marked ? part.at + kArguments.size() : part.at, call, enders);
  });
}

bool deepseek(const ReferenceCase& turn, EventLog& log) {
  TurnGrammar grammar;
  grammar.section_open = Texts{"<｜tool▁calls▁begin｜>", "<|tool▁calls▁begin|>",
                               "<|tool_calls_begin|>", "<｜tool_calls_begin｜>"};
  for (std::string_view text : Texts{"<｜tool▁call▁begin｜>", "<|tool▁call▁begin|>",
                                     "<|tool_call_begin|>", "<｜tool_call_begin｜>"})
    grammar.call_open.push_back({text});
  grammar.call_close =
      Texts{"<｜tool▁call▁end｜>", "<|tool▁call▁end|>", "<|tool_call_end|>", "<｜tool_call_end｜>"};
  grammar.section_close = Texts{"<｜tool▁calls▁end｜>", "<|tool▁calls▁end|>", "<|tool_calls_end|>",
                                "<｜tool_calls_end｜>"};
  grammar.tail = {"<｜end▁of▁sentence｜>", "<|end▁of▁sentence|>"};
  grammar.hidden = {{"<｜tool▁outputs▁begin｜>", "<｜tool▁outputs▁end｜>"},
                    {"<|tool▁outputs▁begin|>", "<|tool▁outputs▁end|>"},
                    {"<|tool_outputs_begin|>", "<|tool_outputs_end|>"},
                    {"<｜tool_outputs_begin｜>", "<｜tool_outputs_end｜>"}};
  Texts separators = Texts{"<｜tool▁sep｜>", "<|tool▁sep|>", "<|tool_sep|>", "<｜tool_sep｜>"};
  grammar.special =
      Texts{"<｜tool▁output▁begin｜>", "<|tool▁output▁begin|>", "<|tool_output_begin|>",
            "<｜tool_output_begin｜>", "<｜tool▁output▁end｜>", "<|tool▁output▁end|>",
            "<|tool_output_end|>",     "<｜tool_output_end｜>"};
  for (const Texts* list :
       {&grammar.section_open, &grammar.call_close, &grammar.section_close, &separators}) {
    grammar.special.insert(grammar.special.end(), list->begin(), list->end());
  }
  for (const CallOpener& opener : grammar.call_open) grammar.special.push_back(opener.text);
  return read_named(turn, log, grammar, [&](std::size_t at, const Texts& enders) {
    const std::string_view text = turn.text;
    Part part = next_part(text, at, separators, enders);
    LoggedCall call{.name = std::string(trimmed(text.substr(at, part.at - at)))};
    const bool separated = std::count(separators.begin(), separators.end(), part.marker) > 0;
    if (!separated) return part.marker == "{" && is_name(call.name) ? kNoOpinion : kNoCall;
    if (call.name.empty()) return kNoOpinion;
    if (!is_name(call.name)) return kNoCall;
    at = part.at + part.marker.size();
    // A kind, the name on the rest of the line, perhaps a fence; or the arguments at once.
    part = next_part(text, at, separators, enders);
    std::string_view header = text.substr(at, part.at - at);
    if (std::count(separators.begin(), separators.end(), part.marker) > 0) return kNoOpinion;
    const bool cut = part.marker.empty();
    const std::size_t first = skip_space(header, 0);
    if (cut && header.find('\n', first) == header.npos) return kNoCall;
    header = trimmed(header);
    const std::size_t line = std::min(header.find('\n'), header.find("```"));
    const std::string_view name = trimmed(header.substr(0, line));
    const std::string_view fence = line == header.npos ? "" : trimmed(header.substr(line));
    if (!name.empty()) call.name = name;
    if (!is_name(call.name)) return kNoCall;
    if (!fence.empty() && fence != "```" && fence != "```json") return kNoCall;
    Reading reading = read_rest(text, part.at, call, enders);
    if (reading.what != What::calls || fence.empty() || part.marker != "{") return reading;
    const std::size_t close = skip_space(text, reading.end);
    if (text.substr(close).starts_with("```")) reading.end = close + 3;
    const bool half = close < text.size() && text[close] == '`';
    return half && reading.end != close + 3 ? kNoOpinion : reading;
  });
}

bool functionary_v31(const ReferenceCase& turn, EventLog& log) {
  TurnGrammar grammar;
  grammar.call_open = {{"<function="}};
  grammar.call_close = {"</function>"};
  grammar.tail = {"<|eom_id|>", "<|eot_id|>"};
  return read_named(turn, log, grammar, [&](std::size_t at, const Texts& enders) {
    const Part part = next_part(turn.text, at, {">"}, enders);
    const LoggedCall call{.name = std::string(trimmed(turn.text.substr(at, part.at - at)))};
    if (part.marker.empty() || !is_name(call.name)) return kNoCall;
    if (part.marker != ">") return kNoOpinion;
    return read_rest(turn.text, part.at + 1, call, enders);
  });
}

bool functionary_v32(const ReferenceCase& turn, EventLog& log) {
  TurnGrammar grammar;
  grammar.call_open = {{">>>"}};
  grammar.tail = {"<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"};
  grammar.begins_in_call = true;
  return read_named(turn, log, grammar, [&](std::size_t at, const Texts& enders) {
    const std::string_view text = turn.text;
    if (text.substr(at).starts_with("all\n")) return Reading{.what = What::calls, .end = at + 4};
    const Part part = next_part(text, at, {"\n"}, enders);
    const LoggedCall call{.name = std::string(trimmed(text.substr(at, part.at - at)))};
    if (part.marker.empty() || !is_name(call.name)) return kNoCall;
    if (part.marker != "\n") return kNoOpinion;
    // A word that nothing announces is no recipient.
    if (at == 0 && skip_space(text, part.at) == text.size()) return kNoCall;
    return read_rest(text, part.at + 1, call, enders);
  });
}

bool solar_open(const ReferenceCase& turn, EventLog& log) {
  TurnGrammar grammar;
  grammar.reasoning = {{"<|think|>", "<|end|>"}, {"<think>", "</think>"}};
  grammar.answer = {{"<|content|>", ""}, {"<|begin|>assistant", ""}};
  grammar.section_open = {"<|tool_calls|>"};
  grammar.call_open = {{"<|tool_call:begin|>"}};
  grammar.call_close = {"<|tool_call:end|>"};
  grammar.section_close = {"<|calls|>"};
  grammar.tail = {"<|flush|>"};
  grammar.special = {"<|tool_calls|>",    "<|calls|>",          "<|tool_call:begin|>",
                     "<|tool_call:end|>", "<|tool_call:name|>", "<|tool_call:args|>"};
  return read_named(turn, log, grammar, [&](std::size_t at, const Texts& enders) {
    constexpr std::string_view kName = "<|tool_call:name|>";
    constexpr std::string_view kArguments = "<|tool_call:args|>";
    Part part = next_part(turn.text, at, {kName, kArguments}, enders);
    LoggedCall call{.id = std::string(trimmed(turn.text.substr(at, part.at - at)))};
    if (part.marker != kName) return part.marker == kArguments ? kNoOpinion : kNoCall;
    if (call.id.find_first_of(" \t\r\n") != std::string::npos) return kNoCall;
    at = part.at + kName.size();
    part = next_part(turn.text, at, {kName, kArguments}, enders);
    call.name = trimmed(turn.text.substr(at, part.at - at));
    if (part.marker.empty() || !is_name(call.name)) return kNoCall;
    if (part.marker != kArguments) return kNoOpinion;
    return read_rest(turn.text, part.at + kArguments.size(), call, enders);
  });
}

}  // namespace callgate::dialect::reference
