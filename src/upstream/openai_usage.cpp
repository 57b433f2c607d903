#include "upstream/openai_usage.h"

#include <charconv>

#include "json/reader.h"

namespace callgate::upstream {
namespace {

// A whole number that is not negative, also as a string.
std::optional<std::int64_t> read_tokens(json::Reader& in) {
  constexpr std::int64_t kMax = std::int64_t{1} << 60;  // sums must fit
  std::optional<std::int64_t> value;
  if (in.peek() == json::Kind::number) {
    value = in.integer();
  } else if (in.peek() == json::Kind::string) {
    const std::string_view digits = in.string();
    std::int64_t parsed = 0;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), parsed);
    if (fault == std::errc() && end == digits.data() + digits.size()) value = parsed;
  } else {
    in.skip();
  }
  if (value && (*value < 0 || *value > kMax)) value.reset();
  return value;
}

void read_details(json::Reader& in, Usage& usage) {
  if (in.peek() != json::Kind::object) return in.skip();
  for (std::string_view key; in.next_member(key);) {
    if (key == "cached_tokens") {
      usage.cached_tokens = read_tokens(in).value_or(0);
    } else if (key == "cache_write_tokens") {
      usage.cache_write_tokens = read_tokens(in).value_or(0);
    } else if (key == "reasoning_tokens") {
      usage.reasoning_tokens = read_tokens(in).value_or(0);
    } else {
      in.skip();
    }
  }
}

}  // namespace

void set_counts(Usage& usage, std::optional<std::int64_t> prompt,
                std::optional<std::int64_t> completion, std::optional<std::int64_t> total) {
  if (!prompt && completion && total && *total >= *completion) prompt = *total - *completion;
  if (!completion && prompt && total && *total >= *prompt) completion = *total - *prompt;
  usage.prompt_stated = prompt.has_value();
  usage.completion_stated = completion.has_value();
  usage.prompt_tokens = prompt.value_or(0);
  usage.completion_tokens = completion.value_or(0);
  usage.total_tokens = total.value_or(usage.prompt_tokens + usage.completion_tokens);
}

std::optional<Usage> read_openai_usage(std::string_view json) {
  Usage usage;
  std::optional<std::int64_t> prompt;
  std::optional<std::int64_t> completion;
  std::optional<std::int64_t> total;
  bool any = false;
  json::Reader in(json);
  for (std::string_view key; in.next_member(key); any = true) {
    if (key == "prompt_tokens" || key == "input_tokens") {
      const auto tokens = read_tokens(in);
      if (tokens) prompt = tokens;
    } else if (key == "completion_tokens" || key == "output_tokens") {
      const auto tokens = read_tokens(in);
      if (tokens) completion = tokens;
    } else if (key == "total_tokens") {
      total = read_tokens(in);
    } else if (key == "prompt_cache_hit_tokens") {
      usage.cached_tokens = read_tokens(in).value_or(usage.cached_tokens);
    } else if (key == "prompt_tokens_details" || key == "completion_tokens_details") {
      read_details(in, usage);
    } else {
      in.skip();
    }
  }
  if (!any) return std::nullopt;
  set_counts(usage, prompt, completion, total);
  return usage;
}

}  // namespace callgate::upstream
