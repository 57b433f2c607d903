#include "upstream/codex/codex_turn.h"

#include <utility>

#include "chat/usage.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::upstream {
namespace {

Usage minus(const Usage& a, const Usage& b) {
  return {.prompt_tokens = a.prompt_tokens - b.prompt_tokens,
          .completion_tokens = a.completion_tokens - b.completion_tokens,
          .total_tokens = a.total_tokens - b.total_tokens,
          .cached_tokens = a.cached_tokens - b.cached_tokens,
          .cache_write_tokens = a.cache_write_tokens - b.cache_write_tokens,
          .reasoning_tokens = a.reasoning_tokens - b.reasoning_tokens,
          .prompt_stated = a.prompt_stated,
          .completion_stated = a.completion_stated};
}

// Codex ends a turn that the model was not allowed to finish with an error; clients know a reason for it.
std::optional<FinishReason> reason_in(std::string_view message) {
  if (!message.starts_with("Incomplete response returned")) return std::nullopt;
  if (message.ends_with("max_output_tokens")) return FinishReason::length;
  if (message.ends_with("content_filter")) return FinishReason::content_filter;
  return std::nullopt;
}

}  // namespace

CodexTurn::CodexTurn(const Request& request) : names_(request.tools) {
  calls_.expect_disorder(request.tools);
}

void CodexTurn::pass(Prose kind, std::string_view text, EventSink& sink) {
  calls_.push_prose(kind, text, sink);
}

void CodexTurn::say(std::string_view piece, EventSink& sink) {
  said_ = true;
  piece = text_halves_.push(piece, joined_);
  text_.push(piece, [&](std::string_view text) { pass(Prose::text, text, sink); });
}

void CodexTurn::say_whole(std::string_view message, EventSink& sink) {
  said_ = true;
  text_halves_.drop();
  text_.push_whole(message, [&](std::string_view text) { pass(Prose::text, text, sink); });
}

void CodexTurn::think(std::string_view piece, EventSink& sink) {
  said_ = true;
  piece = reasoning_halves_.push(piece, joined_);
  reasoning_.push(piece, [&](std::string_view text) { pass(Prose::reasoning, text, sink); });
}

void CodexTurn::think_whole(std::string_view text, EventSink& sink) {
  said_ = true;
  reasoning_halves_.drop();
  reasoning_.push_whole(text, [&](std::string_view t) { pass(Prose::reasoning, t, sink); });
}

void CodexTurn::call(std::string_view id, std::string_view name, std::string_view arguments,
                     EventSink& sink) {
  said_ = true;
  if (name.empty()) {
    return fail(
        {.code = ErrorCode::upstream_failed, .message = "upstream made a call without a name"});
  }
  if (!call_ids_.emplace(id).second) return;
  has_calls_ = true;
  piece_.clear();
  piece_.legacy = true;  // it needs neither an index nor an id
  piece_.id = id;
  piece_.name = name;
  piece_.arguments = arguments.empty() ? "{}" : arguments;
  calls_.push_call(piece_, true, repairs_, sink);
  calls_.end_newest(sink);
}

void CodexTurn::own_tool(const OwnTool& tool, EventSink& sink) {
  said_ = true;
  switch (own_tools_) {
    case OwnTools::hidden:
      return;
    case OwnTools::text: {
      std::string line = "[" + std::string(tool.kind) + "] " + tool.title;
      if (!tool.outcome.empty()) line += ": " + tool.outcome;
      text_.end_message();
      return say_whole(line, sink);
    }
    case OwnTools::annotations: {
      std::string json = "[";
      json::ObjectWriter annotation(json);
      annotation.string("type", "codex_tool");
      json::ObjectWriter object(annotation.key("codex_tool"));
      object.string("kind", tool.kind);
      object.string("id", tool.id);
      object.string("title", tool.title);
      object.string("outcome", tool.outcome);
      object.close();
      annotation.close();
      json += "]";
      return sink.accept(FieldReported{FieldReported::Scope::message, "annotations", json});
    }
  }
}

void CodexTurn::sealed_thought(std::string_view id, std::string_view data, EventSink& sink) {
  std::string json = "[";
  json::ObjectWriter detail(json);
  detail.string("type", "reasoning.encrypted");
  detail.string("data", data);
  if (!id.empty()) detail.string("id", id);
  detail.string("format", "openai-responses-v1");
  detail.close();
  json += "]";
  sink.accept(FieldReported{FieldReported::Scope::message, "reasoning_details", json});
}

void CodexTurn::add_usage(const Usage& usage, EventSink& sink) {
  if (!usage_by_response_) usage_ = {};
  usage_by_response_ = true;
  callgate::add_usage(usage_, usage);
  sink.accept(UsageReported{usage_});
}

void CodexTurn::total_usage(const Usage& total, const Usage& last, EventSink& sink) {
  if (usage_by_response_) return;
  if (!before_) before_ = said_ ? minus(total, last) : total;
  const Usage now = minus(total, *before_);
  if (now == usage_ || now.total_tokens < 0) return;
  usage_ = now;
  sink.accept(UsageReported{usage_});
}

void CodexTurn::retry() {
  text_halves_.drop();
  reasoning_halves_.drop();
  const bool text = text_.restart();
  const bool reasoning = reasoning_.restart();
  if (text && reasoning) return;
  fail({.code = ErrorCode::upstream_failed,
        .message = "codex started an answer over that is too long to compare"});
}

void CodexTurn::settle() {
  text_.settle();
  reasoning_.settle();
}

void CodexTurn::fail(Error error) {
  if (finished_) return;
  finished_ = true;
  if (const auto reason = reason_in(error.message)) {
    reason_ = *reason;
    return;
  }
  error_ = std::move(error);
}

void CodexTurn::finish(bool cut, EventSink& sink) {
  if (std::exchange(ended_, true)) return;
  if (cut && !finished_) {
    error_ = Error{.code = ErrorCode::upstream_failed,
                   .message = said_ ? "codex ended before the turn was finished"
                                    : "codex ended without an answer"};
  }
  finished_ = true;
  if (const std::string_view lost = reasoning_halves_.finish(); !lost.empty()) think(lost, sink);
  if (const std::string_view lost = text_halves_.finish(); !lost.empty()) say(lost, sink);
  calls_.finish(error_.has_value(), sink);
  sink.accept(TurnFinished{error_ ? FinishReason::upstream_error
                                  : callgate::settle(reason_, calls_.tally())});
}

}  // namespace callgate::upstream
