#include "client/openai_chat/openai_usage.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "client/answer_parts.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::client {

namespace {

struct Count {
  std::string_view name;
  std::int64_t tokens = 0;
  bool written = false;
};

// Members that callgate writes, and other names for them.
bool is_own_member(std::string_view name) {
  static constexpr std::array<std::string_view, 11> kNames = {"prompt_tokens",
                                                              "completion_tokens",
                                                              "total_tokens",
                                                              "input_tokens",
                                                              "output_tokens",
                                                              "prompt_tokens_details",
                                                              "completion_tokens_details",
                                                              "estimated",
                                                              "time_to_first_token_ms",
                                                              "total_duration_ms",
                                                              "emission_trigger"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

// Calls on_member(name, raw value) for each that is not null.
template <class OnMember>
void for_each_member(std::string_view json, OnMember on_member) {
  json::Reader in(json);
  if (json.empty() || in.peek() != json::Kind::object) return;
  for (std::string_view key; in.next_member(key);) {
    const std::string_view value = in.raw();
    if (value != "null") on_member(key, value);
  }
}

// What the upstream's object has that the counts have not, found in one reading.
struct Given {
  std::string_view prompt_details;
  std::string_view completion_details;
  bool others = false;
};

Given read_given(std::string_view json) {
  Given given;
  for_each_member(json, [&](std::string_view name, std::string_view value) {
    if (name == "prompt_tokens_details") {
      given.prompt_details = value;
    } else if (name == "completion_tokens_details") {
      given.completion_details = value;
    } else if (!is_own_member(name)) {
      given.others = true;
    }
  });
  return given;
}

void append_member(json::ObjectWriter& object, std::string_view name, std::string_view json) {
  std::string line;
  append_json_line(line, json);
  object.raw_escaped(name, line);
}

// The upstream's details with callgate's counts in place. The first count is always there.
void append_details(json::ObjectWriter& usage, std::string_view name, std::string_view given,
                    std::span<Count> counts) {
  const bool any = std::any_of(counts.begin(), counts.end(),
                               [](const Count& count) { return count.tokens != 0; });
  if (!any && !given.starts_with('{')) return;
  json::ObjectWriter details(usage.key(name));
  for_each_member(given, [&](std::string_view member, std::string_view value) {
    const auto known = std::find_if(counts.begin(), counts.end(),
                                    [&](const Count& count) { return count.name == member; });
    if (known == counts.end()) return append_member(details, member, value);
    if (!std::exchange(known->written, true)) details.integer(known->name, known->tokens);
  });
  for (const Count& count : counts) {
    const bool owed = count.tokens != 0 || (any && &count == &counts.front());
    if (owed && !count.written) details.integer(count.name, count.tokens);
  }
  details.close();
}

}  // namespace

void append_openai_usage(std::string& out, const ToldUsage& told, const AnswerEnd& end) {
  const Usage& usage = end.estimate ? *end.estimate : *told.counts;
  json::ObjectWriter object(out);
  object.integer("prompt_tokens", usage.prompt_tokens);
  object.integer("completion_tokens", usage.completion_tokens);
  object.integer("total_tokens", usage.total_tokens);
  std::array<Count, 2> prompt = {
      {{"cached_tokens", usage.cached_tokens}, {"cache_write_tokens", usage.cache_write_tokens}}};
  const Given given = read_given(told.json);
  append_details(object, "prompt_tokens_details", given.prompt_details, prompt);
  std::array<Count, 1> completion = {{{"reasoning_tokens", usage.reasoning_tokens}}};
  append_details(object, "completion_tokens_details", given.completion_details, completion);
  if (given.others) {
    for_each_member(told.json, [&](std::string_view name, std::string_view value) {
      if (!is_own_member(name)) append_member(object, name, value);
    });
  }
  if (end.estimate) object.boolean("estimated", true);
  if (end.timing) {
    object.integer("time_to_first_token_ms", end.timing->first_token_ms);
    object.integer("total_duration_ms", end.timing->duration_ms);
    object.string("emission_trigger", end.timing->trigger);
  }
  object.close();
}

std::string_view openai_finish_word(FinishReason reason, bool legacy) {
  switch (reason) {
    case FinishReason::stop:
      return "stop";
    case FinishReason::tool_calls:
      return legacy ? "function_call" : "tool_calls";
    case FinishReason::length:
      return "length";
    case FinishReason::content_filter:
      return "content_filter";
    case FinishReason::upstream_error:
      return "stop";
  }
  return {};
}

}  // namespace callgate::client
