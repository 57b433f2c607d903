// Webhook: a server of the owner's that is asked about a call before or after its tool runs.
//   POST {"type":"before_tool_call","tool":"lookup","call_id":"call_1","arguments":{"id":"7"},
//         "context":{"request":"req_7","key":"alice","model":"m1","session":"s9"}}
//   200  {"action":"allow","arguments":{"id":"8"}}
// After the tool the question has `type` after_tool_call, plus `result` and `is_error`. Actions are `allow`, `deny` with
// a `reason`, and `replace` with a `result` and perhaps `is_error`. A status of 204 allows.
// About prompts and answers it is asked in the same way: docs/tools.md has the questions.
// Of other moments it is only notified: its answer does not count, as long as the status is 2xx.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "callgate/result.h"
#include "net/client.h"
#include "net/loop.h"
#include "net/task.h"
#include "tool/cancel.h"
#include "tool/config.h"
#include "tool/hook_verdict.h"
#include "tool/tool.h"
#include "tool/url_template.h"

namespace callgate::tool {

// An event that hooks are notified of.
struct HookEvent {
  HookMoment moment = HookMoment::loop_start;
  std::string tool;  // approval: whose call waits; else empty
  std::string key;   // the name of the caller's key
  std::string json;  // what is sent
};

// A prompt or a piece of an answer that hooks judge.
struct WordQuestion {
  HookMoment moment = HookMoment::prompt;
  ToolContext context;
  std::string messages;      // prompt: a JSON array of Chat Completions messages
  std::string text;          // answer: a sentence, or all of an answer that does not stream
  std::string_view channel;  // answer: static text, `text`, `reasoning` or `refusal`
  std::uint32_t choice = 0;  // answer
  std::uint32_t index = 0;   // answer: which piece it is, from 0
};

// Whether a hook of this configuration is asked about prompts or answers of that key and model.
bool judges_words(const HookConfig& hook, HookMoment moment, std::string_view key,
                  std::string_view model);

// Loop thread only.
class Webhook {
 public:
  // Fails when the configuration makes no sense.
  static Result<std::unique_ptr<Webhook>> make(net::Loop& loop, const HookConfig& config);

  const HookConfig& config() const { return config_; }
  bool is_asked(HookMoment moment, const ToolCall& call) const;
  bool is_told(const HookEvent& event) const;

  // `result` is given after the tool. Fails when the hook cannot be reached, is late, or answers nonsense.
  // REQUIRES: everything given outlives the wait; `call.arguments` is a JSON object.
  net::Task<Result<HookVerdict>> ask(const ToolCall& call, const ToolResult* result,
                                     net::Millis timeout, CancelToken& cancel);
  bool judges(const WordQuestion& question) const;
  // REQUIRES: the question outlives the wait.
  net::Task<Result<WordVerdict>> judge(const WordQuestion& question, CancelToken& cancel);
  // Fails when the hook cannot be reached, is late, or answers with another status than 2xx.
  // REQUIRES: `json` outlives the wait.
  net::Task<Result<void>> tell(std::string_view json);

 private:
  net::ClientRequest post(std::string_view body) const;
  // Its answer; empty: it allows.
  net::Task<Result<std::string>> question(std::string_view body, net::Millis timeout,
                                          CancelToken& cancel);
  Webhook(HookConfig config, UrlTemplate::Place place, std::unique_ptr<net::HttpClient> client);

  const HookConfig config_;
  const UrlTemplate::Place place_;
  std::unique_ptr<net::HttpClient> client_;
};

}  // namespace callgate::tool
