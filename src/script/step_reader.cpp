#include "script/step_reader.h"

#include <algorithm>
#include <array>
#include <limits>

#include "chat/content.h"

namespace callgate::script {
namespace {

std::optional<FinishReason> reason_named(std::string_view word) {
  if (word == "stop") return FinishReason::stop;
  if (word == "tool_calls") return FinishReason::tool_calls;
  if (word == "length") return FinishReason::length;
  if (word == "content_filter") return FinishReason::content_filter;
  return std::nullopt;
}

std::optional<ToolChoice::Mode> mode_named(std::string_view word) {
  if (word == "auto") return ToolChoice::Mode::automatic;
  if (word == "none") return ToolChoice::Mode::none;
  if (word == "required") return ToolChoice::Mode::required;
  if (word == "named") return ToolChoice::Mode::named;
  return std::nullopt;
}

}  // namespace

void read_condition(LineReader& in, Condition& condition) {
  const std::string_view word = in.word();
  if (word == "model") {
    condition.model = in.peek() == '"' ? in.string() : std::string(in.word());
    if (condition.model.empty()) in.fail_word({}, "a model name, with * and ? as wildcards");
  } else if (word == "last") {
    const std::string_view role = in.word();
    condition.last_role = find_role(role);
    if (!condition.last_role) in.fail_word(role, "system|developer|user|assistant|tool");
  } else if (word == "turn") {
    const auto turn = static_cast<std::uint32_t>(in.number(1'000'000));
    condition.turn_from = turn;
    if (!in.take("on")) condition.turn_to = turn;
  } else if (word == "tools") {
    condition.tools = true;
  } else if (word == "no_tools") {
    condition.tools = false;
  } else if (word == "tool_choice") {
    const std::string_view choice = in.word();
    condition.tool_choice = mode_named(choice);
    if (!condition.tool_choice) in.fail_word(choice, "auto|none|required|named");
  } else if (word == "stream") {
    condition.stream = true;
  } else if (word == "whole") {
    condition.stream = false;
  } else if (const std::optional<Role> role = find_role(word)) {
    if (!in.take("contains")) in.fail_word(in.word(), "contains \"...\"");
    condition.contains.push_back({*role, in.string()});
  } else {
    in.fail_word(word,
                 "model|last|turn|tools|no_tools|tool_choice|stream|whole|ROLE contains \"...\"");
  }
}

void read_header(LineReader& in, Headers& headers) {
  const std::string_view rest = in.rest_of_line();
  const std::size_t colon = rest.find(':');
  const std::string_view name = rest.substr(0, colon);
  if (colon == std::string_view::npos || name.empty() || name.find(' ') != std::string_view::npos) {
    in.fail_word(rest, "NAME: VALUE");
    return;
  }
  const std::size_t value = std::min(rest.find_first_not_of(" \t", colon + 1), rest.size());
  headers.emplace_back(name, rest.substr(value));
}

Call read_call(LineReader& in) {
  Call call;
  call.name = in.peek() == '"' ? in.string() : std::string(in.word());
  if (call.name.empty()) in.fail_word({}, "the name of a tool");
  if (in.peek() == '"' || in.at_block()) {
    call.arguments = in.strings();
  } else if (in.peek() == '{') {
    call.arguments.push_back(in.json());
  } else {
    call.arguments.push_back("{}");
  }
  if (const std::string_view word = in.word(); word.starts_with("id=")) {
    call.id = word.substr(3);
  } else if (!word.empty()) {
    in.fail_word(word, "{JSON}, \"strings\", <<WORD or id=...");
  }
  return call;
}

Usage read_usage(LineReader& in) {
  struct Field {
    std::string_view name;
    std::int64_t Usage::*member;
  };
  static constexpr std::array<Field, 6> kFields{{
      {"prompt=", &Usage::prompt_tokens},
      {"completion=", &Usage::completion_tokens},
      {"total=", &Usage::total_tokens},
      {"cached=", &Usage::cached_tokens},
      {"cache_write=", &Usage::cache_write_tokens},
      {"reasoning=", &Usage::reasoning_tokens},
  }};
  Usage usage;
  bool total_given = false;
  while (!in.at_end()) {
    const std::string_view word = in.word();
    const auto field = std::find_if(kFields.begin(), kFields.end(),
                                    [&](const Field& f) { return word.starts_with(f.name); });
    const std::string digits(field == kFields.end() ? "" : word.substr(field->name.size()));
    if (digits.empty() || digits.size() > 15 ||
        digits.find_first_not_of("0123456789") != std::string::npos) {
      in.fail_word(word,
                   "prompt=N completion=N [total=N] [cached=N] [cache_write=N] [reasoning=N]");
      break;
    }
    usage.*field->member = std::stoll(digits);
    total_given = total_given || field->name == "total=";
  }
  if (!total_given) usage.total_tokens = usage.prompt_tokens + usage.completion_tokens;
  return usage;
}

Finish read_finish(LineReader& in) {
  const std::string_view word = in.word();
  const std::optional<FinishReason> reason = reason_named(word);
  if (!reason) {
    in.fail_word(word, "stop|tool_calls|length|content_filter; another word needs fault finish=");
  }
  return Finish{reason.value_or(FinishReason::stop)};
}

SetCut read_cut(LineReader& in) {
  const bool text_only = in.take("text");
  const bool arguments_only = !text_only && in.take("arguments");
  Cut cut;
  if (in.take("off")) {
    cut.unit = Cut::Unit::whole;
  } else if (in.take("words")) {
    cut.unit = Cut::Unit::words;
  } else {
    cut.size = in.number(std::uint64_t{1} << 32);
    if (cut.size == 0) in.fail_word("0", "off|words|N|N bytes");
    cut.unit = in.take("bytes") ? Cut::Unit::bytes : Cut::Unit::characters;
  }
  SetCut step;
  if (!arguments_only) step.text = cut;
  if (!text_only) step.arguments = cut;
  return step;
}

WriteMode read_write_mode(LineReader& in) {
  if (in.take("frame")) return {WriteMode::Kind::frame, 0};
  if (in.take("all")) return {WriteMode::Kind::all, 0};
  const auto size =
      static_cast<std::uint32_t>(in.number(std::numeric_limits<std::uint32_t>::max()));
  if (size == 0) in.fail_word("0", "frame|all|N");
  return {WriteMode::Kind::sized, size};
}

std::string read_bytes(LineReader& in) {
  if (in.at_block()) return in.block();
  std::string joined;
  for (const std::string& piece : in.strings()) joined += piece;
  return joined;
}

Frame read_frame(LineReader& in) {
  if (in.peek() == '"') return Frame{read_bytes(in)};
  if (!in.at_block()) return Frame{in.json()};
  std::string block = in.block();
  if (!block.empty()) block.pop_back();  // the last line feed is not part of the JSON
  return Frame{std::move(block)};
}

Status read_status(LineReader& in) {
  Status step;
  step.status = static_cast<int>(in.number(599));
  if (step.status < 200) in.fail_word(std::to_string(step.status), "a status from 200 to 599");
  if (in.at_block() || in.peek() == '"') {
    step.body = read_bytes(in);
  } else if (!in.at_end()) {
    step.body = in.json();
  }
  return step;
}

Faults read_faults(LineReader& in) {
  Faults faults;
  do {
    const std::string_view word = in.word();
    if (word.starts_with("finish=") && word.size() > 7) {
      faults.set_finish(word.substr(7));
    } else if (const std::optional<Fault> fault = find_fault(word)) {
      faults.add(*fault);
    } else {
      in.fail_word(word, "a fault from the table in docs/script.md, finish=WORD or none");
    }
  } while (!in.at_end());
  return faults;
}

}  // namespace callgate::script
