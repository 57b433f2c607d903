#include "client/gemini/gemini_parts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "chat/sealed_reasoning.h"
#include "client/answer_parts.h"
#include "client/gemini/gemini.h"
#include "json/each.h"
#include "json/member.h"
#include "json/reader.h"

namespace callgate::client {
namespace {

// {"token":"Hi","logprob":-0.1} -> {"token":"Hi","logProbability":-0.1}
void append_gemini_candidate(std::string& out, std::string_view json) {
  const std::string_view token = json::given_member(json, "token");
  const std::string_view logprob = json::given_member(json, "logprob");
  json::ObjectWriter object(out);
  object.raw("token", token.empty() ? "\"\"" : token);
  object.raw("logProbability", logprob.empty() ? "0" : logprob);
  object.close();
}

}  // namespace

void GeminiSignatures::add(std::string_view json, FunctionRef<void(const Placed&)> on_placed) {
  json::each_element(json, [&](std::string_view detail) {
    if (json::member_text(detail, "format") != kGeminiFormat) {
      if (auto sealed = seal_reasoning(detail)) sealed_.push_back(std::move(*sealed));
      return;
    }
    std::string data = json::member_text(detail, "data");
    json::Reader index(json::given_member(detail, "index"));
    if (index.peek() == json::Kind::number) {
      of_calls_[index.integer().value_or(0)] = std::move(data);
    } else if (!data.empty()) {
      on_placed({json::member_text(detail, "id"), std::move(data)});
    }
  });
}

std::string GeminiSignatures::take(CallIndex call) {
  const auto own = of_calls_.find(call);
  if (own != of_calls_.end()) return std::exchange(own->second, {});
  if (sealed_.empty()) return {};
  std::string first = std::move(sealed_.front());
  sealed_.pop_front();
  return first;
}

std::deque<std::string> GeminiSignatures::take_sealed() { return std::exchange(sealed_, {}); }

void append_gemini_call(std::string& out, const OpenCall& call, std::string_view signature) {
  json::ObjectWriter part(out);
  json::ObjectWriter object(part.key("functionCall"));
  object.string("id", call.id);
  object.string("name", call.name);
  append_arguments_line(object.key("args"), call.arguments);
  object.close();
  if (!signature.empty()) part.string("thoughtSignature", signature);
  append_fold(part, call.fields);
  part.close();
}

void append_gemini_text(std::string& out, std::string_view text, bool thought,
                        std::string_view signature) {
  json::ObjectWriter part(out);
  part.string("text", text);
  if (thought) part.boolean("thought", true);
  if (!signature.empty()) part.string("thoughtSignature", signature);
  part.close();
}

// A turn with calls ends with STOP as well.
std::string_view gemini_finish_word(FinishReason reason) {
  switch (reason) {
    case FinishReason::stop:
    case FinishReason::tool_calls:
      return "STOP";
    case FinishReason::length:
      return "MAX_TOKENS";
    case FinishReason::content_filter:
      return "SAFETY";
    case FinishReason::upstream_error:
      return "OTHER";
  }
  return {};
}

std::string gemini_logprobs(std::string_view json) {
  std::string chosen;
  std::string top;
  json::each_element(json::given_member(json, "content"), [&](std::string_view token) {
    if (!token.starts_with('{')) return;
    if (!chosen.empty()) chosen.push_back(',');
    append_gemini_candidate(chosen, token);
    std::string alternatives;
    json::each_element(json::given_member(token, "top_logprobs"), [&](std::string_view other) {
      if (!alternatives.empty()) alternatives.push_back(',');
      append_gemini_candidate(alternatives, other);
    });
    if (!top.empty()) top.push_back(',');
    top.append("{\"candidates\":[").append(alternatives).append("]}");
  });
  return "{\"topCandidates\":[" + top + "],\"chosenCandidates\":[" + chosen + "]}";
}

void append_gemini_usage(json::ObjectWriter& object, const GeminiUsageTold& told,
                         const AnswerEnd& end) {
  const std::optional<Usage>& counts = end.estimate ? end.estimate : told.counts;
  if (!counts) return;
  json::ObjectWriter usage(object.key("usageMetadata"));
  usage.integer("promptTokenCount", counts->prompt_tokens);
  usage.integer("candidatesTokenCount", counts->completion_tokens - counts->reasoning_tokens);
  if (counts->reasoning_tokens != 0) usage.integer("thoughtsTokenCount", counts->reasoning_tokens);
  if (counts->cached_tokens != 0) usage.integer("cachedContentTokenCount", counts->cached_tokens);
  usage.integer("totalTokenCount", counts->total_tokens);
  static constexpr auto kOwn = std::to_array<std::string_view>(
      {"promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "cachedContentTokenCount",
       "totalTokenCount", "toolUsePromptTokenCount", "estimated", "time_to_first_token_ms",
       "total_duration_ms", "emission_trigger"});
  json::each_member(told.json, [&](std::string_view name, std::string_view value) {
    if (std::find(kOwn.begin(), kOwn.end(), name) != kOwn.end()) return;
    std::string line;
    append_json_line(line, value);
    usage.raw_escaped(name, line);
  });
  if (end.estimate) usage.boolean("estimated", true);
  if (end.timing) {
    usage.integer("time_to_first_token_ms", end.timing->first_token_ms);
    usage.integer("total_duration_ms", end.timing->duration_ms);
    usage.string("emission_trigger", end.timing->trigger);
  }
  usage.close();
}

}  // namespace callgate::client
