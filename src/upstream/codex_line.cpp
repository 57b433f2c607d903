#include "upstream/codex_line.h"

#include "upstream/openai_usage.h"
#include "upstream/read_text.h"

namespace callgate::upstream {

bool read_codex_line(std::string_view text, json::Reader& reader, CodexLine& line) {
  line.method.clear();
  line.id = line.params = line.msg = line.result = line.error = {};
  reader.reset(text);
  if (reader.peek() != json::Kind::object) return false;
  for (std::string_view key; reader.next_member(key);) {
    if (key == "method" && reader.peek() == json::Kind::string) {
      line.method = reader.string();
    } else if (key == "id") {
      line.id = reader.raw();
    } else if (key == "params") {
      line.params = reader.raw();
    } else if (key == "msg") {
      line.msg = reader.raw();
    } else if (key == "result") {
      line.result = reader.raw();
    } else if (key == "error") {
      line.error = reader.raw();
    } else {
      reader.skip();
    }
  }
  return reader.finish();
}

std::string_view member_json(std::string_view object, std::string_view name) {
  json::Reader in(object);
  if (object.empty() || in.peek() != json::Kind::object) return {};
  std::string_view found;
  for (std::string_view key; in.next_member(key);) {
    if (key == name) {
      found = in.raw();
    } else {
      in.skip();
    }
  }
  return found;
}

std::optional<Usage> read_codex_usage(std::string_view json) {
  json::Reader in(json);
  if (json.empty() || in.peek() != json::Kind::object) return std::nullopt;
  Usage usage;
  std::optional<std::int64_t> prompt;
  std::optional<std::int64_t> completion;
  std::optional<std::int64_t> total;
  for (std::string_view key; in.next_member(key);) {
    if (key == "input_tokens" || key == "inputTokens") {
      prompt = read_count(in);
    } else if (key == "output_tokens" || key == "outputTokens") {
      completion = read_count(in);
    } else if (key == "total_tokens" || key == "totalTokens") {
      total = read_count(in);
    } else if (key == "cached_input_tokens" || key == "cachedInputTokens") {
      usage.cached_tokens = read_count(in).value_or(0);
    } else if (key == "cacheWriteInputTokens") {
      usage.cache_write_tokens = read_count(in).value_or(0);
    } else if (key == "reasoning_output_tokens" || key == "reasoningOutputTokens") {
      usage.reasoning_tokens = read_count(in).value_or(0);
    } else {
      in.skip();
    }
  }
  if (!prompt && !completion && !total) return std::nullopt;
  set_counts(usage, prompt, completion, total);
  return usage;
}

std::string member_text(std::string_view object, std::string_view name) {
  const std::string_view json = member_json(object, name);
  if (json.empty() || json == "null") return {};
  json::Reader in(json);
  return std::string(in.peek() == json::Kind::string ? in.string() : json);
}

}  // namespace callgate::upstream
