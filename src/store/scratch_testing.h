// A folder of its own for one test, gone with it.
#pragma once

#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "base/check.h"
#include "store/request_log.h"

namespace callgate::store {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "callgate_store_XXXXXX").string();
    CALLGATE_CHECK(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string database() const { return path_ + "/log.db"; }
  std::string url() const { return "sqlite:" + database(); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline constexpr std::chrono::milliseconds kLong{20'000};

// Waits for something that another thread or process will surely do.
template <class Condition>
bool eventually(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + kLong;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

inline RequestRecord sample_record(std::string id, std::int64_t received_at = 1'760'000'000'000) {
  return {.id = std::move(id),
          .received_at = received_at,
          .key_name = "dev",
          .protocol = "openai_chat",
          .model = "kimi-k2.5",
          .upstream = "moonshot",
          .dialect = "kimi_k2",
          .client_address = "192.0.2.7",
          .stream = true};
}

inline RequestOutcome sample_outcome(std::string id) {
  return {.id = std::move(id),
          .key_name = "dev",
          .state = RequestState::completed,
          .http_status = 200,
          .finish_reason = FinishReason::tool_calls,
          .calls = 2,
          .usage = Usage{.prompt_tokens = 100, .completion_tokens = 20, .total_tokens = 120},
          .bytes_in = 1024,
          .bytes_out = 4096,
          .frames = 30,
          .repairs = 1,
          .attempts = 1,
          .first_byte_ms = 3,
          .first_token_ms = 4,
          .total_ms = 250,
          .repair_names = "id_missing",
          .missed_call = "hermes"};
}

// Every field has a value, and no two have the same.
inline RequestRecord full_record(std::string id) {
  return {.id = std::move(id),
          .received_at = 1'760'000'000'001,
          .key_name = "key",
          .protocol = "protocol",
          .model = "model",
          .upstream = "upstream",
          .dialect = "dialect",
          .client_address = "address",
          .session = "session",
          .trace_id = "trace",
          .stream = true,
          .received = "received"};
}

inline RequestOutcome full_outcome(std::string id) {
  return {.id = std::move(id),
          .key_name = "key",
          .state = RequestState::failed,
          .http_status = 502,
          .finish_reason = FinishReason::content_filter,
          .error_code = "code",
          .error_message = "message",
          .upstream = "better upstream",
          .dialect = "better dialect",
          .calls = 11,
          .usage = Usage{.prompt_tokens = 21,
                         .completion_tokens = 22,
                         .total_tokens = 23,
                         .cached_tokens = 24,
                         .cache_write_tokens = 25,
                         .reasoning_tokens = 26},
          .bytes_in = 31,
          .bytes_out = 32,
          .frames = 33,
          .repairs = 34,
          .attempts = 35,
          .first_byte_ms = 41,
          .first_token_ms = 42,
          .total_ms = 43,
          .session = "better session",
          .cut = "cut",
          .repair_names = "repairs",
          .missed_call = "missed",
          .cost = 77,
          .call_rows = {{.id = "call 1", .name = "name 1", .outcome = CallOutcome::truncated},
                        {.id = "call 2",
                         .name = "name 2",
                         .outcome = CallOutcome::malformed,
                         .result = CallResult{.round = 51,
                                              .is_error = true,
                                              .duration_ms = 52,
                                              .bytes = 53,
                                              .text = "result"}}},
          .sent = "sent",
          .response = "response",
          .events = "events",
          .search = "search"};
}

}  // namespace callgate::store
