// One request of the log, read back from the JSON of the admin API.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace callgate::cli {

struct LoggedRequest {
  std::string id, received_at, state, model, upstream, dialect, key, session, trace_id, protocol;
  bool stream = false;
  std::optional<std::int64_t> status;
  std::string finish_reason, error_code, error_message, cut, repair_names, missed_call;
  std::string resolved_at, resolution;  // empty: not marked
  std::int64_t calls = 0;
  std::optional<std::int64_t> prompt_tokens, completion_tokens;
  std::int64_t attempts = 0, repairs = 0;
  std::optional<std::int64_t> first_token_ms, total_ms;
  std::string received, response;  // JSON, empty: not kept

  struct Event {
    std::string type, text, id, name, arguments, outcome;
    std::int64_t choice = 0, bytes = 0, round = 0, duration_ms = 0;
    bool is_error = false;
  };
  std::vector<Event> events;

  // What a tool that the gateway ran gave back.
  struct ToolResult {
    std::string id, name, text;
    std::optional<std::int64_t> round, duration_ms, bytes;
    bool is_error = false;
  };
  std::vector<ToolResult> results;
};

// What is missing or of another kind stays empty.
LoggedRequest read_logged_request(std::string_view json);

}  // namespace callgate::cli
