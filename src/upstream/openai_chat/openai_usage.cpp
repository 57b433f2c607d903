#include "upstream/openai_chat/openai_usage.h"

#include <array>
#include <charconv>
#include <cstddef>

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

enum class Count : std::uint8_t { prompt, completion, total, cached, cache_write, reasoning };

struct UsageRow {
  std::string_view name;
  Count count;
};
constexpr auto kCounts = std::to_array<UsageRow>({
    {"prompt_tokens", Count::prompt},
    {"input_tokens", Count::prompt},
    {"inputTokens", Count::prompt},
    {"completion_tokens", Count::completion},
    {"output_tokens", Count::completion},
    {"outputTokens", Count::completion},
    {"total_tokens", Count::total},
    {"totalTokens", Count::total},
    {"prompt_cache_hit_tokens", Count::cached},
    {"cached_tokens", Count::cached},
    {"cached_input_tokens", Count::cached},
    {"cachedInputTokens", Count::cached},
    {"cache_write_tokens", Count::cache_write},
    {"cacheWriteInputTokens", Count::cache_write},
    {"reasoning_tokens", Count::reasoning},
    {"reasoning_output_tokens", Count::reasoning},
    {"reasoningOutputTokens", Count::reasoning},
});

class UsageReader {
 public:
  // False: the object is empty.
  bool read(json::Reader& in) {
    bool any = false;
    for (std::string_view key; in.next_member(key); any = true) {
      if (key.ends_with("_details") && in.peek() == json::Kind::object) {
        for (std::string_view inner; in.next_member(inner);) read_member(in, inner, Count::cached);
      } else {
        read_member(in, key, Count::prompt);
      }
    }
    return any;
  }
  bool states_something() const {
    return at(Count::prompt) || at(Count::completion) || at(Count::total);
  }
  Usage usage() const {
    Usage usage{.cached_tokens = at(Count::cached).value_or(0),
                .cache_write_tokens = at(Count::cache_write).value_or(0),
                .reasoning_tokens = at(Count::reasoning).value_or(0)};
    set_counts(usage, at(Count::prompt), at(Count::completion), at(Count::total));
    return usage;
  }

 private:
  // Details have the counts from `first` on.
  void read_member(json::Reader& in, std::string_view key, Count first) {
    for (const UsageRow& row : kCounts) {
      if (row.name != key || row.count < first) continue;
      const std::optional<std::int64_t> tokens = read_tokens(in);
      if (tokens) counts_[static_cast<std::size_t>(row.count)] = tokens;
      return;
    }
    in.skip();
  }
  const std::optional<std::int64_t>& at(Count count) const {
    return counts_[static_cast<std::size_t>(count)];
  }

  std::array<std::optional<std::int64_t>, 6> counts_;
};

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

std::optional<Usage> read_openai_usage(json::Reader& in) {
  UsageReader reader;
  return reader.read(in) ? std::optional(reader.usage()) : std::nullopt;
}

std::optional<Usage> read_stated_usage(std::string_view json) {
  if (!json.starts_with('{')) return std::nullopt;
  UsageReader reader;
  json::Reader in(json);
  reader.read(in);
  return reader.states_something() ? std::optional(reader.usage()) : std::nullopt;
}

}  // namespace callgate::upstream
