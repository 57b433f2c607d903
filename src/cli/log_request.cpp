#include "cli/log_request.h"

#include <utility>

#include "json/reader.h"

namespace callgate::cli {
namespace {

using json::Kind;
using json::Reader;

bool take_text(Reader& in, std::string& to) {
  if (in.peek() != Kind::string) return false;
  to = in.string();
  return true;
}

bool take_count(Reader& in, std::optional<std::int64_t>& to) {
  if (in.peek() != Kind::number) return false;
  to = in.integer();
  return true;
}

// Calls read(key) for each member; a member that it does not take is skipped.
template <class Read>
void each_member(Reader& in, Read read) {
  if (in.peek() != Kind::object) return in.skip();
  for (std::string_view key; in.next_member(key);) {
    if (!read(std::string(key))) in.skip();
  }
}

void read_usage(Reader& in, LoggedRequest& request) {
  each_member(in, [&](const std::string& key) {
    if (key == "prompt_tokens") return take_count(in, request.prompt_tokens);
    if (key == "completion_tokens") return take_count(in, request.completion_tokens);
    return false;
  });
}

void read_error(Reader& in, LoggedRequest& request) {
  each_member(in, [&](const std::string& key) {
    if (key == "code") return take_text(in, request.error_code);
    if (key == "message") return take_text(in, request.error_message);
    return false;
  });
}

void read_events(Reader& in, LoggedRequest& request) {
  if (in.peek() != Kind::array) return in.skip();
  while (in.next_element()) {
    LoggedRequest::Event event;
    const std::pair<std::string_view, std::string*> texts[] = {
        {"type", &event.type},      {"text", &event.text}, {"reason", &event.text},
        {"id", &event.id},          {"name", &event.name}, {"arguments", &event.arguments},
        {"outcome", &event.outcome}};
    each_member(in, [&](const std::string& key) {
      for (const auto& [name, to] : texts) {
        if (name == key) return take_text(in, *to);
      }
      const std::pair<std::string_view, std::int64_t*> counts[] = {
          {"choice", &event.choice},
          {"bytes", &event.bytes},
          {"round", &event.round},
          {"duration_ms", &event.duration_ms}};
      for (const auto& [name, to] : counts) {
        std::optional<std::int64_t> count;
        if (name != key || !take_count(in, count)) continue;
        *to = count.value_or(0);
        return true;
      }
      if (key != "is_error" || in.peek() != Kind::boolean) return false;
      event.is_error = in.boolean();
      return true;
    });
    request.events.push_back(std::move(event));
  }
}

void read_result(Reader& in, LoggedRequest::ToolResult& result) {
  each_member(in, [&](const std::string& key) {
    if (key == "text") return take_text(in, result.text);
    if (key == "round") return take_count(in, result.round);
    if (key == "duration_ms") return take_count(in, result.duration_ms);
    if (key == "bytes") return take_count(in, result.bytes);
    if (key != "is_error" || in.peek() != Kind::boolean) return false;
    result.is_error = in.boolean();
    return true;
  });
}

void read_calls(Reader& in, LoggedRequest& request) {
  if (in.peek() != Kind::array) return in.skip();
  while (in.next_element()) {
    LoggedRequest::ToolResult result;
    bool ran = false;
    each_member(in, [&](const std::string& key) {
      if (key == "id") return take_text(in, result.id);
      if (key == "name") return take_text(in, result.name);
      if (key != "result" || in.peek() != Kind::object) return false;
      ran = true;
      read_result(in, result);
      return true;
    });
    if (ran) request.results.push_back(std::move(result));
  }
}

bool take_json(Reader& in, std::string& to) {
  if (in.peek() == Kind::null) return false;
  to = in.raw();
  return true;
}

bool read_member(Reader& in, const std::string& key, LoggedRequest& request) {
  const std::pair<std::string_view, std::string*> texts[] = {
      {"id", &request.id},
      {"received_at", &request.received_at},
      {"state", &request.state},
      {"model", &request.model},
      {"upstream", &request.upstream},
      {"dialect", &request.dialect},
      {"key", &request.key},
      {"session", &request.session},
      {"trace_id", &request.trace_id},
      {"protocol", &request.protocol},
      {"finish_reason", &request.finish_reason},
      {"cut", &request.cut},
      {"repair_names", &request.repair_names},
      {"missed_call", &request.missed_call}};
  for (const auto& [name, to] : texts) {
    if (name == key) return take_text(in, *to);
  }
  const std::pair<std::string_view, std::optional<std::int64_t>*> counts[] = {
      {"status", &request.status},
      {"first_token_ms", &request.first_token_ms},
      {"total_ms", &request.total_ms}};
  for (const auto& [name, to] : counts) {
    if (name == key) return take_count(in, *to);
  }
  const std::pair<std::string_view, std::int64_t*> numbers[] = {{"tool_calls", &request.calls},
                                                                {"attempts", &request.attempts},
                                                                {"repairs", &request.repairs}};
  for (const auto& [name, to] : numbers) {
    if (name != key || in.peek() != Kind::number) continue;
    *to = in.integer().value_or(0);
    return true;
  }
  if (key == "resolved" && in.peek() == Kind::object) {
    for (std::string_view name; in.next_member(name);) {
      const bool is_time = name == "at";
      const bool is_text = (is_time || name == "note") && in.peek() == Kind::string;
      if (!is_text) {
        in.skip();
      } else {
        (is_time ? request.resolved_at : request.resolution) = in.string();
      }
    }
    return true;
  }
  if (key == "stream" && in.peek() == Kind::boolean) {
    request.stream = in.boolean();
    return true;
  }
  if (key == "received") return take_json(in, request.received);
  if (key == "response") return take_json(in, request.response);
  if (key == "usage") return read_usage(in, request), true;
  if (key == "error") return read_error(in, request), true;
  if (key == "events") return read_events(in, request), true;
  if (key == "calls") return read_calls(in, request), true;
  return false;
}

}  // namespace

LoggedRequest read_logged_request(std::string_view json) {
  LoggedRequest request;
  Reader in(json);
  each_member(in, [&](const std::string& key) { return read_member(in, key, request); });
  return request;
}

}  // namespace callgate::cli
